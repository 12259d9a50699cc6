#!/usr/bin/env python3
"""Which queues of this kernel keep pages of a MSG_ZEROCOPY sender? As root, of the running kernel.

    held.py [nfqueue | nfqueue-csum | multicast | packet ...]

A datagram goes over a veth to another namespace, where a queue takes it that nobody reads: NFQUEUE
before local delivery, as its reader takes packets (without a checksum, or with one), the socket of
a multicast router (IGMPMSG_WHOLEPKT), or a packet socket, of an EtherType that no protocol takes.
It is held if no completion comes before the queue is read. NFQUEUE takes iptables, `packet` BPF.
"""

import ctypes
import os
import select
import socket as s
import struct
import subprocess
import sys

SO_ZEROCOPY, MSG_ZEROCOPY, CODE_COPIED, QUIET_S = 60, 1 << 26, 1, 2
CLONE_NEWNS, CLONE_NEWNET, NETLINK_NETFILTER = 1 << 17, 1 << 30, 12
SENDER, HERE, GROUP, ALL, OTHER_TYPE = "10.0.1.2", "10.0.1.1", "239.1.2.3", 3, b"\x88\xb5"
PROGRAM = "/sys/fs/bpf/other"
QUEUE = "iptables -I INPUT -i f -p udp -j NFQUEUE --queue-num 0"
libc = ctypes.CDLL(None, use_errno=True)


def new():
    libc.unshare(CLONE_NEWNET) and sys.exit("no namespace: be root")
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def enter(namespace, setup="true"):
    libc.setns(namespace, CLONE_NEWNET)
    subprocess.run(["sh", "-ec", setup], check=True, stdout=subprocess.DEVNULL)


def nfqueue(gets, sends, without_csum=True):
    """NFQNL_MSG_CONFIG: bind, copy packets, NFQA_CFG_F_GSO."""
    enter(gets, QUEUE)
    link = s.socket(s.AF_NETLINK, s.SOCK_RAW, NETLINK_NETFILTER)
    flags = [(4, struct.pack(">I", 4)), (5, struct.pack(">I", 4))] if without_csum else []
    for words in [(1, bytes((1, 0, 0, 2)))], [(2, b"\0\0\xff\xff\2"), *flags]:
        body = bytes(4)
        for kind, word in words:
            body += struct.pack("HH", 4 + len(word), kind) + word + bytes(-len(word) % 4)
        link.send(struct.pack("IHHII", 16 + len(body), 3 << 8 | 2, 5, 1, 0) + body)
        assert not struct.unpack_from("i", link.recv(4096), 16)[0], "no NFQUEUE"
    return link, HERE, link.close


def multicast(gets, sends):
    """MRT_INIT, MRT_ADD_VIF of the veth and of a register, MRT_ADD_MFC from one to the other."""
    enter(gets, "echo 1 >/proc/sys/net/ipv4/ip_forward")
    router = s.socket(s.AF_INET, s.SOCK_RAW, s.IPPROTO_IGMP)
    router.setsockopt(s.IPPROTO_IP, 200, 1)
    for number, flags in (0, 0), (1, 4):
        vif = struct.pack("HBBI4s4x", number, flags, 1, 0, s.inet_aton(HERE))
        router.setsockopt(s.IPPROTO_IP, 202, vif)
    to = bytes((255, 1)) + bytes([255] * 30)
    addresses = s.inet_aton(SENDER) + s.inet_aton(GROUP)
    router.setsockopt(s.IPPROTO_IP, 204, struct.pack("8sH32s18x", addresses, 0, to))
    return router, GROUP, lambda: router.recv(1 << 16)


def packet(gets, sends):
    """A program on the sender's device writes another EtherType."""
    enter(gets)
    listens = s.socket(s.AF_PACKET, s.SOCK_RAW, s.htons(ALL))
    text = ctypes.create_string_buffer(b"".join(BYTES))
    words = ctypes.addressof(text), ctypes.addressof(licence := ctypes.create_string_buffer(b"GPL"))
    program = bpf(5, struct.pack("IIQQ", 3, len(BYTES), *words))  # BPF_PROG_LOAD, of SCHED_CLS
    path = ctypes.create_string_buffer(PROGRAM.encode())
    bpf(6, struct.pack("QI", ctypes.addressof(path), program))  # BPF_OBJ_PIN
    del licence
    enter(sends, f"tc qdisc add dev e clsact; tc filter add dev e egress bpf da pinned {PROGRAM}")
    os.unlink(PROGRAM)
    return listens, HERE, lambda: listens.recv(1 << 16)


def insn(code, to=0, source=0, offset=0, value=0):
    return struct.pack("BBhi", code, to | source << 4, offset, value)


BYTES = [
    insn(0x6A, 10, 0, -2, int.from_bytes(OTHER_TYPE, "little")),  # *(u16 *)(r10 - 2)
    insn(0xB7, 2, value=12),
    insn(0xBF, 3, 10),
    insn(0x07, 3, value=-2),
    insn(0xB7, 4, value=2),
    insn(0xB7, 5),
    insn(0x85, value=9),  # bpf_skb_store_bytes(skb, 12, r10 - 2, 2, 0)
    insn(0xB7, 0),
    insn(0x95),
]


def bpf(command, words):
    done = libc.syscall(321, command, words + bytes(128 - len(words)), 128)
    return done if done >= 0 else sys.exit(f"no BPF: {os.strerror(ctypes.get_errno())}")


def completion(sender):
    if not select.select([sender], [], [], QUIET_S)[0]:  # nobody writes to it: its error queue
        return "none"
    code = sender.recvmsg(0, 256, s.MSG_ERRQUEUE)[1][0][2][6]
    return "copied" if code == CODE_COPIED else "not copied"


WAYS = {
    "nfqueue": nfqueue,
    "nfqueue-csum": lambda *both: nfqueue(*both, without_csum=False),
    "multicast": multicast,
    "packet": packet,
}
libc.unshare(CLONE_NEWNS)
for name in sys.argv[1:] or WAYS:
    sends, gets = new(), new()
    mounts = "mount --make-rprivate / && mount -t sysfs sysfs /sys && mount -t bpf bpf /sys/fs/bpf"
    link = f"ip link add e up type veth peer name f netns /proc/{os.getpid()}/fd/{gets}"
    neighbour = f"ip neigh add {HERE} lladdr 02:00:00:00:00:01 dev e"
    quiet = "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"
    enter(gets, quiet)
    enter(sends, f"{quiet}; {mounts}; {link}; ip address add {SENDER}/24 dev e; {neighbour}")
    enter(sends, "ip route add 239.0.0.0/8 dev e")
    enter(gets, "ip link set f address 02:00:00:00:00:01 up")
    enter(gets, f"ip address add {HERE}/24 dev f")
    queue, to, read = WAYS[name](gets, sends)
    enter(sends)
    sender = s.socket(type=s.SOCK_DGRAM)
    sender.setsockopt(s.SOL_SOCKET, SO_ZEROCOPY, 1)
    sender.setsockopt(s.IPPROTO_IP, s.IP_MULTICAST_TTL, 8)
    sender.setsockopt(s.IPPROTO_IP, s.IP_MULTICAST_LOOP, 0)
    sender.sendto(bytes(1000), MSG_ZEROCOPY, (to, 7000))
    select.select([queue], [], [], QUIET_S)[0] or sys.exit(f"{name}: no packet in the queue")
    before = completion(sender)
    read()
    after = completion(sender) if before == "none" else "-"
    print(f"{name}: completion {before}, after the queue is read {after}")

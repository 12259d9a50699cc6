#!/usr/bin/env python3
"""Do pages of a MSG_ZEROCOPY sender wait in a raw socket that nobody reads? Root; PASS or FAIL.

TCP through a namespace that forwards, where a raw socket takes what has a router alert. Sent again
without that option, it arrives and is acknowledged: then nothing else keeps the sender's pages.
"""

import ctypes
import os
import select
import socket as s
import subprocess
import sys

SO_ZEROCOPY, MSG_ZEROCOPY, CLONE_NEWNET, CODE_COPIED = 60, 1 << 26, 1 << 30, 1
# 5 and 22 are IP_ROUTER_ALERT and IPV6_ROUTER_ALERT, and what they are set to; then the option.
V4 = "10.0.2.2", s.AF_INET, s.IPPROTO_TCP, s.IPPROTO_IP, 5, 1, s.IP_OPTIONS, "94040000"
V6 = "fd00:2::2", s.AF_INET6, s.IPPROTO_RAW, 41, 22, 0, s.IPV6_HOPOPTS, "0000050200000100"


def new():
    ctypes.CDLL(None).unshare(CLONE_NEWNET) and sys.exit("can't tell: no namespace: be root")
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def enter(namespace, setup="true"):
    ctypes.CDLL(None).setns(namespace, CLONE_NEWNET)
    subprocess.run(["sh", "-ec", setup], check=True)


router, sends, receives = new(), new(), new()
enter(router, "cd /proc/sys/net; echo 1 >ipv4/ip_forward; echo 1 >ipv6/conf/all/forwarding")
for n, end in ((1, sends), (2, receives)):
    link = f"ip link add r{n} up type veth peer name e netns /proc/{os.getpid()}/fd/{end}"
    v4, v6 = f"ip address add 10.0.{n}", f"ip address add fd00:{n}:"
    enter(router, f"{link}; {v4}.1/24 dev r{n}; {v6}:1/64 dev r{n} nodad")
    enter(end, f"ip link set e up; {v4}.2/24 dev e; {v6}:2/64 dev e nodad")
    enter(end, f"ip route add default via 10.0.{n}.1; ip route add default via fd00:{n}::1")
kept = []
for to, family, protocol, level, taking, value, option, alert in (V4, V6):
    enter(router)
    raw = s.socket(family, s.SOCK_RAW, protocol)
    raw.setsockopt(level, taking, value)
    enter(receives)
    server = s.create_server((to, 7000), family=family)
    enter(sends)
    client = s.create_connection((to, 7000))
    client.setsockopt(s.SOL_SOCKET, SO_ZEROCOPY, 1)
    client.setsockopt(level, option, bytes.fromhex(alert))
    client.send(bytes(1000), MSG_ZEROCOPY)
    select.select([raw], [], [], 5)[0] or sys.exit("can't tell: no packet in the raw socket")
    client.setsockopt(level, option, b"")
    (taken := server.accept()[0]).recv(1000)
    seen = select.select([client], [], [], 1)[0]  # nobody writes to it: its error queue
    copied = seen and client.recvmsg(0, 256, s.MSG_ERRQUEUE)[1][0][2][6] == CODE_COPIED
    print(f"to {to}: {'copied' if copied else 'no completion that says copied'}")
    kept += [] if copied else [to]
print(f"FAIL: pages sent to {' and '.join(kept)} wait for a reader" if kept else "PASS")
sys.exit(bool(kept))

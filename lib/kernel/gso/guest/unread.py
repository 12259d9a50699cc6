"""A sender whose neighbour's tap or raw socket is not read: what it is told, and what stays.

The sender has a namespace of its own, `near`, and in it a macvlan or an ipvlan, or an end of a
veth; the receiver stays outside. A tun is a port of a bridge, and so is the veth's other end. A
macvtap can be on that end, or on the bridge. To a raw socket with IP_ROUTER_ALERT the packets come
while they are forwarded from the veth to a dummy.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import socket
import struct
import time
from pathlib import Path

import told
from traffic import ADDRESS, OTHER, sh

NEAR, LOWER, CANARY = "near", "lower", "canary"
MAC, SENDERS = "02:00:00:00:00:02", "02:00:00:00:00:01"
USER = 1000
PAGE = mmap.PAGESIZE
TUNSETIFF, TUNSETOFFLOAD, TUN_F_CSUM = 0x400454CA, 0x400454D0, 1
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x2, 0x1000, 0x4000
SO_SNDBUFFORCE, SO_RCVBUFFORCE, IP_ROUTER_ALERT = 32, 33, 5
ROUTER_ALERT = bytes((0x94, 4, 0, 0))
"""RFC 2113."""
ROOM = 8 << 20
"""Of the raw socket's queue [bytes]: more than all sends take."""
VNET_HEADER, IPV4 = 10, b"\x08\x00"
KPF_MMAP, KPF_ANON = 1 << 11, 1 << 12
QUIET_S = 2.0
"""A sender is told by then, and a namespace is gone; both take some ms."""
PAGES_AN_ACCOUNT = 2
"""Of a send within a page: what mm_account_pinned_pages() takes for it."""


def run(params):
    """Yield what became of each of `params["runs"]`.

    A run has `receiver` (see `Unread` of the parameters), `csum`, `sends`, `length`, `zerocopy` and
    `sndbuf`.
    """
    # Its router solicitations would lie in the ring too.
    quiet = (
        "sysctl",
        "-q",
        "-w",
        *(f"net.ipv6.conf.{d}.disable_ipv6=1" for d in ("all", "default")),
    )
    sh(*quiet, check=False)
    for number, wanted in enumerate(params["runs"]):
        sh("ip", "netns", "add", NEAR)
        sh("ip", "netns", "exec", NEAR, *quiet, check=False)
        tap, device, mac = up(wanted["receiver"])
        if wanted["receiver"] != "raw":
            fcntl.ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM if wanted["csum"] else 0)
        sh("ip", "-n", NEAR, "link", "set", "lo", "up")
        sh("ip", "-n", NEAR, "addr", "add", f"{ADDRESS}/24", "dev", device)
        sh("ip", "-n", NEAR, "link", "set", device, "up")
        sh(
            "ip", "-n", NEAR, "neigh", "replace", OTHER, "lladdr", mac, "dev", device,
            "nud", "permanent",
        )  # fmt: skip
        time.sleep(0.5)
        yield {"run": number, **one(wanted, tap)}
        os.close(tap)
        for name in ("tap0", LOWER, "br0", CANARY):
            sh("ip", "link", "del", name, check=False)


def up(receiver):
    """Lay the link; the tap's file, the sender's device, and where its packets are sent to."""
    peer = ("type", "veth", "peer", "name", "inside", "netns", NEAR)
    sh("ip", "link", "add", CANARY, *peer)
    if receiver == "raw":
        return router(), "inside", Path(f"/sys/class/net/{CANARY}/address").read_text().strip()
    if receiver == "tun":
        tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        wanted = struct.pack("16sH22x", b"tap0", IFF_TAP | IFF_NO_PI | IFF_VNET_HDR)
        fcntl.ioctl(tap, TUNSETIFF, wanted)
        sh("ip", "link", "add", "br0", "type", "bridge")
        for port in ("tap0", CANARY):
            sh("ip", "link", "set", port, "master", "br0")
            sh("ip", "link", "set", port, "up")
        sh("ip", "link", "set", "br0", "up")
        sh("bridge", "fdb", "replace", MAC, "dev", "tap0", "master", "static")
        return tap, "inside", MAC
    tap, _, on = receiver.partition("-on-")
    kind, mode = ("macvlan", "bridge") if tap == "macvtap" else ("ipvlan", "l2")
    lower = {"": LOWER, "veth": CANARY, "bridge": "br0"}[on]
    if on == "bridge":
        sh("ip", "link", "add", "br0", "type", "bridge")
        sh("ip", "link", "set", CANARY, "master", "br0")
    if on:
        sh("ip", "link", "set", CANARY, "up")
    else:
        sh("ip", "link", "add", LOWER, "type", "dummy")
    sh("ip", "link", "set", lower, "up")
    sh("ip", "link", "add", "there", "link", lower, "type", tap, "mode", mode)
    if not on:
        sh("ip", "link", "add", "here", "link", LOWER, "netns", NEAR, "type", kind, "mode", mode)
    if tap == "macvtap":
        sh("ip", "link", "set", "there", "address", MAC)
    if tap == "macvtap" and not on:
        sh("ip", "-n", NEAR, "link", "set", "here", "address", SENDERS)
    if tap == "ipvtap":
        # An ipvlan knows its devices by their addresses.
        sh("ip", "addr", "add", f"{OTHER}/24", "dev", "there")
    sh("ip", "link", "set", "there", "up")
    folder = next(Path(f"/sys/class/net/there/{tap}").iterdir())
    major, minor = map(int, (folder / "dev").read_text().split(":"))
    node = "/dev/unread"
    Path(node).unlink(missing_ok=True)
    os.mknod(node, 0o020600, os.makedev(major, minor))
    mac = Path("/sys/class/net/there/address").read_text().strip()
    return os.open(node, os.O_RDWR | os.O_NONBLOCK), "inside" if on else "here", mac


def router():
    """Forward what comes from the sender, past a raw socket that wants router alerts: its file."""
    sh("ip", "link", "add", LOWER, "type", "dummy")
    for device in (CANARY, LOWER):
        sh("ip", "link", "set", device, "up")
    sh("ip", "route", "add", OTHER, "dev", LOWER)
    sh("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
    alerted = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    alerted.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    alerted.setsockopt(socket.IPPROTO_IP, IP_ROUTER_ALERT, 1)
    alerted.setblocking(False)
    return alerted.detach()


def one(wanted, tap):
    """One run: totals of the sender, and what it leaves behind."""
    found, frames = apart(wanted, send)
    found["refused"], _ = apart(wanted, send_once)
    sh("ip", "netns", "del", NEAR)
    found["left"] = namespaces()
    found["pinned"] = pinned(frames)
    found["read"] = drained(tap, wanted["receiver"] == "raw")
    found["left_read"] = namespaces()
    found["pinned_read"] = pinned(frames)
    return found


def apart(wanted, program):
    """What a program says that runs in the sender's namespace, as a user; frames of its buffer."""
    listen, say = os.pipe()
    wait, go = os.pipe()
    child = os.fork()
    if not child:
        os.close(listen)
        os.close(go)
        status = 1
        try:
            sandboxed(wanted)
            for said in program(wanted):
                os.write(say, json.dumps(said).encode() + b"\n")
                os.read(wait, 1)
            status = 0
        finally:
            os._exit(status)
    os.close(say)
    os.close(wait)
    with open(listen) as lines, open(go, "wb", buffering=0) as turn:
        address = json.loads(lines.readline())
        frames = page_frames(child, address, wanted["sends"]) if address else []
        turn.write(b"g")
        said = json.loads(lines.readline())
        turn.write(b"g")
        # It closed its socket and is gone; a close() that waits would keep it here.
        _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"the sender ended with status {status}")
    return said, frames


def sandboxed(wanted):
    """Into the sender's namespace, as a user who may have as many pages as the sends take."""
    with open(f"/run/netns/{NEAR}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")
    limit = PAGES_AN_ACCOUNT * PAGE * wanted["sends"]
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))


def opened(wanted):
    """A socket that does not wait; its user from then on is an ordinary one."""
    sender = socket.socket(type=socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, wanted["sndbuf"] // 2)
    if wanted["zerocopy"]:
        sender.setsockopt(socket.SOL_SOCKET, told.SO_ZEROCOPY, 1)
    if wanted["receiver"] == "raw":
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, ROUTER_ALERT)
    os.setresuid(USER, USER, USER)
    return sender


def send(wanted):
    """Send all; what the socket took, and what it says within a time."""
    buffer = mmap.mmap(-1, wanted["sends"] * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    buffer.madvise(mmap.MADV_NOHUGEPAGE)
    for page in range(wanted["sends"]):
        buffer[page * PAGE : (page + 1) * PAGE] = bytes([1 + page % 255]) * PAGE
    yield ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    taken = 0
    with opened(wanted) as sender:
        flags = socket.MSG_DONTWAIT | (told.MSG_ZEROCOPY if wanted["zerocopy"] else 0)
        for page in range(wanted["sends"]):
            payload = memoryview(buffer)[page * PAGE :][: wanted["length"]]
            try:
                sender.sendto(payload, flags, (OTHER, 9))
            except OSError as error:
                # No room in the send buffer, or none for another notification.
                if error.errno not in (errno.EAGAIN, errno.ENOBUFS):
                    raise
                break
            taken += 1
        time.sleep(QUIET_S)
        said = told.heard(sender) if wanted["zerocopy"] else []
    sends = [copied for low, high, copied in said for _ in range(low, high + 1)]
    yield {"taken": taken, "told": len(sends), "copied": sum(sends)}


def send_once(wanted):
    """One zero-copy send of the same user to its own host: whether the user may have no page."""
    yield 0
    with opened({**wanted, "zerocopy": True}) as sender:
        refused = 0
        try:
            sender.sendto(bytes(wanted["length"]), told.MSG_ZEROCOPY, ("127.0.0.1", 9))
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            refused = 1
    yield refused


def page_frames(process, address, pages):
    with open(f"/proc/{process}/pagemap", "rb") as file:
        file.seek(address // PAGE * 8)
        entries = struct.unpack(f"{pages}Q", file.read(8 * pages))
    # Documentation/admin-guide/mm/pagemap.rst: bits 0 to 54, if it is present.
    return [entry & ((1 << 55) - 1) for entry in entries if entry >> 63]


def pinned(frames):
    """Those of the frames that are still a process's memory, and in no process."""
    # Else pages wait for their list in a batch of each CPU, which holds a reference.
    Path("/proc/sys/vm/drop_caches").write_text("1")
    held = 0
    with open("/proc/kpageflags", "rb") as file:
        for frame in frames:
            file.seek(frame * 8)
            [flags] = struct.unpack("Q", file.read(8))
            held += bool(flags & KPF_ANON) and not flags & KPF_MMAP
    return held


def namespaces():
    """1 if the sender's namespace is still there, for the other end of its veth is."""
    until = time.monotonic() + QUIET_S
    while (there := Path(f"/sys/class/net/{CANARY}").exists()) and time.monotonic() < until:
        time.sleep(0.1)
    return int(there)


def drained(tap, raw):
    """The sender's packets in the ring or queue, all of which is read; a bridge's own left out."""
    packets = 0
    while True:
        try:
            frame = os.read(tap, 1 << 16)
        except BlockingIOError:
            return packets
        if raw:
            packets += frame[9] == socket.IPPROTO_UDP
            continue
        ethernet = frame[VNET_HEADER:]
        packets += ethernet[12:14] == IPV4 and ethernet[23] == socket.IPPROTO_UDP

#!/usr/bin/env python3
"""Do pages of a MSG_ZEROCOPY sender wait in a macvtap that nobody reads? Root; says PASS or FAIL.

16 datagrams, which a default send buffer takes, go from a macvlan to a macvtap on the same device,
open and not read yet; msg_zerocopy.rst wants a copy for tun. Takes iproute2, dummy, both drivers.
"""

import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys

SO_ZEROCOPY, MSG_ZEROCOPY, CLONE_NEWNET, CLONE_NEWNS = 60, 1 << 26, 1 << 30, 1 << 17
CODE_COPIED, TUNSETIFF, TUNSETOFFLOAD, TUN_F_CSUM, FLAGS = 1, 0x400454CA, 0x400454D0, 1, 0x5002
MAC, NODE, SENDS, DATA = "02:00:00:00:00:02", "/tmp/macvtap", 16, bytes([7]) * 1000
SETUP = f"""
mount --make-rprivate / && mount -t sysfs sysfs /sys && mount -t tmpfs -o dev tmpfs /tmp
ip link add dummy0 up type dummy
ip link add link dummy0 name sends up type macvlan mode bridge
ip link add link dummy0 name tap address {MAC} up type macvtap mode bridge
ip address add 198.51.100.1/24 dev sends
ip neighbour add 198.51.100.2 lladdr {MAC} dev sends
mknod {NODE} c $(cat /sys/class/net/tap/tap*/dev | tr : ' ')
"""
ctypes.CDLL(None).unshare(CLONE_NEWNET | CLONE_NEWNS) and sys.exit("can't tell: be root")
subprocess.run(["sh", "-ec", SETUP], check=True)
tap = os.open(NODE, os.O_RDWR)
# As QEMU has it for vhost: a header, and checksums that the guest computes.
fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"", FLAGS))
fcntl.ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM)

sender = socket.socket(type=socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
for _ in range(SENDS):
    sender.sendto(DATA, MSG_ZEROCOPY, ("198.51.100.2", 7000))


def told():
    codes = []
    while select.select([sender], [], [], 0.5)[0]:  # nobody writes to it: its error queue
        control = sender.recvmsg(0, 256, socket.MSG_ERRQUEUE)[1]
        code, low, high = struct.unpack_from("6xBxII", control[0][2])
        codes += [code] * (high - low + 1)
    return codes


before, queued = told(), 0
while select.select([tap], [], [], 0)[0]:
    queued += os.read(tap, 4096).endswith(DATA)
print(f"{queued} of {SENDS} packets lay in the tap's queue, and {len(before)} were completed then,")
print(f"{before.count(CODE_COPIED)} as copied; {len(told())} more were when the tap was read")
queued < SENDS and sys.exit("can't tell: not every packet came to the tap's queue")
passed = before == [CODE_COPIED] * SENDS
print("PASS: copied and told" if passed else "FAIL: unread, not every send is copied and told")
sys.exit(not passed)

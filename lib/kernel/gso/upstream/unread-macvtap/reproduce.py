#!/usr/bin/env python3
"""Do pages of a MSG_ZEROCOPY sender wait in a macvtap that nobody reads? Root; says PASS or FAIL.

16 datagrams, which a default send buffer takes, go from a macvlan to a macvtap on the same device,
open and unread; msg_zerocopy.rst promises a copy for tun. Needs iproute2, dummy, macvlan, macvtap.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import time

SO_ZEROCOPY, MSG_ZEROCOPY, CLONE_NEWNET, CLONE_NEWNS = 60, 1 << 26, 1 << 30, 1 << 17
TUNSETIFF, TUNSETOFFLOAD, TUN_F_CSUM, FLAGS = 0x400454CA, 0x400454D0, 1, 0x5002
MAC, NODE, SENDS = "02:00:00:00:00:02", "/tmp/macvtap", 16
SETUP = f"""
mount --make-rprivate / && mount -t sysfs sysfs /sys && mount -t tmpfs -o dev tmpfs /tmp
ip link add dummy0 up type dummy
ip link add link dummy0 name sends up type macvlan mode bridge
ip link add link dummy0 name tap address {MAC} up type macvtap mode bridge
ip address add 198.51.100.1/24 dev sends
ip neighbour add 198.51.100.2 lladdr {MAC} dev sends
mknod {NODE} c $(cat /sys/class/net/tap/tap*/dev | tr : ' ')
"""
if ctypes.CDLL(None).unshare(CLONE_NEWNET | CLONE_NEWNS):
    sys.exit("cannot make namespaces: be root")
subprocess.run(["sh", "-ec", SETUP], check=True)
tap = os.open(NODE, os.O_RDWR)
# As QEMU has it for vhost: a header, and checksums that the guest computes.
fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"", FLAGS))
fcntl.ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM)

sender = socket.socket(type=socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
for _ in range(SENDS):
    sender.sendto(bytes(1000), MSG_ZEROCOPY, ("198.51.100.2", 7000))


def told():
    found = 0
    time.sleep(0.5)
    with contextlib.suppress(BlockingIOError):
        while True:
            control = sender.recvmsg(0, 256, socket.MSG_ERRQUEUE)[1]
            low, high = struct.unpack_from("II", control[0][2], 8)
            found += high - low + 1
    return found


before = told()
os.close(tap)
print(f"told of {before} of {SENDS} sends, and of {told()} more when the tap's file is closed")
print("PASS" if before == SENDS else "FAIL: the pages wait in a ring that nobody reads")
sys.exit(before != SENDS)

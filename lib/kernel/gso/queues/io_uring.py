#!/usr/bin/env python3
"""Does a macvtap that nobody reads keep a page of io_uring's zero-copy send? As root.

One datagram goes by IORING_OP_SEND_ZC from a macvlan to a macvtap beside it, whose reader takes
packets without a checksum (TUN_F_CSUM), and then with one. Takes iproute2 and both drivers.
"""

import ctypes
import fcntl
import mmap
import os
import select
import socket as s
import struct
import subprocess
import sys
import time

CLONE_NEWNS, CLONE_NEWNET, TUNSETIFF, TUNSETOFFLOAD = 1 << 17, 1 << 30, 0x400454CA, 0x400454D0
FLAGS, TUN_F_CSUM, MAC, TO = 0x5002, 1, "02:00:00:00:00:02", "198.51.100.2"
SETUP, ENTER, SQES_AT, GETEVENTS = 425, 426, 0x10000000, 1
SEND_ZC, REPORT_USAGE, NOTIF, DATA = 47, 1 << 3, 1 << 3, bytes([7]) * 1000
LINKS = f"""
mount --make-rprivate / && mount -t sysfs sysfs /sys && mount -t tmpfs -o dev tmpfs /tmp
ip link add low up type veth peer name other && ip link set other up
ip link add link low name sends up type macvlan mode bridge
ip link add link low name tap address {MAC} up type macvtap mode bridge
ip address add 198.51.100.1/24 dev sends && ip neighbour add {TO} lladdr {MAC} dev sends
mknod /tmp/tap c $(cat /sys/class/net/tap/tap*/dev | tr : ' ')
"""
libc = ctypes.CDLL(None, use_errno=True)


def call(number, *words):
    done = libc.syscall(number, *words)
    return done if done >= 0 else sys.exit(f"no io_uring: {os.strerror(ctypes.get_errno())}")


class Ring:
    """Four entries; offsets are those of struct io_uring_params."""

    def __init__(self):
        params = ctypes.create_string_buffer(120)
        self.file = call(SETUP, 4, params)
        _, self.entries = struct.unpack_from("II", params)
        self.sq, self.cq = (struct.unpack_from("7I", params, at) for at in (40, 80))
        self.ring = mmap.mmap(self.file, max(self.sq[6] + 4 * 4, self.cq[5] + 16 * self.entries))
        self.sqes = mmap.mmap(self.file, 4 * 64, offset=SQES_AT)

    def number(self, at, value=None):
        if value is not None:
            self.ring[at : at + 4] = struct.pack("I", value)
        return struct.unpack_from("I", self.ring, at)[0]

    def send(self, file, buffer):
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        words = SEND_ZC, 0, REPORT_USAGE, file, 0, address, len(DATA)
        self.sqes[:64] = struct.pack("BBHiQQI36x", *words)
        self.number(self.sq[6], 0)
        self.number(self.sq[1], 1)
        call(ENTER, self.file, 1, 1, GETEVENTS, None, 0)

    def heard(self):
        """Its notifications: whether each says that the data was copied."""
        call(ENTER, self.file, 0, 0, GETEVENTS, None, 0)
        events = range(self.number(self.cq[0]), tail := self.number(self.cq[1]))
        at = [self.cq[5] + 16 * (event % self.entries) for event in events]
        self.number(self.cq[0], tail)
        found = [struct.unpack_from("8xiI", self.ring, place) for place in at]
        return [
            "copied" if result < 0 else "not copied" for result, flags in found if flags & NOTIF
        ]


for offload in TUN_F_CSUM, 0:
    libc.unshare(CLONE_NEWNET | CLONE_NEWNS) and sys.exit("no namespace: be root")
    subprocess.run(["sh", "-ec", LINKS], check=True)
    tap = os.open("/tmp/tap", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"", FLAGS))
    fcntl.ioctl(tap, TUNSETOFFLOAD, offload)
    sender = s.socket(type=s.SOCK_DGRAM)
    sender.connect((TO, 7000))
    ring, buffer = Ring(), mmap.mmap(-1, mmap.PAGESIZE)
    buffer[: len(DATA)] = DATA
    ring.send(sender.fileno(), buffer)
    time.sleep(2)
    before, read = ring.heard(), 0
    while select.select([tap], [], [], 0.2)[0]:
        read += os.read(tap, 4096).endswith(DATA)
    time.sleep(1)
    print(f"TUN_F_CSUM={offload}: {read} packet lay in the tap; notification before it was read:")
    print(f"  {', '.join(before) or 'none'}; after: {', '.join(ring.heard()) or 'none'}")

#!/usr/bin/env python3
"""Does a MSG_ZEROCOPY notification that is extended tell of a copy? As root; says PASS or FAIL.

Eight sends of one UDP socket: each second one goes over loopback, where it is copied, the others to
a dummy device, where they are not. The error queue is read after the last. It has a network
namespace of its own, and needs iproute2 and CONFIG_DUMMY.
"""

import ctypes
import socket
import struct
import subprocess
import sys

SO_ZEROCOPY, MSG_ZEROCOPY, ORIGIN_ZEROCOPY, CODE_COPIED, CLONE_NEWNET = 60, 1 << 26, 5, 1, 1 << 30
LENT, COPIED = ("198.51.100.2", 7000), ("127.0.0.1", 7000)

if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
    sys.exit("cannot make a network namespace: be root")
for words in (
    "link set lo up",
    "link add dummy0 type dummy",
    "address add 198.51.100.1/24 dev dummy0",
    "link set dummy0 up",
):
    subprocess.run(["ip", *words.split()], check=True)

reader = socket.socket(type=socket.SOCK_DGRAM)
reader.bind(COPIED)
sender = socket.socket(type=socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
for number in range(8):
    sender.sendto(bytes(1000), MSG_ZEROCOPY, COPIED if number % 2 else LENT)
    if number % 2:
        reader.recv(2000)  # it came in, so it was copied

told = set()
while True:
    try:
        control = sender.recvmsg(0, 256, socket.MSG_ERRQUEUE)[1]
    except BlockingIOError:
        break
    _, origin, _, code, _, low, high = struct.unpack_from("IBBBBII", control[0][2])
    assert origin == ORIGIN_ZEROCOPY
    print(f"sends {low} to {high}: {'copied' if code & CODE_COPIED else 'not copied'}")
    if code & CODE_COPIED:
        told |= set(range(low, high + 1))

missed = [number for number in (1, 3, 5, 7) if number not in told]
print(f"FAIL: nobody is told that sends {missed} were copied" if missed else "PASS")
sys.exit(bool(missed))

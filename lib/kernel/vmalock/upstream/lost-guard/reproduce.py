#!/usr/bin/env python3
"""Does mprotect() beside madvise(MADV_GUARD_INSTALL) lose VM_MAYBE_GUARD? Says PASS or FAIL.

One thread maps a file and installs a guard page, in one place after another; a second one changes
the protection meanwhile. smaps has to say `gu` of each, and a child has to die of it. A range that
reaches into the next mapping takes mmap_lock, not the VMA's. x86-64. An argument: seconds for each.
"""

import ctypes
import os
import re
import sys
import threading
import time

FLAGS = r"^(\w+)-\w+ .*/memfd:file.*\n(?:[A-Z]\w+: .*\n)*?VmFlags:(.*)"
GUARD, SHARED, PRIVATE, FIXED, ANONYMOUS, PAGE, N = 102, 1, 2, 0x10, 0x20, 4096, 32
# f(place, n): n times mprotect(*place, PAGE, PROT_READ) and the same with PROT_READ | PROT_WRITE
LOOP = "4989f04989f9be00100000498b39ba01000000b80a0000000f05ba03000000b80a0000000f0549ffc875e0c3"
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, (place, size, word) = ctypes.c_void_p, (ctypes.c_void_p, *[ctypes.c_long] * 2)
libc.mmap.argtypes, libc.madvise.argtypes = [place, size, *[word] * 4], [place, size, word]
code = libc.mmap(None, PAGE, 7, PRIVATE | ANONYMOUS, -1, 0)
ctypes.memmove(code, bytes.fromhex(LOOP), len(LOOP) // 2)
protect = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_long)(code)
file = os.memfd_create("file")
os.ftruncate(file, PAGE)
area = libc.mmap(None, 2 * N * PAGE, 3, PRIVATE | ANONYMOUS, -1, 0)
place = ctypes.c_ulong(area)


def unguarded(length):  # of N guard pages
    for place.value in range(area, area + 2 * N * PAGE, 2 * PAGE):
        libc.mmap(place.value, PAGE, 3, SHARED | FIXED, file, 0)
        if libc.madvise(place.value, length, GUARD):
            sys.exit(f"MADV_GUARD_INSTALL of a file: {os.strerror(ctypes.get_errno())}")
    with open("/proc/self/smaps") as smaps:
        flags = re.findall(FLAGS, smaps.read(), re.MULTILINE)
    return [int(start, 16) for start, of in flags if " gu" not in of]


def child_reads(address):
    if not (child := os.fork()):
        os._exit(ctypes.string_at(address, 1)[0])
    return os.waitpid(child, 0)[1] == 0


if len(unguarded(PAGE)) == N:
    sys.exit("smaps does not say gu: this kernel has no VM_MAYBE_GUARD")
threading.Thread(target=protect, args=(ctypes.addressof(place), 2**40), daemon=True).start()
seconds = float((sys.argv[1:] or ["8"])[0])
for how, length in (("mmap_lock", 2 * PAGE), ("the VMA's lock", PAGE)):
    lost, number, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        lost += [child_reads(address) for address in unguarded(length)]
        number += N
    print(f"under {how}: {number} guard pages, {len(lost)} lost, children read {sum(lost)}")
print("FAIL: children read what their parent guards" if any(lost) else "PASS", flush=True)
os._exit(any(lost))  # the second thread never ends

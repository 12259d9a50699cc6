#!/usr/bin/env python3
"""Does mprotect() beside madvise(MADV_GUARD_INSTALL) lose VM_MAYBE_GUARD? Says PASS or FAIL.

A thread maps a file and installs a guard page, in one place after another; a second one changes
the protection meanwhile. smaps has to say `gu` of each: a child may read one without. A range that
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
code = libc.mmap(None, (2 + 2 * N) * PAGE, 7, PRIVATE | ANONYMOUS, -1, 0)
ctypes.memmove(code, bytes.fromhex(LOOP), len(LOOP) // 2)
protect = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_long)(code)
os.ftruncate(file := os.memfd_create("file"), PAGE)
area, place = code + 2 * PAGE, ctypes.c_ulong.from_address(code + PAGE)


def lost(length):  # of N guard pages those without gu: of each, whether a child reads it
    for place.value in range(area, area + 2 * N * PAGE, 2 * PAGE):
        libc.mmap(place.value, PAGE, 3, SHARED | FIXED, file, 0)
        if libc.madvise(place.value, length, GUARD):
            sys.exit(f"MADV_GUARD_INSTALL of a file: {os.strerror(ctypes.get_errno())}")
    with open("/proc/self/smaps") as smaps:
        flags = re.findall(FLAGS, smaps.read(), re.MULTILINE)
    if len(flags) != N:
        sys.exit(f"smaps shows {len(flags)} mappings of the file, and {N} were made")
    bare = [int(start, 16) for start, of in flags if " gu" not in of]
    children = [os.fork() or os._exit(ctypes.string_at(start, 1)[0]) for start in bare]
    return [os.waitpid(child, 0)[1] == 0 for child in children]


if len(os.sched_getaffinity(0)) < 2:
    sys.exit("can't tell on one CPU, where nothing runs beside madvise()")
if lost(PAGE):
    sys.exit("smaps does not say gu of a guard page: this kernel has no VM_MAYBE_GUARD")
threading.Thread(target=protect, args=(ctypes.addressof(place), 2**40), daemon=True).start()
read, seconds = [], float((sys.argv[1:] or ["8"])[0])
for how, length in (("mmap_lock", 2 * PAGE), ("the VMA's lock", PAGE)):
    here, number, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        here, number = here + lost(length), number + N
    read += here
    print(f"under {how}: {number} guard pages, {len(here)} lost, children read {sum(here)}")
if not read and number < 8 * N:
    sys.exit(f"can't tell: none lost, but of too few; give more than {seconds:g} seconds")
print(f"FAIL: {len(read)} lost, children read {sum(read)}" if read else "PASS: none lost")
sys.exit(bool(read))

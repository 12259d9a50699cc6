#!/usr/bin/env python3
"""Does a name that merges two mappings lose their sticky flags? Says PASS or FAIL; no race.

VM_MAYBE_GUARD: smaps has to say `gu` of a guard page's mapping, and a child that reads the page has
to die of SIGSEGV, as its parent would. VM_SOFTDIRTY: pagemap has to call a page soft-dirty that is
new since clear_refs. All of it before and after a neighbor is given the same name.
"""

import ctypes
import os
import re
import sys
from pathlib import Path

PAGE = os.sysconf("SC_PAGESIZE")
SHARED, PRIVATE, FIXED, GUARD, SET_VMA = 0x21, 0x22, 0x32, 102, 0x53564D41  # MAP_ANONYMOUS in three
libc = ctypes.CDLL(None, use_errno=True)
place, word = ctypes.c_void_p, ctypes.c_ulong
libc.mmap.restype, libc.mmap.argtypes = place, [place, word, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [place, word, ctypes.c_int]
libc.prctl.argtypes = [ctypes.c_int, word, place, word, ctypes.c_char_p]


def checked(error, what):
    return error and sys.exit(f"can't tell: {what}: {os.strerror(ctypes.get_errno())}")


def name(start, text):
    checked(libc.prctl(SET_VMA, 0, start, PAGE, text), "PR_SET_VMA (CONFIG_ANON_VMA_NAME)")


def state(pages):  # of a mapping of so many pages: gu, and a child's end; of the new page: dirty
    of = f"^{shared:08x}-{shared + pages * PAGE:08x} .*\n(?:[A-Z].*\n)*?VmFlags:(.*)"
    found = re.search(of, Path("/proc/self/smaps").read_text(), re.MULTILINE)
    flags = (found or sys.exit(f"can't tell: no mapping of {pages} pages in smaps"))[1]
    child = os.waitpid(os.fork() or os._exit(ctypes.string_at(shared, 1)[0]), 0)[1]
    entry = os.pread(os.open("/proc/self/pagemap", os.O_RDONLY), 8, private // PAGE * 8)  # bit 55
    return {"gu": " gu" in flags, "SIGSEGV": os.WTERMSIG(child) == 11, "soft-dirty": entry[6] > 127}


shared, private = (libc.mmap(None, 3 * PAGE, 3, how, -1, 0) + PAGE for how in (SHARED, PRIVATE))
for start, text in ((shared, b"x"), (private - PAGE, b"z"), (private + PAGE, b"y")):
    ctypes.memset(start, 7, PAGE)
    name(start, text)
checked(libc.madvise(shared, PAGE, GUARD), "MADV_GUARD_INSTALL")
Path("/proc/self/clear_refs").write_text("4")
name(libc.mmap(private, PAGE, 3, FIXED, -1, 0), b"x")
before = state(1)
name(shared + PAGE, b"x")
name(private + PAGE, b"x")
after = state(2)
if not (before["gu"] and before["SIGSEGV"]):
    sys.exit("can't tell: no gu, or a child that reads, before any merge")
for of, then in before.items():
    seen = f"yes before the name, {'yes' if after[of] else 'no'} after it"
    print(f"{of}: {seen if then else 'not to be told of this kernel (CONFIG_MEM_SOFT_DIRTY)'}")
lost = [of for of, then in before.items() if then and not after[of]]
print(f"FAIL: lost {', '.join(lost)}" if lost else "PASS: none lost")
sys.exit(bool(lost))

#!/usr/bin/env python3
"""Does a name that merges two mappings lose their sticky flags? Says PASS or FAIL.

VM_MAYBE_GUARD: a guard page in shared memory, whose neighbor is then given the same name. smaps has
to say `gu` as before, and a child that reads the guard page has to die, as its parent would.
VM_SOFTDIRTY, where the kernel has it: a page mapped anew since clear_refs, and the same. pagemap
has to call it soft-dirty as before. No race: one thread. Takes no root.
"""

import ctypes
import os
import re
import signal
import sys

SET_VMA, SET_NAME, GUARD, SHARED, PRIVATE, FIXED, ANONYMOUS = 0x53564D41, 0, 102, 1, 2, 0x10, 0x20
PAGE = os.sysconf("SC_PAGESIZE")
libc = ctypes.CDLL(None, use_errno=True)
place, word = ctypes.c_void_p, ctypes.c_ulong
libc.mmap.restype, libc.mmap.argtypes = place, [place, word, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [place, word, ctypes.c_int]
libc.prctl.argtypes = [ctypes.c_int, word, place, word, ctypes.c_char_p]


def checked(result, what):
    if result:
        sys.exit(f"can't tell: {what}: {os.strerror(ctypes.get_errno())}")


def name(start, word):
    named = libc.prctl(SET_VMA, SET_NAME, start, PAGE, word)
    checked(named, "PR_SET_VMA_ANON_NAME, which takes CONFIG_ANON_VMA_NAME")


def mapped(start, pages, flags):
    return libc.mmap(start, pages * PAGE, 3, flags | ANONYMOUS, -1, 0)


def guarded(start, pages):  # whether smaps says so of the mapping of that place and size
    with open("/proc/self/smaps") as smaps:
        of = f"^{start:08x}-{start + pages * PAGE:08x} .*\n(?:[A-Z].*\n)*?VmFlags:(.*)"
        found = re.search(of, smaps.read(), re.MULTILINE)
    if not found:
        sys.exit(f"can't tell: smaps shows no mapping of {pages} at {start:#x}: were two merged?")
    return " gu" in found[1]


def dirty(start):
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(start // PAGE * 8)
        return int.from_bytes(pagemap.read(8), "little") >> 55 & 1


shared = mapped(None, 2, SHARED)
ctypes.memset(shared, 7, 2 * PAGE)
name(shared, b"x")
checked(libc.madvise(shared, PAGE, GUARD), "MADV_GUARD_INSTALL")
if not guarded(shared, 1):
    sys.exit("can't tell: smaps does not say gu of a guard page: no VM_MAYBE_GUARD")
name(shared + PAGE, b"x")
child = os.fork() or os._exit(ctypes.string_at(shared, 1)[0])
ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
kept = guarded(shared, 2), ended == -signal.SIGSEGV
lost = [] if all(kept) else ["VM_MAYBE_GUARD"]
read = "dies of the guard page" if kept[1] else f"reads {ended} there"
print(f"VM_MAYBE_GUARD: smaps says {'gu' if kept[0] else 'no gu'}, a child {read}")

private = mapped(None, 3, PRIVATE) + PAGE
ctypes.memset(private - PAGE, 7, 3 * PAGE)
name(private - PAGE, b"z")
name(private + PAGE, b"y")
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("4")
name(mapped(private, 1, PRIVATE | FIXED), b"x")
before = dirty(private)
name(private + PAGE, b"x")
guarded(private, 2)  # one mapping now
after = dirty(private)
lost += ["VM_SOFTDIRTY"] if before and not after else []
said = f"pagemap says {before} of a new page, then {after}" if before else "not in this kernel"
print(f"VM_SOFTDIRTY: {said}")
print(f"FAIL: lost {' and '.join(lost)}" if lost else "PASS: none lost")
sys.exit(bool(lost))

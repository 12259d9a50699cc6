"""Maps a file and reads its pages: which faults, and which pages are mapped then."""

import ctypes
import mmap
import os
from pathlib import Path

from switches import mount

BYTES = Path("/sys/kernel/debug/fault_around_bytes")
PAGE, TABLE = 4096, 512 * 4096
PROT_NONE, MAP_FIXED = 0, 0x10
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]


def run(params):
    """Yield a row for each of `params["runs"]`: where its mapping begins, and `faults`."""
    mount()
    for one in params["runs"]:
        BYTES.write_text(str(PAGE << one["order"]))
        file = os.memfd_create("file")
        size = len(one["cached"]) * PAGE
        os.truncate(file, size)
        for page in (page for page, there in enumerate(one["cached"]) if there):
            os.pwrite(file, b"x", page * PAGE)
        anywhere = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        area = libc.mmap(None, size + 2 * TABLE, PROT_NONE, anywhere, -1, 0)
        start = -(-area // TABLE) * TABLE + one["first"] * PAGE
        if libc.mmap(start, size, mmap.PROT_READ, mmap.MAP_PRIVATE | MAP_FIXED, file, 0) != start:
            raise OSError(f"no mapping at {start:#x}")
        yield {"at": start // PAGE, "faults": list(faults(start, one))}


def faults(start, one):
    """Of each read of a page that is not mapped: its number in the address space, how many pages
    get mapped, and in how many cache lines their entries stand, eight in one."""
    before = bytes(len(one["cached"]))
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        for page in one["reads"]:
            if before[page]:
                continue
            ctypes.string_at(start + page * PAGE, 1)
            # The highest bit of eight bytes says whether a page is there.
            entries = os.pread(pagemap.fileno(), 8 * len(before), start // PAGE * 8)
            now = bytes(byte >> 7 for byte in entries[7::8])
            new = [n for n, there in enumerate(now) if there > before[n]]
            yield start // PAGE + page, len(new), len({(one["first"] + n) // 8 for n in new})
            before = now

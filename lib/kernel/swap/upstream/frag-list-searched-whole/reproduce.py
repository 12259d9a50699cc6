"""Does a swap-out that finds no room cost in proportion to the device? Says PASS or FAIL.

As root, with zram, 16 KiB folios and no swap in use. A device is filled with folios, and all pages
but the last of each are given up: much room, and for a folio none. Then some more are swapped out;
the fastest of them takes as long on a device 64 times as large, if no list is searched whole.
"""

import ctypes
import mmap
import sys
from pathlib import Path
from time import perf_counter

PAGE, FOLIO, SMALL, LARGE, TRIED, PAGEOUT = 1 << 12, 1 << 14, 4 << 21, 256 << 21, 64, 21
THP, ZRAM = Path("/sys/kernel/mm/transparent_hugepage/hugepages-16kB"), "/sys/class/zram-control"
SPLIT, libc = THP / "stats/swpout_fallback", ctypes.CDLL(None)


def folios(size):
    memory = mmap.mmap(-1, size + FOLIO, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    skew = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % FOLIO
    return memory, range(skew, skew + size, FOLIO)


def swap_out(memory, starts):
    for start in starts:
        memory[start] = 0
    began = perf_counter()
    memory.madvise(PAGEOUT, starts[0], len(starts) * FOLIO)
    return perf_counter() - began


def cost(size):
    number = Path(ZRAM, "hot_add").read_text().strip()
    Path(f"/sys/block/zram{number}/disksize").write_text(str(size))
    with open(f"/dev/zram{number}", "r+b") as device:
        last = (size // PAGE - 1).to_bytes(4, "little")
        device.write((b"\1\0\0\0" + last).rjust(1032, b"\0") + b"SWAPSPACE2".rjust(3064, b"\0"))
    if libc.swapon(device.name.encode(), 0):
        sys.exit("swapon() failed; takes root")
    (filling, starts), (more, further) = folios(size), folios(TRIED * FOLIO)
    for some in range(0, len(starts), 128):
        swap_out(filling, starts[some : some + 128])
    for start in starts:
        filling.madvise(mmap.MADV_DONTNEED, start, FOLIO - PAGE)
    before = int(SPLIT.read_text())
    took = min([swap_out(more, [start]) for start in further])
    split = int(SPLIT.read_text()) - before
    del filling, more
    libc.swapoff(device.name.encode())
    Path(ZRAM, "hot_remove").write_text(number)
    print(f"{size >> 20} MiB: {split} of {TRIED} folios had no room, fastest {took * 1e6:.0f} us")
    return took if split == TRIED else sys.exit("none of them should have had room")


(THP / "enabled").write_text("always")
ratio = cost(LARGE) / cost(SMALL)
print("FAIL:" if ratio > 3 else "PASS:", f"{ratio:.1f} times as long on the larger device")
sys.exit(ratio > 3)

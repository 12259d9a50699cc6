#!/usr/bin/env python3
"""Does DAMON take a mapped page on no LRU list for accessed? As root; says PASS or FAIL.

DAMON (fvaddr) watches an AF_PACKET ring of 1 MiB, touched once and left alone for two seconds, and
then in use, as a control. Needs CONFIG_DAMON_SYSFS, _VADDR and CONFIG_PACKET, and no other kdamond.
"""

import ctypes
import mmap
import os
import pathlib
import socket
import sys
import time

SIZE, SOL_PACKET, PACKET_RX_RING = 1 << 20, 263, 5
DAMON = pathlib.Path("/sys/kernel/mm/damon/admin/kdamonds")
STAT = pathlib.Path("/sys/module/damon_stat/parameters/enabled")


def put(folder, **values):
    for name, value in values.items():
        (DAMON / folder / name).write_text(f"{value}\n")


def tried():  # KiB that matched, summed over aggregations
    put("0", state="update_schemes_stats")
    return int((DAMON / "0/contexts/0/schemes/0/stats/sz_tried").read_text()) >> 10


ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
request = [1 << 16, SIZE >> 16, 2048, SIZE >> 11]  # block and frame: size, number
ring.setsockopt(SOL_PACKET, PACKET_RX_RING, b"".join(n.to_bytes(4, "little") for n in request))
memory = mmap.mmap(ring.fileno(), SIZE)
memory[:]  # touches each page
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))

if STAT.exists():
    STAT.write_text("N\n")  # it lets no other run
put("", nr_kdamonds=1)
put("0/contexts", nr_contexts=1)
put("0/contexts/0", operations="fvaddr")
put("0/contexts/0/targets", nr_targets=1)
put("0/contexts/0/targets/0", pid_target=os.getpid())
put("0/contexts/0/targets/0/regions", nr_regions=1)
put("0/contexts/0/targets/0/regions/0", start=start, end=start + SIZE)
put("0/contexts/0/schemes", nr_schemes=1)
put("0/contexts/0/schemes/0", action="stat")
for name, low in (("sz", 0), ("nr_accesses", 1), ("age", 0)):  # accessed at all
    put(f"0/contexts/0/schemes/0/access_pattern/{name}", min=low, max=(1 << 31) - 1)
put("0", state="on")
time.sleep(2)
idle = tried()
for _ in range(10000):
    memory[:]
print(f"accessed, summed over aggregations: {idle} KiB while idle, {tried() - idle} KiB in use")
put("0", state="off")
print("FAIL: they were touched by nobody" if idle else "PASS")
sys.exit(bool(idle))

#!/usr/bin/env python3
"""Does DAMON take a mapped page on no LRU list for accessed? As root; says PASS or FAIL.

DAMON (fvaddr) watches an AF_PACKET ring of 1 MiB, touched once and then left alone, for two
seconds. Needs CONFIG_DAMON_SYSFS, CONFIG_DAMON_VADDR and CONFIG_PACKET; no other kdamond may run.
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


def put(name, value):
    (DAMON / name).write_text(f"{value}\n")


ring = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
request = [1 << 16, SIZE >> 16, 2048, SIZE >> 11]  # block and frame: size, number
ring.setsockopt(SOL_PACKET, PACKET_RX_RING, b"".join(n.to_bytes(4, "little") for n in request))
memory = mmap.mmap(ring.fileno(), SIZE)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
for offset in range(0, SIZE, mmap.PAGESIZE):
    memory[offset]  # once

if STAT.exists():
    STAT.write_text("N\n")  # it lets no other run
put("nr_kdamonds", 1)
put("0/contexts/nr_contexts", 1)
context = "0/contexts/0"
put(f"{context}/operations", "fvaddr")
put(f"{context}/targets/nr_targets", 1)
put(f"{context}/targets/0/pid_target", os.getpid())
put(f"{context}/targets/0/regions/nr_regions", 1)
put(f"{context}/targets/0/regions/0/start", start)
put(f"{context}/targets/0/regions/0/end", start + SIZE)
put(f"{context}/schemes/nr_schemes", 1)
scheme = f"{context}/schemes/0"
put(f"{scheme}/action", "stat")
for name, low in (("sz", 0), ("nr_accesses", 1), ("age", 0)):  # accessed at all
    put(f"{scheme}/access_pattern/{name}/min", low)
    put(f"{scheme}/access_pattern/{name}/max", (1 << 31) - 1)
put("0/state", "on")
time.sleep(2)
put("0/state", "update_schemes_stats")
tried = int((DAMON / scheme / "stats/sz_tried").read_text())
put("0/state", "off")
print(f"{tried >> 10} KiB of an idle mapping counted as accessed, summed over aggregations")
print("FAIL: they were touched by nobody" if tried else "PASS")
sys.exit(bool(tried))

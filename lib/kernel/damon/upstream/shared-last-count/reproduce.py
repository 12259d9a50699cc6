#!/usr/bin/env python3
"""Does a second kdamond change how DAMON splits regions for the first? As root; says PASS or FAIL.

Both watch ranges with gaps between, where nothing is mapped, so each merge leaves a region a range.
Mean size of those of the first, as it merges and half-way to the next time, alone and beside the
second. "count": of 4 ranges, split in three where 4 was the last number; the other has 5. "turn":
of 6 small ones of 12, which are split in turn with the large ones, as 12 is above half of the most.
Needs CONFIG_DAMON_SYSFS and _VADDR, and no other kdamond.
"""

import os
import pathlib
import sys
import time

DAMON = pathlib.Path("/sys/kernel/mm/damon/admin/kdamonds")
CASES = {  # KiB of each range, of both; most regions; KiB of the largest that is looked at
    "count": ([4096] * 4, [4096] * 5, 1000, 4096),
    "turn": ([128, 4096] * 6, [128, 4096] * 6, 20, 128),
}


def put(folder, **values):
    for name, value in values.items():
        (DAMON / folder / name).write_text(f"{value}\n")


for stat in pathlib.Path("/sys/module").glob("damon_stat/parameters/enabled"):
    stat.write_text("N\n")  # it lets no other run
changed = []
for case, (*watched, most, largest) in CASES.items():
    mean = []
    for running in (1, 2):
        put("", nr_kdamonds=running)
        for k, sizes in enumerate(watched[:running]):
            put(f"{k}/contexts", nr_contexts=1)
            put(f"{k}/contexts/0", operations="fvaddr")
            put(f"{k}/contexts/0/monitoring_attrs/nr_regions", min=3, max=most)
            put(f"{k}/contexts/0/targets", nr_targets=1)
            put(f"{k}/contexts/0/targets/0", pid_target=os.getpid())
            put(f"{k}/contexts/0/targets/0/regions", nr_regions=len(sizes))
            for n, size in enumerate(sizes):
                at = (1 << 40) + (n << 23)
                put(f"{k}/contexts/0/targets/0/regions/{n}", start=at, end=at + (size << 10))
            put(f"{k}/contexts/0/schemes", nr_schemes=1)
            put(f"{k}/contexts/0/schemes/0", action="stat", apply_interval_us=50000)
            for name, high in ("sz", largest << 10), ("nr_accesses", 100), ("age", 1 << 30):
                put(f"{k}/contexts/0/schemes/0/access_pattern/{name}", min=0, max=high)
            put(f"{k}", state="on")
        time.sleep(5)
        put("0", state="update_schemes_stats")
        stats = DAMON / "0/contexts/0/schemes/0/stats"
        size, number = (int((stats / of).read_text()) for of in ("sz_tried", "nr_tried"))
        mean.append(size / number / 1024)
        [put(f"{k}", state="off") for k in range(running)]
    print(f"{case}: {mean[0]:.0f} KiB alone, {mean[1]:.0f} KiB beside another kdamond")
    changed += [case] * (abs(mean[1] / mean[0] - 1) > 0.08)
print(f"FAIL: another kdamond changes {' and '.join(changed)}" if changed else "PASS")
sys.exit(bool(changed))

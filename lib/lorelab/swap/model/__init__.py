"""The swap slot allocator, function by function under the kernel's names. Read it in this order.

1. `state`: one swap area, its clusters and their lists (include/linux/swap.h, mm/swapfile.c).
2. `v6_12`: how a cluster serves an allocation in Linux 6.12, and where it is listed afterwards.
3. `swap_slots`: the doors to it that folios come to, and the caches of slots behind them.
4. `ssd_cluster`: the current cluster of a CPU before 6.12, and what was proposed in 2024.
5. `scan`: the linear scan that 6.6 to 6.11 fall back to, and the patches of the thread.
6. `v7_2`: the allocator of Linux 7.2, which has neither caches nor a scan.
7. `reclaim`: what a folio costs on its way to the allocator: unmapped, split or whole, written.
8. `vmscan`: which folios of a memory cgroup come there, and when the shrinker splits them first.

What tells the variants apart is one table, `TRAITS` of `lorelab.swap.params`.
"""

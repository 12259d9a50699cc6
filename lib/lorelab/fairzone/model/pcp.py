"""Pages that a CPU keeps to itself: struct per_cpu_pages, as 6.12 fills and empties it.

        rmqueue_pcplist()        a page from the list; an empty one is filled with nr_pcp_alloc()
              ^                  pages of the zone at once
         list of the CPU         its pages are not among NR_FREE_PAGES, which watermarks look at
              |
        free_unref_page()        a page to the list; from `nr_pcp_high()` on nr_pcp_free() go back

The zone's counter of free pages is itself kept in part by the CPU (mm/vmstat.c).

Simplifications: one CPU allocates and frees; a list has pages of one migrate type, and of order 0.
"""

from lorelab.fairzone.model.zones import Node, calculate_normal_threshold
from lorelab.numbers import U, forceinline, outline

PCP_BATCH_SCALE_MAX = 5
"""CONFIG_PCP_BATCH_SCALE_MAX, the default."""
MIN_PERCPU_PAGELIST_HIGH_FRACTION = 8
SZ_1M = 256
"""In pages."""


def zone_batchsize(managed: int) -> int:
    """Pages that a list is filled with at first (mm/page_alloc.c)."""
    batch = max(1, min(managed >> 10, SZ_1M) // 4)
    return (1 << (batch + batch // 2).bit_length() - 1) - 1


def zone_set_pageset_high_and_batch(node: Node, cpus: int) -> None:
    """Give each zone a list, empty as yet, on a machine of so many CPUs."""
    for zone in node.zone:
        batch = max(1, zone_batchsize(int(zone["managed"])))
        zone["pcp_batch"] = batch
        zone["pcp_high_min"] = max(int(zone["low"]) // cpus, batch << 2)
        most = int(zone["managed"]) // MIN_PERCPU_PAGELIST_HIGH_FRACTION // cpus
        zone["pcp_high_max"] = max(most, batch << 2)
        zone["free_threshold"] = calculate_normal_threshold(int(zone["managed"]), cpus)


@forceinline
def account_freepages(zone, pages):
    """__mod_zone_page_state(zone, NR_FREE_PAGES, pages)."""
    x = zone.free_diff + pages
    if x > zone.free_threshold or x < -zone.free_threshold:
        zone.free += x
        x -= x
    zone.free_diff = x


@outline
def nr_pcp_alloc(zone):
    """Pages that an empty list is filled with: twice as many each time nothing was freed."""
    batch = zone.pcp_batch << zone.pcp_alloc_factor
    high = zone.pcp_high = min(max(zone.pcp_high, zone.pcp_high_min), zone.pcp_high_max)
    if zone.below_high == 0:
        high = zone.pcp_high = min(high + batch, zone.pcp_high_max)
    most = max(high - zone.pcp_count - zone.pcp_batch, zone.pcp_batch)
    if batch <= most and zone.pcp_alloc_factor < PCP_BATCH_SCALE_MAX:
        zone.pcp_alloc_factor += 1
    batch = min(batch, most)
    return max(batch, 2) if batch > 1 else batch


@outline
def rmqueue_pcplist(zone):
    """Take a page from the list of the CPU."""
    zone.pcp_free_count >>= 1
    if zone.pcp_count == 0:
        for _ in range(nr_pcp_alloc(zone)):
            if zone.free + zone.free_diff > 0:
                account_freepages(zone, -1)
                zone.pcp_count += 1
    zone.pcp_count -= 1


@outline
def nr_pcp_high(zone):
    """Pages at which a list gives some back."""
    zone.pcp_high = min(max(zone.pcp_high, zone.pcp_high_min), zone.pcp_high_max)
    high = zone.pcp_high
    if zone.reclaim_active:
        zone.pcp_high = max(high - max(zone.pcp_free_count, zone.pcp_batch), zone.pcp_high_min)
        return min(zone.pcp_batch << 2, zone.pcp_high)
    if zone.below_high:
        zone.pcp_high = max(high - max(zone.pcp_free_count, zone.pcp_batch), zone.pcp_high_min)
        return max(zone.pcp_count, zone.pcp_high_min)
    if zone.pcp_count >= high:
        need = zone.pcp_free_count + zone.pcp_batch
        if zone.pcp_high < need:
            zone.pcp_high = min(max(need, zone.pcp_high_min), zone.pcp_high_max)
    return high


@outline
def free_unref_page(node, z):
    """Free a page of the zone: free_unref_page_commit()."""
    zone = node.zone[z]
    zone.pcp_alloc_factor >>= 1
    zone.pcp_count += 1
    if zone.pcp_free_count < zone.pcp_batch << PCP_BATCH_SCALE_MAX:
        zone.pcp_free_count += 1
    high = nr_pcp_high(zone)
    if zone.pcp_count >= high:
        count = min(max(zone.pcp_free_count, zone.pcp_batch), high - zone.pcp_batch)
        count = min(count, zone.pcp_count)
        zone.pcp_count -= count
        for _ in range(count):
            account_freepages(zone, 1)
        classzone = node.info[0].classzone
        if zone.below_high and zone.free > zone.high + node.lowmem_reserve[z, classzone]:
            zone.below_high = 0


@outline
def quiet_vmstat(node):
    """A CPU that goes idle folds what it kept of the counters."""
    for z in range(U(len(node.zone))):
        node.zone[z].free += node.zone[z].free_diff
        node.zone[z].free_diff = 0


@outline
def drain_all_pages(node):
    """Give back all that the CPU keeps."""
    for z in range(U(len(node.zone))):
        zone = node.zone[z]
        for _ in range(zone.pcp_count):
            account_freepages(zone, 1)
        zone.pcp_count = 0


@forceinline
def free_page(node, z):
    """Free a page of the zone, to the list of the CPU where the zone has one."""
    if node.zone[z].pcp_batch:
        free_unref_page(node, z)
    else:
        node.zone[z].free += 1

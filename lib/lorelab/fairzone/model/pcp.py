"""Pages that a CPU keeps to itself: struct per_cpu_pages, as 6.12 fills and empties it.

        rmqueue_pcplist()        a page from its list; an empty one is filled with nr_pcp_alloc()
              ^                  pages of the zone at once
        lists of the CPU         their pages are not among NR_FREE_PAGES, which watermarks look at
          CACHE   pages of the page cache
          HEADS   pages that become slabs of buffer heads
          NODES   pairs of pages that become slabs of the file's map
              |
        free_unref_page()        a page to CACHE; once the three have 4 batches, nr_pcp_free() go
                                 back, first those of CACHE

The kernel has a list for each migrate type and order: the cache of a block device is unmovable,
slabs that can be shrunk are reclaimable, and one of nodes is a pair. The three count together, so
what stays on HEADS and NODES leaves less room for CACHE. The zone's counter of free pages is itself
kept in part by the CPU (mm/vmstat.c).

Simplifications: one CPU allocates and frees; `vm.percpu_pagelist_high_fraction` is set so high that
lists have the least room, four batches, and none of them tunes itself; whatever is freed goes to
CACHE, as it comes from blocks of pages that page cache has filled.
"""

from lorelab.fairzone.model.zones import Node, calculate_normal_threshold
from lorelab.numerics import U, forceinline, outline

PCP_BATCH_SCALE_MAX = 5
"""CONFIG_PCP_BATCH_SCALE_MAX, the default."""
SZ_1M = 256
"""In pages."""
CACHE, HEADS, NODES = range(3)
"""Lists of a CPU in a zone: `INFO.list`."""


def zone_batchsize(managed: int) -> int:
    """Pages that a list is filled with at first (mm/page_alloc.c)."""
    batch = max(1, min(managed >> 10, SZ_1M) // 4)
    return (1 << (batch + batch // 2).bit_length() - 1) - 1


def zone_set_pageset_high_and_batch(node: Node, cpus: int) -> None:
    """Give each zone its lists, empty as yet, on a machine of so many CPUs."""
    for zone in node.zone:
        zone["pcp_batch"] = max(1, zone_batchsize(int(zone["managed"])))
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
def nr_pcp_alloc(zone, pages):
    """Blocks of 1 or 2 pages for an empty list: twice as many each time nothing was freed."""
    if pages > 1:
        return max(zone.pcp_batch >> 1, 2) if zone.pcp_batch > 1 else zone.pcp_batch
    batch = zone.pcp_batch << zone.pcp_alloc_factor
    most = max((zone.pcp_batch << 2) - zone.pcp_count - zone.pcp_batch, zone.pcp_batch)
    if batch <= most and zone.pcp_alloc_factor < PCP_BATCH_SCALE_MAX:
        zone.pcp_alloc_factor += 1
    return min(batch, most)


@outline
def rmqueue_pcplist(zone, which, pages):
    """Take a block of `pages` from one of the CPU's lists."""
    zone.pcp_free_count >>= 1
    on = zone.pcp_heads
    if which == CACHE:
        on = zone.pcp_count - zone.pcp_heads - zone.pcp_nodes
    elif which == NODES:
        on = zone.pcp_nodes
    taken = -pages
    if on == 0:
        for _ in range(nr_pcp_alloc(zone, pages)):
            if zone.free + zone.free_diff >= pages:
                account_freepages(zone, -pages)
                taken += pages
    zone.pcp_count += taken
    if which == HEADS:
        zone.pcp_heads += taken
    elif which == NODES:
        zone.pcp_nodes += taken


@outline
def free_pcppages_bulk(zone, count):
    """Give back `count` pages, or one more where the last are a pair."""
    for _ in range(count):
        account_freepages(zone, 1)
    zone.pcp_count -= count
    left = zone.pcp_count - zone.pcp_heads - zone.pcp_nodes
    if left < 0:
        zone.pcp_heads += left
    if zone.pcp_heads < 0:
        zone.pcp_nodes += zone.pcp_heads
        zone.pcp_heads -= zone.pcp_heads
        if zone.pcp_nodes & 1:
            account_freepages(zone, 1)
            zone.pcp_count -= 1
            zone.pcp_nodes -= 1


@outline
def free_unref_page(zone):
    """Free a page of the zone: free_unref_page_commit()."""
    batch = zone.pcp_batch
    zone.pcp_alloc_factor >>= 1
    zone.pcp_count += 1
    if zone.pcp_free_count < batch << PCP_BATCH_SCALE_MAX:
        zone.pcp_free_count += 1
    if zone.pcp_count >= batch << 2:
        free_pcppages_bulk(zone, min(max(zone.pcp_free_count, batch), 3 * batch))


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
        free_pcppages_bulk(node.zone[z], node.zone[z].pcp_count)


@forceinline
def free_page(node, z):
    """Free a page of the zone, to the list of the CPU where the zone has one."""
    if node.zone[z].pcp_batch:
        free_unref_page(node.zone[z])
    else:
        node.zone[z].free += 1

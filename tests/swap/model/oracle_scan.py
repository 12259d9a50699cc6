"""The linear scan of Linux 6.12.117 in plain Python: single slots of a device without clusters.

`scan_swap_map_slots()` of mm/swapfile.c for a rotational device. The kernel has labels: `scan`
looks for a slot that may do, `checks` decides. As in `oracle`, nothing else runs, and a slot that
only has SWAP_HAS_CACHE can't be reclaimed.
"""

from tests.swap.model import oracle

LATENCY_LIMIT = 256


class Ration:
    """latency_ration and scanned_many."""

    def __init__(self):
        self.left = LATENCY_LIMIT
        self.scanned_many = False

    def use(self, scanning):
        self.left -= 1
        if self.left < 0:
            self.left = LATENCY_LIMIT
            self.scanned_many |= scanning


def read(si, offset):
    si.scanned[0] += 1
    return si.swap_map[offset]


def reclaimable(si, offset):
    return oracle.vm_swap_full(si) and si.swap_map[offset] == oracle.SWAP_HAS_CACHE


def first_empty_run(si, ration):
    """First of 512 free slots in a row, None when there is no such run."""
    free = 0
    offset = si.lowest_bit
    # It has to end by the highest free slot, wherever it began.
    while offset - free + oracle.SWAPFILE_CLUSTER - 1 <= si.highest_bit:
        free = 0 if read(si, offset) else free + 1
        if free == oracle.SWAPFILE_CLUSTER:
            return offset - oracle.SWAPFILE_CLUSTER + 1
        ration.use(scanning=False)
        offset += 1
    return None


def scan(si, behind, scan_base, ration):
    """Next slot worth a check, None when none is."""
    for offset in (*range(behind + 1, si.highest_bit + 1), *range(si.lowest_bit, scan_base)):
        ration.use(scanning=True)
        if not read(si, offset) or reclaimable(si, offset):
            return offset
    return None


def scan_swap_map_slots(si, nr):
    """Up to `nr` single slots."""
    taken = []
    ration = Ration()
    offset = scan_base = si.cluster_next
    if si.cluster_nr:
        si.cluster_nr -= 1
    else:
        si.cluster_nr = oracle.SWAPFILE_CLUSTER - 1
        if si.pages - si.inuse_pages >= oracle.SWAPFILE_CLUSTER:
            scan_base = si.lowest_bit
            offset = first_empty_run(si, ration)
            if offset is None:
                offset = scan_base
            else:
                si.cluster_next = offset

    while offset is not None and si.highest_bit:
        if offset > si.highest_bit:
            scan_base = offset = si.lowest_bit
        if reclaimable(si, offset) or (si.swap_map[offset] and not taken):
            offset = scan(si, offset, scan_base, ration)
            continue
        if not si.swap_map[offset]:
            take(si, offset)
            taken.append(offset)
            following = None
            if len(taken) < nr and offset < si.highest_bit:
                following, offset = go_on(si, offset, scan_base, ration)
            if following is not None:
                continue
        si.cluster_next = offset + 1
        return taken
    return taken


def take(si, offset):
    si.swap_map[offset] = oracle.SWAP_HAS_CACHE
    oracle.swap_range_alloc(si, offset, 1)


def go_on(si, offset, scan_base, ration):
    """After a slot was taken: the next to check, None for enough; and where the search stands."""
    ration.left -= 1
    if ration.left < 0:
        return None, offset
    if si.cluster_nr:
        offset += 1
        if not si.swap_map[offset]:
            si.cluster_nr -= 1
            return offset, offset
    if ration.scanned_many:
        return None, offset
    limit = scan_base if offset < scan_base else si.highest_bit
    while offset <= limit:
        ration.left -= 1
        if ration.left <= 0:
            break
        if not read(si, offset):
            return offset, offset
        offset += 1
    return None, offset

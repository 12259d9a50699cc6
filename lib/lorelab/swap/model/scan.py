"""The allocators before 6.12, and the proposals between: mm/swapfile.c up to Linux 6.11.

They share one frame, `scan_swap_map_slots()`: a current cluster per CPU and order
(`lorelab.swap.model.ssd_cluster`), and, for order 0 when no cluster is to be had, a linear scan of
`swap_map`, which may take slots of clusters that other orders are using. It serves devices without
clusters too, in 6.12 as before.

Sources: Linux 6.6 and 6.10 for V6_6 and V6_10; the patch quoted in
<87pm0v8b32.fsf@yhuang6-desk2.ccr.corp.intel.com> for V3. V1, V2 and the proposals of 2024
(RYAN_SCAN, HUANG_PROMOTE, CHRIS_V3) are written from their descriptions: what they pick is
theirs, details may differ.

Simplification: the kernel starts a CPU's linear scan at a random slot, and jumps to a random
64 MiB trunk when it leaves one. Here the scan starts at slot 1 and the jumps come from a
xorshift generator of fixed seed, so that runs repeat.
"""

import numpy as np

from lorelab.numerics import ONE, ZERO, U, forceinline, outline
from lorelab.swap.model.ssd_cluster import (
    add_cluster_info_page,
    first_free,
    scan_swap_map_ssd_cluster_conflict,
    scan_swap_map_try_ssd_cluster,
    take_range,
)
from lorelab.swap.model.state import (
    CURRENT,
    FAIL,
    FROM_FREE,
    LATENCY_LIMIT,
    PMD_ORDER,
    SCAN,
    SWAP_ADDRESS_SPACE_PAGES,
    SWAP_HAS_CACHE,
    SWAP_MAP_BAD,
    SWAP_NEXT_INVALID,
    SWAPFILE_CLUSTER,
    swap_map_fill,
    swap_range_alloc,
    vm_swap_full,
)
from lorelab.swap.params import Large

AS_ORDER_0 = U(Large.AS_ORDER_0)
RESERVED = U(Large.RESERVED)
BY_CURRENT = U(Large.CURRENT)
LATENCY = np.int64(LATENCY_LIMIT)


@forceinline
def _may_take(si, offset):
    # The linear scan takes any free slot; without stealing, only those of order-0 clusters.
    if si.swap_map[offset]:
        return False
    info = si.info[0]
    if info.stealing or info.nr_clusters == ZERO:
        return True
    return si.cluster_info[offset // SWAPFILE_CLUSTER].order == ZERO


@forceinline
def _set_cluster_next(si, cpu, following):
    # set_cluster_next(): another trunk of 2^14 slots is drawn when this one ends.
    info = si.info[0]
    if info.nr_clusters == ZERO:
        info.cluster_next = following
        return
    if (
        si.cluster_next_cpu[cpu] // SWAP_ADDRESS_SPACE_PAGES
        != following // SWAP_ADDRESS_SPACE_PAGES
    ):
        if info.highest_bit <= info.lowest_bit:
            return
        info.random ^= info.random << U(13)
        info.random ^= info.random >> U(7)
        info.random ^= info.random << U(17)
        span = info.highest_bit - info.lowest_bit + ONE
        drawn = info.lowest_bit + info.random % span
        following = max(
            drawn // SWAP_ADDRESS_SPACE_PAGES * SWAP_ADDRESS_SPACE_PAGES, info.lowest_bit
        )
    si.cluster_next_cpu[cpu] = following


@forceinline
def _empty_run(si):
    # A rotational device looks for 512 free slots in a row, from the lowest free one on. Gives the
    # first, 0 for none, and how many slots it passed.
    info = si.info[0]
    offset = info.lowest_bit
    last_in_cluster = offset + SWAPFILE_CLUSTER - ONE
    passed = ZERO
    while last_in_cluster <= info.highest_bit:
        si.scanned[0] += ONE
        if si.swap_map[offset]:
            last_in_cluster = offset + SWAPFILE_CLUSTER
        elif offset == last_in_cluster:
            return offset - SWAPFILE_CLUSTER + ONE, passed
        passed += ONE
        offset += ONE
    return ZERO, passed


@forceinline
def _reclaimable(si, offset):
    # What the kernel tries to reclaim, here always in vain: see `lorelab.swap.model.state`.
    return si.swap_map[offset] == SWAP_HAS_CACHE and vm_swap_full(si)


@forceinline
def _scan(si, offset, scan_base):
    # scan: of scan_swap_map_slots(). From behind `offset` to the highest free slot, then from the
    # lowest to before `scan_base`. At a slot to reclaim the kernel returns to its checks, and from
    # there goes on to the highest slot again. If nothing comes up that time either, it would never
    # end: the free slots left are not for order 0. Gives the slot, 0 for none, and how many were
    # read.
    info = si.info[0]
    read = ZERO
    offset += ONE
    for _ in range(2):
        while offset <= info.highest_bit:
            read += ONE
            if _may_take(si, offset):
                return offset, read
            offset += ONE
        offset = info.lowest_bit
        while offset < scan_base:
            read += ONE
            if _may_take(si, offset):
                return offset, read
            if _reclaimable(si, offset):
                break
            offset += ONE
        if offset >= scan_base:
            break
        offset += ONE
    return ZERO, read


@outline
def scan_swap_map_slots(si, cpu, nr, slots, order):
    """Take up to `nr` ranges of 2^order slots (mm/swapfile.c, 6.6 to 6.11).

    Parameters
    ----------
    cpu, nr, order : uint64
    slots : (nr,) uint64 array
        Receives the first slot of each range.

    Returns
    -------
    uint64
        Ranges taken.
    """
    info = si.info[0]
    nr_pages = ONE << order
    has_clusters = info.nr_clusters != ZERO
    if order > ZERO and not has_clusters:
        return ZERO

    scan_base = si.cluster_next_cpu[cpu] if has_clusters else info.cluster_next
    offset = scan_base
    latency_ration = LATENCY
    scanned_many = False
    scan = False
    path = SCAN
    n_ret = ZERO

    if has_clusters:
        tmp, path = scan_swap_map_try_ssd_cluster(si, cpu, order)
        if tmp:
            offset = scan_base = tmp
        elif order:
            return ZERO
        else:
            scan = True
    elif info.cluster_nr:
        info.cluster_nr -= ONE
    else:
        info.cluster_nr = SWAPFILE_CLUSTER - ONE
        if info.pages - info.inuse_pages >= SWAPFILE_CLUSTER:
            scan_base = info.lowest_bit
            run, passed = _empty_run(si)
            # Each slot costs one; below 0 it starts anew at LATENCY.
            latency_ration = (latency_ration - np.int64(passed)) % (LATENCY + 1)
            offset = run if run else scan_base
            if run:
                info.cluster_next = run

    while True:
        if scan:
            scan = False
            path = SCAN
            offset, read = _scan(si, offset, scan_base)
            si.scanned[0] += read
            scanned_many |= np.int64(read) > latency_ration
            latency_ration = (latency_ration - np.int64(read)) % (LATENCY + 1)
            if offset == ZERO:
                return n_ret

        # checks:
        if has_clusters and scan_swap_map_ssd_cluster_conflict(si, cpu, offset, order):
            if n_ret:
                break
            tmp, path = scan_swap_map_try_ssd_cluster(si, cpu, order)
            if tmp:
                offset = scan_base = tmp
            elif order:
                return ZERO
            else:
                scan = True
            continue
        if info.highest_bit == ZERO:
            return n_ret
        if offset > info.highest_bit:
            scan_base = offset = info.lowest_bit
        if order == ZERO and not _may_take(si, offset):
            if n_ret and not _reclaimable(si, offset):
                break
            scan = True
            continue

        take_range(si, offset, nr_pages, order)
        si.path[path, order] += ONE
        slots[n_ret] = offset
        n_ret += ONE
        if n_ret == nr or offset >= info.highest_bit:
            break

        latency_ration -= 1
        if latency_ration < 0:
            break
        if has_clusters:
            tmp, path = scan_swap_map_try_ssd_cluster(si, cpu, order)
            if tmp:
                offset = scan_base = tmp
                continue
        elif info.cluster_nr:
            offset += ONE
            if si.swap_map[offset] == 0:
                info.cluster_nr -= ONE
                continue
        if scanned_many:
            break
        path = SCAN
        scan_limit = scan_base if offset < scan_base else info.highest_bit
        found = False
        while offset <= scan_limit:
            latency_ration -= 1
            if latency_ration <= 0:
                break
            si.scanned[0] += ONE
            if _may_take(si, offset):
                found = True
                break
            offset += ONE
        if not found:
            break

    if order == ZERO:
        _set_cluster_next(si, cpu, offset + ONE)
    return n_ret


@outline
def swap_alloc_cluster(si, slots):
    """Take the first free cluster whole: what 6.6 does for PMD order, and for no other."""
    offset = first_free(si) * SWAPFILE_CLUSTER
    if offset == ZERO:
        return ZERO
    take_range(si, offset, SWAPFILE_CLUSTER, PMD_ORDER)
    si.path[FROM_FREE, PMD_ORDER] += ONE
    slots[0] = offset
    return ONE


@outline
def swap_alloc_large_bad(si, cpu, slots, order):
    """Take a range of a reserved cluster, as RFC v1 (per device) and v2 (per CPU) do.

    A free cluster is reserved whole: its count is 512 from the start, and the slots not handed
    out yet are marked BAD, so that the linear scan leaves them alone. The cluster frees when
    all of it was handed out and given back.
    """
    nr_pages = ONE << order
    owner = cpu if si.info[0].reserves_per_cpu else ZERO
    offset = U(si.percpu_next[owner, order])
    path = CURRENT
    if offset == SWAP_NEXT_INVALID:
        path = FROM_FREE
        offset = first_free(si) * SWAPFILE_CLUSTER
        if offset == ZERO:
            return ZERO
        add_cluster_info_page(si, offset, SWAPFILE_CLUSTER, order)
        swap_map_fill(si, offset, SWAPFILE_CLUSTER, SWAP_MAP_BAD)
    swap_map_fill(si, offset, nr_pages, SWAP_HAS_CACHE)
    swap_range_alloc(si, offset, nr_pages)
    si.path[path, order] += ONE
    following = offset + nr_pages
    si.percpu_next[owner, order] = following if following % SWAPFILE_CLUSTER else ZERO
    slots[0] = offset
    return ONE


@outline
def swap_alloc_large(si, cpu, slots, order):
    """Take a range of the current cluster, as the thread's v3 does for every order above 0."""
    while True:
        offset, path = scan_swap_map_try_ssd_cluster(si, cpu, order)
        if offset == ZERO:
            return ZERO
        if not scan_swap_map_ssd_cluster_conflict(si, cpu, offset, order):
            break
    take_range(si, offset, ONE << order, order)
    si.path[path, order] += ONE
    slots[0] = offset
    return ONE


@outline
def alloc_by_scan(si, cpu, nr, slots, order):
    """Hand an allocation to the function that serves this order in this variant.

    Parameters and result as of `scan_swap_map_slots`.
    """
    large = si.info[0].large
    n_ret = ZERO
    if order == ZERO or large == AS_ORDER_0:
        n_ret = scan_swap_map_slots(si, cpu, nr, slots, order)
    elif si.info[0].nr_clusters == ZERO:
        pass
    elif large == BY_CURRENT:
        n_ret = swap_alloc_large(si, cpu, slots, order)
    elif large == RESERVED and order >= U(2):
        n_ret = swap_alloc_large_bad(si, cpu, slots, order)
    elif order == PMD_ORDER:
        n_ret = swap_alloc_cluster(si, slots)
    if n_ret == ZERO:
        si.path[FAIL, order] += ONE
    return n_ret

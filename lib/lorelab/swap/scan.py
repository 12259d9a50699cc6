"""The allocators before 6.12, and the proposals between: mm/swapfile.c up to Linux 6.11.

They share one frame, `scan_swap_map_slots()`: a current cluster per CPU and order, and, for
order 0 when no cluster is to be had, a linear scan of `swap_map`, which may take slots of
clusters that other orders are using. The variants differ in where the next current cluster
comes from (`_next_cluster`) and in how a current cluster is searched
(`scan_swap_map_try_ssd_cluster`).

Sources: Linux 6.6 and 6.10 for V6_6 and V6_10; the patch quoted in
<87pm0v8b32.fsf@yhuang6-desk2.ccr.corp.intel.com> for V3. V1, V2 and the proposals of 2024
(RYAN_SCAN, HUANG_PROMOTE, CHRIS_V3) are written from their descriptions: what they pick is
theirs, details may differ.

Simplification: the kernel starts a CPU's linear scan at a random slot, and jumps to a random
64 MiB trunk when it leaves one. Here the scan starts at slot 1 and the jumps come from a
xorshift generator of fixed seed, so that runs repeat.
"""

import numpy as np

from lorelab.swap.clusters import (
    CLUSTER_FLAG_FREE,
    CLUSTER_FLAG_NONFULL,
    CURRENT,
    FAIL,
    FREE,
    FROM_FREE,
    FROM_NONFULL,
    LATENCY_LIMIT,
    NONFULL,
    OFF_LIST,
    ONE,
    PMD_ORDER,
    SCAN,
    SWAP_ADDRESS_SPACE_PAGES,
    SWAP_HAS_CACHE,
    SWAP_MAP_BAD,
    SWAP_NEXT_INVALID,
    SWAPFILE_CLUSTER,
    ZERO,
    U,
    head_of,
    list_add_tail,
    list_del,
    list_first,
    njit,
    outline,
    swap_map_fill,
    swap_range_alloc,
    swap_range_empty,
)
from lorelab.swap.params import Variant

V6_6 = U(Variant.V6_6)
V1 = U(Variant.V1)
V2 = U(Variant.V2)
V3 = U(Variant.V3)
RYAN_SCAN = U(Variant.RYAN_SCAN)
HUANG_PROMOTE = U(Variant.HUANG_PROMOTE)
CHRIS_V3 = U(Variant.CHRIS_V3)
LATENCY = np.int64(LATENCY_LIMIT)


@njit
def add_cluster_info_page(si, offset, nr_pages, order):
    """Count `nr_pages` taken in the cluster of `offset`; a free cluster leaves its list."""
    if si.info[0].nr_clusters == ZERO:
        return
    idx = offset // SWAPFILE_CLUSTER
    ci = si.cluster_info[idx]
    if ci.flags == CLUSTER_FLAG_FREE:
        list_del(si, idx)
        ci.flags = OFF_LIST
        ci.order = order
    ci.count += nr_pages


@njit
def _tracks_nonfull(variant):
    return variant in (CHRIS_V3, HUANG_PROMOTE)


@outline
def dec_cluster_info_page(si, offset, nr_pages):
    """Count `nr_pages` from `offset` freed; the cluster returns to the list it now belongs on."""
    info = si.info[0]
    if info.nr_clusters == ZERO:
        return
    idx = offset // SWAPFILE_CLUSTER
    ci = si.cluster_info[idx]
    ci.count -= nr_pages
    on_list = ci.flags == CLUSTER_FLAG_NONFULL
    if ci.count == ZERO:
        if on_list:
            list_del(si, idx)
        list_add_tail(si, idx, head_of(si, FREE))
        ci.flags = CLUSTER_FLAG_FREE
        ci.order = ZERO
        return
    if not _tracks_nonfull(info.variant):
        return
    order = U(ci.order)
    if info.variant == HUANG_PROMOTE:
        order = _promoted_order(si, offset, order)
        if on_list and order != ci.order:
            list_del(si, idx)
            on_list = False
        ci.order = order
    if not on_list:
        list_add_tail(si, idx, head_of(si, NONFULL + order))
        ci.flags = CLUSTER_FLAG_NONFULL


@njit
def _promoted_order(si, offset, order):
    # Huang Ying, mid-2024: once an aligned range of the next order is free, the cluster can
    # serve that order, and is listed under it.
    while order + ONE < PMD_ORDER:
        nr_pages = ONE << (order + ONE)
        if not swap_range_empty(si, offset // nr_pages * nr_pages, nr_pages, order):
            break
        order += ONE
    return order


@njit
def _next_cluster(si, order):
    """Where a new current cluster of `order` comes from.

    Returns
    -------
    idx, path : uint64
        Cluster number, 0 when there is none (cluster 0 holds the header and is never free), and
        the row of `Swap.path`. A free cluster stays at the head of its list until the first
        slot of it is taken.
    """
    variant = si.info[0].variant
    free = list_first(si, head_of(si, FREE))
    has_free = free != head_of(si, FREE)
    if has_free and variant != CHRIS_V3:
        return free, FROM_FREE
    if _tracks_nonfull(variant):
        last = order if variant != HUANG_PROMOTE else PMD_ORDER - ONE
        for o in range(order, last + ONE):
            head = head_of(si, NONFULL + o)
            idx = list_first(si, head)
            if idx != head:
                list_del(si, idx)
                ci = si.cluster_info[idx]
                ci.flags = OFF_LIST
                ci.order = order
                return idx, FROM_NONFULL
    if has_free:
        return free, FROM_FREE
    return ZERO, FAIL


@njit
def scan_swap_map_try_ssd_cluster(si, cpu, order):
    """Offer the next slots of the CPU's current cluster of `order`, and step past them.

    Before 6.10 (v3) an occupied range ends the cluster; from 6.10 (v4) the search goes forward
    to its end. Order 0 searched forward in 6.6 already.

    Returns
    -------
    offset, path : uint64
        First slot, 0 when no cluster is to be had.
    """
    variant = si.info[0].variant
    nr_pages = ONE << order
    path = CURRENT
    while True:
        tmp = U(si.percpu_next[cpu, order])
        if tmp == SWAP_NEXT_INVALID:
            idx, path = _next_cluster(si, order)
            if path == FAIL:
                if variant == RYAN_SCAN:
                    return _scan_allocated_clusters(si, cpu, order), FROM_NONFULL
                return ZERO, FAIL
            tmp = idx * SWAPFILE_CLUSTER
        si.visited[order] += ONE
        end = min(si.info[0].max, (tmp // SWAPFILE_CLUSTER + ONE) * SWAPFILE_CLUSTER)
        while tmp + nr_pages <= end and not swap_range_empty(si, tmp, nr_pages, order):
            tmp = end if variant == V3 else tmp + nr_pages
        if tmp + nr_pages > end:
            si.percpu_next[cpu, order] = SWAP_NEXT_INVALID
            continue
        si.percpu_next[cpu, order] = tmp + nr_pages if tmp + nr_pages < end else ZERO
        return tmp, path


@outline
def _scan_allocated_clusters(si, cpu, order):
    # Ryan Roberts, RFC "Alternative mTHP swap allocator improvements", 18 Jun 2024: a pointer
    # per order goes round the clusters; those in use for this order are searched for a hole.
    # A cluster with too few free slots is skipped, as the RFC's last patch does.
    nr_pages = ONE << order
    nr_clusters = si.info[0].nr_clusters
    idx = si.scan_next[order]
    for _ in range(nr_clusters):
        ci = si.cluster_info[idx]
        if (
            ci.flags != CLUSTER_FLAG_FREE
            and ci.order == order
            and ci.count + nr_pages <= SWAPFILE_CLUSTER
        ):
            si.visited[order] += ONE
            end = min(si.info[0].max, (idx + ONE) * SWAPFILE_CLUSTER)
            for offset in range(idx * SWAPFILE_CLUSTER, end - nr_pages + ONE, nr_pages):
                if swap_range_empty(si, offset, nr_pages, order):
                    si.scan_next[order] = idx
                    following = offset + nr_pages
                    si.percpu_next[cpu, order] = following if following < end else ZERO
                    return offset
        idx += ONE
        if idx == nr_clusters:
            idx = ZERO
    return ZERO


@njit
def scan_swap_map_ssd_cluster_conflict(si, cpu, offset, order):
    """True, and the current cluster dropped, when `offset` lies inside the free list's middle."""
    idx = offset // SWAPFILE_CLUSTER
    first = list_first(si, head_of(si, FREE))
    conflict = (
        first != head_of(si, FREE)
        and idx != first
        and si.cluster_info[idx].flags == CLUSTER_FLAG_FREE
    )
    if conflict:
        si.percpu_next[cpu, order] = SWAP_NEXT_INVALID
    return conflict


@njit
def _may_take(si, offset):
    # The linear scan takes any free slot; without stealing, only those of order-0 clusters.
    if si.swap_map[offset]:
        return False
    info = si.info[0]
    if info.stealing or info.nr_clusters == ZERO:
        return True
    return si.cluster_info[offset // SWAPFILE_CLUSTER].order == ZERO


@njit
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


@njit
def _empty_run(si):
    # A rotational device looks for 512 free slots in a row, from the lowest free one on. The slots
    # passed use up the caller's latency_ration, which starts anew every 257th.
    info = si.info[0]
    latency_ration = LATENCY
    offset = info.lowest_bit
    last_in_cluster = offset + SWAPFILE_CLUSTER - ONE
    while last_in_cluster <= info.highest_bit:
        si.scanned[0] += ONE
        if si.swap_map[offset]:
            last_in_cluster = offset + SWAPFILE_CLUSTER
        elif offset == last_in_cluster:
            return offset - SWAPFILE_CLUSTER + ONE, latency_ration
        latency_ration -= 1
        if latency_ration < 0:
            latency_ration = LATENCY
        offset += ONE
    return ZERO, latency_ration


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
        si.path[FAIL, order] += ONE
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
            si.path[FAIL, order] += ONE
            return ZERO
        else:
            scan = True
    elif info.cluster_nr:
        info.cluster_nr -= ONE
    else:
        info.cluster_nr = SWAPFILE_CLUSTER - ONE
        if info.pages - info.inuse_pages >= SWAPFILE_CLUSTER:
            scan_base = info.lowest_bit
            run, latency_ration = _empty_run(si)
            offset = run if run else scan_base
            if run:
                info.cluster_next = run

    while True:
        if scan:
            scan = False
            path = SCAN
            found = False
            offset += ONE
            while offset <= info.highest_bit and not found:
                latency_ration -= 1
                if latency_ration < 0:
                    latency_ration = LATENCY
                    scanned_many = True
                si.scanned[0] += ONE
                found = _may_take(si, offset)
                offset += ONE
            if not found:
                offset = info.lowest_bit
                while offset < scan_base and not found:
                    latency_ration -= 1
                    if latency_ration < 0:
                        latency_ration = LATENCY
                        scanned_many = True
                    si.scanned[0] += ONE
                    found = _may_take(si, offset)
                    offset += ONE
            if not found:
                si.path[FAIL, order] += ONE
                return n_ret
            offset -= ONE

        # checks:
        if has_clusters:
            stop = False
            while scan_swap_map_ssd_cluster_conflict(si, cpu, offset, order):
                if n_ret:
                    stop = True
                    break
                tmp, path = scan_swap_map_try_ssd_cluster(si, cpu, order)
                if tmp == ZERO:
                    scan = True
                    break
                offset = scan_base = tmp
            if stop:
                break
            if scan:
                if order:
                    si.path[FAIL, order] += ONE
                    return n_ret
                continue
        if info.highest_bit == ZERO:
            return n_ret
        if offset > info.highest_bit:
            scan_base = offset = info.lowest_bit
        if order == ZERO and not _may_take(si, offset):
            if n_ret:
                break
            scan = True
            continue

        swap_map_fill(si, offset, nr_pages, SWAP_HAS_CACHE)
        add_cluster_info_page(si, offset, nr_pages, order)
        swap_range_alloc(si, offset, nr_pages)
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
    head = head_of(si, FREE)
    idx = list_first(si, head)
    if idx == head:
        si.path[FAIL, PMD_ORDER] += ONE
        return ZERO
    offset = idx * SWAPFILE_CLUSTER
    swap_map_fill(si, offset, SWAPFILE_CLUSTER, SWAP_HAS_CACHE)
    add_cluster_info_page(si, offset, SWAPFILE_CLUSTER, PMD_ORDER)
    swap_range_alloc(si, offset, SWAPFILE_CLUSTER)
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
    owner = cpu if si.info[0].variant == V2 else ZERO
    offset = U(si.percpu_next[owner, order])
    path = CURRENT
    if offset == SWAP_NEXT_INVALID:
        head = head_of(si, FREE)
        idx = list_first(si, head)
        if idx == head:
            si.path[FAIL, order] += ONE
            return ZERO
        path = FROM_FREE
        offset = idx * SWAPFILE_CLUSTER
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
    nr_pages = ONE << order
    while True:
        offset, path = scan_swap_map_try_ssd_cluster(si, cpu, order)
        if offset == ZERO:
            si.path[FAIL, order] += ONE
            return ZERO
        if not scan_swap_map_ssd_cluster_conflict(si, cpu, offset, order):
            break
    swap_map_fill(si, offset, nr_pages, SWAP_HAS_CACHE)
    add_cluster_info_page(si, offset, nr_pages, order)
    swap_range_alloc(si, offset, nr_pages)
    si.path[path, order] += ONE
    slots[0] = offset
    return ONE


@outline
def alloc_before_6_12(si, cpu, nr, slots, order):
    """Hand an allocation to the function that serves this order in this variant."""
    variant = si.info[0].variant
    if order == ZERO or variant > V3:
        return scan_swap_map_slots(si, cpu, nr, slots, order)
    if si.info[0].nr_clusters == ZERO:
        si.path[FAIL, order] += ONE
        return ZERO
    if variant == V3:
        return swap_alloc_large(si, cpu, slots, order)
    if variant != V6_6 and order >= U(2):
        return swap_alloc_large_bad(si, cpu, slots, order)
    if order == PMD_ORDER:
        return swap_alloc_cluster(si, slots)
    si.path[FAIL, order] += ONE
    return ZERO

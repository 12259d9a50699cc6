"""The cluster allocator of Linux 6.12: mm/swapfile.c, function by function and name by name.

`cluster_alloc_swap_entry()` is the way of an allocation, `dec_cluster_info_page()` that of a slot
that is freed. What asks is in `lorelab.swap.model.swap_slots`. CHRIS_V4, the last proposal before
it was merged, is this file with other traits.

All numbers are uint64; slots are counted from 0 (the header), and 0 stands for "none", as
`swp_entry_t` 0 does in the kernel.
"""

from lorelab.numerics import ONE, ZERO, U, forceinline, outline
from lorelab.swap.model.state import (
    CLUSTER_FLAG_FRAG,
    CLUSTER_FLAG_FREE,
    CLUSTER_FLAG_FULL,
    CLUSTER_FLAG_NONFULL,
    CURRENT,
    FAIL,
    FRAG,
    FREE,
    FROM_FRAG,
    FROM_FREE,
    FROM_NONFULL,
    FULL,
    NONFULL,
    PMD_ORDER,
    STEAL,
    SWAP_HAS_CACHE,
    SWAP_NEXT_INVALID,
    SWAP_NR_ORDERS,
    SWAPFILE_CLUSTER,
    head_of,
    list_first,
    list_move_tail,
    look_into,
    swap_map_fill,
    swap_range_alloc,
    vm_swap_full,
)
from lorelab.swap.params import AllocMode

AS_V6_10 = U(AllocMode.V6_10)
AS_V3 = U(AllocMode.V3)
NONFULL_FIRST = U(AllocMode.NONFULL_FIRST)


@forceinline
def cluster_scan_range(si, offset, nr_pages, reclaims):
    """Look for a free range in the `nr_pages` slots from `offset`.

    Once the area is over half full, 6.12 reads on past slots that only have SWAP_HAS_CACHE, and
    tries to reclaim them (`cluster_reclaim_range()`). Here they sit in a per-CPU cache, so it
    can't.

    Returns
    -------
    empty, read : bool, uint64
        Whether all are free, and how many of them were read to know.
    """
    empty = True
    for slot in range(offset, offset + nr_pages):
        if si.swap_map[slot]:
            empty = False
            if not reclaims or si.swap_map[slot] != SWAP_HAS_CACHE:
                return False, slot - offset + ONE
    return empty, nr_pages


@forceinline
def cluster_alloc_range(si, offset, nr_pages, order):
    """Take the range and move its cluster to the list it then belongs on."""
    idx = offset // SWAPFILE_CLUSTER
    ci = si.cluster_info[idx]
    if ci.flags == CLUSTER_FLAG_FREE:
        if nr_pages < SWAPFILE_CLUSTER:
            list_move_tail(si, idx, head_of(si, NONFULL + order))
            ci.flags = CLUSTER_FLAG_NONFULL
        ci.order = order
    swap_map_fill(si, offset, nr_pages, SWAP_HAS_CACHE)
    swap_range_alloc(si, offset, nr_pages)
    ci.count += nr_pages
    if ci.count == SWAPFILE_CLUSTER:
        if ci.flags == CLUSTER_FLAG_FRAG:
            si.frag_cluster_nr[ci.order] -= ONE
        list_move_tail(si, idx, head_of(si, FULL))
        ci.flags = CLUSTER_FLAG_FULL


@forceinline
def alloc_swap_scan_cluster(si, offset, order):
    """Search a cluster from `offset` to its end for a free range, in steps of 2^order.

    Returns
    -------
    following, found : uint64
        Where the next search may go on (0: nowhere), and the range taken (0: none).
    """
    nr_pages = ONE << order
    idx = offset // SWAPFILE_CLUSTER
    end = min((idx + ONE) * SWAPFILE_CLUSTER, si.info[0].max)
    look_into(si, offset, order)
    if si.cluster_info[idx].count + nr_pages > SWAPFILE_CLUSTER:
        return SWAP_NEXT_INVALID, ZERO
    # The thread's v3 leaves a cluster at its first occupied range.
    step = SWAPFILE_CLUSTER if order and si.info[0].alloc_mode == AS_V3 else nr_pages
    reclaims = si.info[0].reclaims and vm_swap_full(si)
    found = scanned = ZERO
    while offset + nr_pages <= end:
        empty, read = cluster_scan_range(si, offset, nr_pages, reclaims)
        scanned += read
        if empty:
            found = offset
            break
        offset += step
    si.scanned[order] += scanned
    if found == ZERO:
        return SWAP_NEXT_INVALID, ZERO
    cluster_alloc_range(si, found, nr_pages, order)
    following = found + nr_pages
    if si.cluster_info[idx].count == SWAPFILE_CLUSTER or following + nr_pages > end:
        return SWAP_NEXT_INVALID, found
    return following, found


@forceinline
def cluster_alloc_swap_entry(si, cpu, order):
    """Take one range of 2^order slots: the path of an allocation in 6.12.

    Returns
    -------
    uint64
        First slot, 0 when no cluster has such a range to give.
    """
    following = U(si.percpu_next[cpu, order])
    found = ZERO
    path = CURRENT
    if following:
        following, found = alloc_swap_scan_cluster(si, following, order)
    mode = si.info[0].alloc_mode
    frags = ZERO
    if found == ZERO and mode == NONFULL_FIRST and order < PMD_ORDER:
        path = FROM_NONFULL
        following, found, frags = _from_nonfull_to_frag(si, order)
    if found == ZERO:
        head = head_of(si, FREE)
        idx = list_first(si, head)
        if idx != head:
            path = FROM_FREE
            following, found = alloc_swap_scan_cluster(si, idx * SWAPFILE_CLUSTER, order)
        elif order == ZERO or (mode != AS_V6_10 and mode != AS_V3):
            if order < PMD_ORDER and si.info[0].frag_lists:
                following, found, path = _from_nonfull_and_frag(si, order, frags)
            elif order < PMD_ORDER:
                following, found, path = _from_nonfull(si, order)
            if found == ZERO and order == ZERO and si.info[0].stealing:
                path = STEAL
                following, found = _steal(si)
    si.percpu_next[cpu, order] = following
    si.path[path if found else FAIL, order] += ONE
    return found


@outline
def _from_nonfull_to_frag(si, order):
    # Every nonfull cluster that is tried moves to the frag list; the third result counts them.
    following = found = ZERO
    frags = ZERO
    frag_head = head_of(si, FRAG + order)
    nonfull_head = head_of(si, NONFULL + order)
    while found == ZERO:
        idx = list_first(si, nonfull_head)
        if idx == nonfull_head:
            break
        list_move_tail(si, idx, frag_head)
        si.cluster_info[idx].flags = CLUSTER_FLAG_FRAG
        si.frag_cluster_nr[order] += ONE
        following, found = alloc_swap_scan_cluster(si, idx * SWAPFILE_CLUSTER, order)
        frags += ONE
    return following, found, frags


@outline
def _from_nonfull_and_frag(si, order, moved):
    # After the nonfull clusters the frag list is gone round once, less those just moved there.
    following, found, frags = _from_nonfull_to_frag(si, order)
    if found:
        return following, found, FROM_NONFULL
    frags += moved
    frag_head = head_of(si, FRAG + order)
    while found == ZERO and frags < si.frag_cluster_nr[order]:
        idx = list_first(si, frag_head)
        list_move_tail(si, idx, frag_head)
        following, found = alloc_swap_scan_cluster(si, idx * SWAPFILE_CLUSTER, order)
        frags += ONE
    return following, found, FROM_FRAG


@outline
def _from_nonfull(si, order):
    # Chris Li's v4, before frag lists: the nonfull list is walked and left as it is.
    head = head_of(si, NONFULL + order)
    idx = list_first(si, head)
    while idx != head:
        after = U(si.cluster_info[idx].next)
        following, found = alloc_swap_scan_cluster(si, idx * SWAPFILE_CLUSTER, order)
        if found:
            return following, found, FROM_NONFULL
        idx = after
    return SWAP_NEXT_INVALID, ZERO, FROM_NONFULL


@outline
def _steal(si):
    # A cluster on one of these lists has a free slot, so its first one always serves order 0.
    for order in range(ONE, SWAP_NR_ORDERS):
        for which in (FRAG + order, NONFULL + order):
            head = head_of(si, which)
            idx = list_first(si, head)
            if idx != head:
                return alloc_swap_scan_cluster(si, idx * SWAPFILE_CLUSTER, ZERO)
    return SWAP_NEXT_INVALID, ZERO


@forceinline
def dec_cluster_info_page(si, idx, nr_pages):
    """Count `nr_pages` of a cluster freed, and list it anew (`__free_cluster()` with it)."""
    if si.info[0].nr_clusters == ZERO:
        return
    ci = si.cluster_info[idx]
    ci.count -= nr_pages
    if ci.flags == CLUSTER_FLAG_FRAG:
        si.frag_cluster_nr[ci.order] -= ONE
    if ci.count == ZERO:
        list_move_tail(si, idx, head_of(si, FREE))
        ci.flags = CLUSTER_FLAG_FREE
        ci.order = 0
    elif ci.flags != CLUSTER_FLAG_NONFULL:
        list_move_tail(si, idx, head_of(si, NONFULL + ci.order))
        ci.flags = CLUSTER_FLAG_NONFULL

"""The swap slot allocator of Linux 6.12, and the doors to it that all variants share.

Read this file for the algorithm: `cluster_alloc_swap_entry()` is mm/swapfile.c of 6.12, function
by function and name by name; `folio_alloc_swap()` and `free_swap_slot()` are the slot caches of
mm/swap_slots.c. `lorelab.swap.clusters` has the state and the lists, `lorelab.swap.scan` what
came before and what was proposed in between, `lorelab.swap.swap_table` Linux 7.2.

All numbers are uint64; slots are counted from 0 (the header), and 0 stands for "none", as
`swp_entry_t` 0 does in the kernel.
"""

from lorelab.swap.clusters import (
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
    ONE,
    PMD_ORDER,
    STEAL,
    SWAP_BATCH,
    SWAP_HAS_CACHE,
    SWAP_IN_USE,
    SWAP_NEXT_INVALID,
    SWAP_NR_ORDERS,
    SWAPFILE_CLUSTER,
    ZERO,
    Swap,
    U,
    head_of,
    list_first,
    list_move_tail,
    njit,
    outline,
    swap_map_fill,
    swap_range_alloc,
    swap_range_free,
    swapon,
    vm_swap_full,
)
from lorelab.swap.params import AllocMode, Variant
from lorelab.swap.scan import alloc_by_scan
from lorelab.swap.ssd_cluster import dec_cluster_info_page
from lorelab.swap.swap_table import cluster_free_entries
from lorelab.swap.swap_table import folio_alloc_swap as folio_alloc_swap_7_2

__all__ = [
    "Swap",
    "folio_alloc_swap",
    "free_swap_and_cache_nr",
    "free_swap_slot",
    "get_swap_pages",
    "swap_entry_range_free",
    "swapon",
]

CHRIS_V4 = U(Variant.CHRIS_V4)
V6_12 = U(Variant.V6_12)
V7_2 = U(Variant.V7_2)
AS_V6_10 = U(AllocMode.V6_10)
AS_V3 = U(AllocMode.V3)
NONFULL_FIRST = U(AllocMode.NONFULL_FIRST)
THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE = U(5) * SWAP_BATCH
THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE = U(2) * SWAP_BATCH


@njit
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


@njit
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


@njit
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
    si.visited[order] += ONE
    if si.cluster_info[idx].count + nr_pages > SWAPFILE_CLUSTER:
        return SWAP_NEXT_INVALID, ZERO
    # The thread's v3 leaves a cluster at its first occupied range.
    step = SWAPFILE_CLUSTER if order and si.info[0].alloc_mode == AS_V3 else nr_pages
    reclaims = si.info[0].variant == V6_12 and vm_swap_full(si)
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


@njit
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
            if order < PMD_ORDER and si.info[0].variant == V6_12:
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


@njit
def get_swap_pages(si, cpu, n_goal, slots, order):
    """Take up to `n_goal` ranges of 2^order slots from the device (mm/swapfile.c).

    Returns
    -------
    uint64
        Ranges taken; their first slots are in `slots`.
    """
    info = si.info[0]
    size = ONE << order
    n_goal = min(n_goal, SWAP_BATCH, info.nr_swap_pages >> order)
    if n_goal == ZERO:
        si.path[FAIL, order] += ONE
        return ZERO
    info.nr_swap_pages -= n_goal * size
    n_ret = ZERO
    if info.highest_bit == ZERO:
        si.path[FAIL, order] += ONE
    elif info.variant < CHRIS_V4 or info.nr_clusters == ZERO:
        n_ret = alloc_by_scan(si, cpu, n_goal, slots, order)
    else:
        while n_ret < n_goal:
            offset = cluster_alloc_swap_entry(si, cpu, order)
            if offset == ZERO:
                break
            slots[n_ret] = offset
            n_ret += ONE
    info.nr_swap_pages += (n_goal - n_ret) * size
    return n_ret


@njit
def swap_entry_range_free(si, offset, nr_pages):
    """Give back a range inside one cluster, past the free cache (mm/swapfile.c)."""
    swap_map_fill(si, offset, nr_pages, 0)
    if si.info[0].variant == V7_2:
        cluster_free_entries(si, offset // SWAPFILE_CLUSTER, nr_pages)
    elif si.info[0].variant >= CHRIS_V4:
        _dec_cluster_info_page(si, offset // SWAPFILE_CLUSTER, nr_pages)
    else:
        dec_cluster_info_page(si, offset, nr_pages)
    swap_range_free(si, offset, nr_pages)


@njit
def _dec_cluster_info_page(si, idx, nr_pages):
    # dec_cluster_info_page() and __free_cluster() of 6.12.
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


@njit
def _use_swap_slot_cache(si):
    return si.info[0].swap_slot_cache_enabled and si.info[0].swap_slot_cache_active


@njit
def _check_cache_active(si):
    # check_cache_active(): on above 5 * 64 free slots a CPU, off (and drained) below 2 * 64.
    info = si.info[0]
    if not info.swap_slot_cache_enabled:
        return False
    cpus = U(len(si.n_ret))
    if not info.swap_slot_cache_active:
        if info.nr_swap_pages > cpus * THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE:
            info.swap_slot_cache_active = ONE
    elif info.nr_swap_pages < cpus * THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE:
        info.swap_slot_cache_active = ZERO
        for cpu in range(cpus):
            drain_slots_cache_cpu(si, cpu)
    return info.swap_slot_cache_active != ZERO


@outline
def drain_slots_cache_cpu(si, cpu):
    """Give back the slots that a CPU took ahead and those it was keeping (mm/swap_slots.c)."""
    cur = si.slots_cur[cpu]
    for i in range(cur, cur + si.slots_nr[cpu]):
        swap_entry_range_free(si, si.slots[cpu, i], ONE)
    si.slots_cur[cpu] = si.slots_nr[cpu] = ZERO
    for i in range(si.n_ret[cpu]):
        swap_entry_range_free(si, si.slots_ret[cpu, i], ONE)
    si.n_ret[cpu] = ZERO


@njit
def folio_alloc_swap(si, cpu, order):
    """Take 2^order slots for a folio: from the CPU's cache for order 0, else from the device.

    The folio is written out at once: when the next asks for slots, the page table alone holds
    these, and each has one use (`swap_duplicate()`, `put_swap_folio()`).

    Parameters
    ----------
    si : Swap
    cpu, order : uint64

    Returns
    -------
    uint64
        First slot, aligned to 2^order; 0 when there is none (mm/swap_slots.c).
    """
    if si.info[0].variant == V7_2:
        return folio_alloc_swap_7_2(si, cpu, order)
    if order == ZERO and _check_cache_active(si):
        if si.slots_nr[cpu] == ZERO:
            si.slots_cur[cpu] = ZERO
            si.slots_nr[cpu] = get_swap_pages(si, cpu, SWAP_BATCH, si.slots[cpu], ZERO)
        if si.slots_nr[cpu]:
            si.slots_nr[cpu] -= ONE
            si.slots_cur[cpu] += ONE
            offset = si.slots[cpu, si.slots_cur[cpu] - ONE]
            si.swap_map[offset] = SWAP_IN_USE
            return offset
    if get_swap_pages(si, cpu, ONE, si.entry, order) == ZERO:
        return ZERO
    swap_map_fill(si, si.entry[0], ONE << order, SWAP_IN_USE)
    return si.entry[0]


@njit
def free_swap_slot(si, cpu, offset):
    """Give back one slot through the CPU's free cache of 64 (mm/swap_slots.c)."""
    if not (_use_swap_slot_cache(si) and si.info[0].free_cache):
        swap_entry_range_free(si, offset, ONE)
        return
    if si.n_ret[cpu] >= SWAP_BATCH:
        for i in range(SWAP_BATCH):
            swap_entry_range_free(si, si.slots_ret[cpu, i], ONE)
        si.n_ret[cpu] = ZERO
    si.swap_map[offset] = SWAP_HAS_CACHE
    si.slots_ret[cpu, si.n_ret[cpu]] = offset
    si.n_ret[cpu] += ONE


@njit
def free_swap_and_cache_nr(si, cpu, offset, nr_pages):
    """Drop the last use of slots that lie in a row: zap of a page table (mm/swapfile.c).

    6.12 gives a row inside one cluster back at once (`__swap_entries_free()`); earlier kernels,
    and rows of one slot or over a cluster's end, go slot by slot through the free cache.
    """
    inside = nr_pages <= SWAPFILE_CLUSTER - offset % SWAPFILE_CLUSTER
    if si.info[0].batched_zap and nr_pages > ONE and inside:
        swap_entry_range_free(si, offset, nr_pages)
        return
    for slot in range(offset, offset + nr_pages):
        free_swap_slot(si, cpu, slot)

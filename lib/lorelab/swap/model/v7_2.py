"""The swap slot allocator of Linux 7.2, function by function: mm/swapfile.c of 7.2.12.

What it does otherwise than 6.12 (`lorelab.swap.model.v6_12`):

- No slot caches: a page asks for its slot, and gives it back, directly.
- Nonfull clusters come before free ones, unless the device wants discards.
- A cluster that served an allocation goes to the frag list of its order, the current one included,
  until a slot of it is freed (`relocate_cluster()`).
- Of the frag clusters of the order one is tried, not all.
- The current cluster is left when it was freed, or became another order's, meanwhile.

Simplifications beside those of `lorelab.swap.model.state`: a rotational device, which has clusters
in 7.2, is not modelled; a CPU's current clusters are those of the one area.
"""

from lorelab.numerics import ONE, ZERO, U, outline
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
    OFF_LIST,
    PMD_ORDER,
    STEAL,
    SWAP_IN_USE,
    SWAP_NEXT_INVALID,
    SWAP_NR_ORDERS,
    SWAPFILE_CLUSTER,
    head_of,
    list_del,
    list_first,
    list_move_tail,
    look_into,
    swap_map_fill,
    swap_range_alloc,
    swap_range_empty,
)

BEFORE_FREE, FULLEST = U(2), U(3)
"""Values of `stealing` that no kernel has: order 0 steals before it takes a free cluster, or from
the fullest cluster of another order."""


@outline
def move_cluster(si, idx, head, flags):
    """Put a cluster at the tail of a list, and say so in its flags."""
    ci = si.cluster_info[idx]
    if ci.flags == CLUSTER_FLAG_FRAG:
        si.frag_cluster_nr[ci.order] -= ONE
    if flags == CLUSTER_FLAG_FRAG:
        si.frag_cluster_nr[ci.order] += ONE
    list_move_tail(si, idx, head)
    ci.flags = flags


@outline
def isolate_cluster(si, head):
    """Take the first cluster off a list; `head` itself when there is none."""
    idx = list_first(si, head)
    if idx != head:
        ci = si.cluster_info[idx]
        if ci.flags == CLUSTER_FLAG_FRAG:
            si.frag_cluster_nr[ci.order] -= ONE
        list_del(si, idx)
        # Alone, so that move_cluster() may take it off a list.
        ci.prev = ci.next = idx
        ci.flags = OFF_LIST
    return idx


@outline
def relocate_cluster(si, idx):
    """Move a cluster that was searched to the list that it now belongs on."""
    ci = si.cluster_info[idx]
    if ci.count == ZERO:
        if ci.flags != CLUSTER_FLAG_FREE:
            move_cluster(si, idx, head_of(si, FREE), CLUSTER_FLAG_FREE)
    elif ci.count < SWAPFILE_CLUSTER:
        if ci.flags != CLUSTER_FLAG_FRAG:
            move_cluster(si, idx, head_of(si, FRAG + ci.order), CLUSTER_FLAG_FRAG)
    elif ci.flags != CLUSTER_FLAG_FULL:
        move_cluster(si, idx, head_of(si, FULL), CLUSTER_FLAG_FULL)


@outline
def alloc_swap_scan_cluster(si, cpu, offset, order):
    """Search a cluster from `offset` to its end for a free range, and take it.

    Returns
    -------
    uint64
        The range, 0 when there is none.
    """
    nr_pages = ONE << order
    idx = offset // SWAPFILE_CLUSTER
    ci = si.cluster_info[idx]
    end = (idx + ONE) * SWAPFILE_CLUSTER
    following, found = SWAP_NEXT_INVALID, ZERO
    look_into(si, offset, order)
    if ci.count + nr_pages <= SWAPFILE_CLUSTER:
        while offset + nr_pages <= end and not swap_range_empty(si, offset, nr_pages, order):
            offset += nr_pages
        if offset + nr_pages <= end:
            found = offset
            if ci.count == ZERO:
                ci.order = order
            swap_map_fill(si, found, nr_pages, SWAP_IN_USE)
            ci.count += nr_pages
            swap_range_alloc(si, found, nr_pages)
            si.info[0].nr_swap_pages -= nr_pages
            offset += nr_pages
            if ci.count < SWAPFILE_CLUSTER and offset + nr_pages <= end:
                following = offset
    relocate_cluster(si, idx)
    si.percpu_next[cpu, order] = following
    return found


@outline
def alloc_swap_scan_list(si, cpu, which, order, scan_all):
    """Search the first cluster of a list, or each until one has room."""
    head = head_of(si, which)
    found = ZERO
    while found == ZERO:
        idx = isolate_cluster(si, head)
        if idx == head:
            break
        found = alloc_swap_scan_cluster(si, cpu, idx * SWAPFILE_CLUSTER, order)
        if not scan_all:
            break
    return found


@outline
def swap_alloc_fast(si, cpu, order):
    """Go on in the CPU's current cluster, unless it is free, full or another order's by now."""
    offset = U(si.percpu_next[cpu, order])
    if offset == SWAP_NEXT_INVALID:
        return ZERO
    ci = si.cluster_info[offset // SWAPFILE_CLUSTER]
    if ci.flags != CLUSTER_FLAG_NONFULL and ci.flags != CLUSTER_FLAG_FRAG:
        return ZERO
    if order and ci.order != order:
        return ZERO
    return alloc_swap_scan_cluster(si, cpu, offset, order)


@outline
def steal(si, cpu):
    """Take a slot for order 0 from the first list of another order that has one."""
    for other in range(ONE, SWAP_NR_ORDERS):
        for which in (FRAG, NONFULL):
            found = alloc_swap_scan_list(si, cpu, which + other, ZERO, True)
            if found:
                return found
    return ZERO


@outline
def steal_from_fullest(si, cpu):
    """Take a slot for order 0 from the fullest cluster of the other orders: no kernel's way."""
    best = nr = U(len(si.cluster_info))
    for idx in range(nr):
        ci = si.cluster_info[idx]
        listed = ci.flags == CLUSTER_FLAG_NONFULL or ci.flags == CLUSTER_FLAG_FRAG
        if listed and ci.order and (best == nr or ci.count > si.cluster_info[best].count):
            best = idx
    if best == nr:
        return ZERO
    return alloc_swap_scan_cluster(si, cpu, best * SWAPFILE_CLUSTER, ZERO)


@outline
def cluster_alloc_swap_entry(si, cpu, order):
    """Take a range from the lists: nonfull, free, one frag, and for order 0 what others have.

    `stealing` is 0, 1 as in 7.2, or one of the two values above.

    Returns
    -------
    found, path : uint64
        First slot (0: none), and the list that it came from.
    """
    if order < PMD_ORDER:
        found = alloc_swap_scan_list(si, cpu, NONFULL + order, order, True)
        if found:
            return found, FROM_NONFULL
    if order == ZERO and si.info[0].stealing == BEFORE_FREE:
        found = steal(si, cpu)
        if found:
            return found, STEAL
    found = alloc_swap_scan_list(si, cpu, FREE, order, False)
    if found:
        return found, FROM_FREE
    if order < PMD_ORDER:
        found = alloc_swap_scan_list(si, cpu, FRAG + order, order, False)
        if found:
            return found, FROM_FRAG
    if order == ZERO and si.info[0].stealing:
        fullest = si.info[0].stealing == FULLEST
        found = steal_from_fullest(si, cpu) if fullest else steal(si, cpu)
        if found:
            return found, STEAL
    return ZERO, FAIL


@outline
def folio_alloc_swap(si, cpu, order):
    """Take 2^order slots for a folio, each with one use; 0 when there are none."""
    found, path = swap_alloc_fast(si, cpu, order), CURRENT
    if found == ZERO:
        found, path = cluster_alloc_swap_entry(si, cpu, order)
    si.path[path, order] += ONE
    return found


@outline
def cluster_free_entries(si, idx, nr_pages):
    """Count slots of a cluster as free: `__swap_cluster_free_entries()`."""
    ci = si.cluster_info[idx]
    ci.count -= nr_pages
    if ci.count == ZERO:
        move_cluster(si, idx, head_of(si, FREE), CLUSTER_FLAG_FREE)
        ci.order = 0
    elif ci.flags != CLUSTER_FLAG_NONFULL:
        move_cluster(si, idx, head_of(si, NONFULL + ci.order), CLUSTER_FLAG_NONFULL)

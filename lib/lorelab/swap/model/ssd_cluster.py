"""The current cluster of a CPU and order before 6.12: where it comes from, how it is searched.

`scan_swap_map_try_ssd_cluster()` hands out the current cluster's slots. The variants differ in
where the next current cluster comes from (`_next_cluster`), in what a cluster is listed under
when some of it is freed (`dec_cluster_info_page`), and in how the current one is searched. What
asks for slots is in `lorelab.swap.model.scan`, with the sources.
"""

from lorelab.numerics import ONE, ZERO, U, forceinline, outline
from lorelab.swap.model.state import (
    CLUSTER_FLAG_FREE,
    CLUSTER_FLAG_NONFULL,
    CURRENT,
    FAIL,
    FREE,
    FROM_FREE,
    FROM_NONFULL,
    NONFULL,
    OFF_LIST,
    PMD_ORDER,
    SWAP_HAS_CACHE,
    SWAP_NEXT_INVALID,
    SWAPFILE_CLUSTER,
    head_of,
    list_add_tail,
    list_del,
    list_first,
    look_into,
    swap_map_fill,
    swap_range_alloc,
    swap_range_empty,
)


@forceinline
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


@forceinline
def take_range(si, offset, nr_pages, order):
    """Mark `nr_pages` free slots from `offset` as taken, and account them."""
    swap_map_fill(si, offset, nr_pages, SWAP_HAS_CACHE)
    add_cluster_info_page(si, offset, nr_pages, order)
    swap_range_alloc(si, offset, nr_pages)


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
    if not info.nonfull_lists:
        return
    order = U(ci.order)
    if info.promotes:
        order = _promoted_order(si, offset, order)
        if on_list and order != ci.order:
            list_del(si, idx)
            on_list = False
        ci.order = order
    if not on_list:
        list_add_tail(si, idx, head_of(si, NONFULL + order))
        ci.flags = CLUSTER_FLAG_NONFULL


@forceinline
def _promoted_order(si, offset, order):
    # Huang Ying, mid-2024: once an aligned range of the next order is free, the cluster can
    # serve that order, and is listed under it.
    while order + ONE < PMD_ORDER:
        nr_pages = ONE << (order + ONE)
        if not swap_range_empty(si, offset // nr_pages * nr_pages, nr_pages, order):
            break
        order += ONE
    return order


@forceinline
def first_free(si):
    """First cluster of the free list; 0, which holds the header, when the list is empty."""
    head = head_of(si, FREE)
    idx = list_first(si, head)
    return idx if idx != head else ZERO


@forceinline
def _next_cluster(si, order):
    """Where a new current cluster of `order` comes from.

    Returns
    -------
    idx, path : uint64
        Cluster number, 0 when there is none, and the row of `Swap.path`. A free cluster stays at
        the head of its list until the first slot of it is taken.
    """
    info = si.info[0]
    free = first_free(si)
    if free and not info.nonfull_first:
        return free, FROM_FREE
    if info.nonfull_lists:
        last = PMD_ORDER - ONE if info.promotes else order
        for o in range(order, last + ONE):
            head = head_of(si, NONFULL + o)
            idx = list_first(si, head)
            if idx != head:
                list_del(si, idx)
                ci = si.cluster_info[idx]
                ci.flags = OFF_LIST
                ci.order = order
                return idx, FROM_NONFULL
    return (free, FROM_FREE) if free else (ZERO, FAIL)


@forceinline
def scan_swap_map_try_ssd_cluster(si, cpu, order):
    """Offer the next slots of the CPU's current cluster of `order`, and step past them.

    Before 6.10 (v3) an occupied range ends the cluster; from 6.10 (v4) the search goes forward
    to its end. Order 0 searched forward in 6.6 already.

    Returns
    -------
    offset, path : uint64
        First slot, 0 when no cluster is to be had.
    """
    info = si.info[0]
    nr_pages = ONE << order
    path = CURRENT
    while True:
        tmp = U(si.percpu_next[cpu, order])
        if tmp == SWAP_NEXT_INVALID:
            idx, path = _next_cluster(si, order)
            if path == FAIL:
                if info.circular_scan:
                    return _scan_allocated_clusters(si, cpu, order), FROM_NONFULL
                return ZERO, FAIL
            tmp = idx * SWAPFILE_CLUSTER
        look_into(si, tmp, order)
        end = min(info.max, (tmp // SWAPFILE_CLUSTER + ONE) * SWAPFILE_CLUSTER)
        while tmp + nr_pages <= end and not swap_range_empty(si, tmp, nr_pages, order):
            tmp = tmp + nr_pages if info.steps_past else end
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
            look_into(si, idx * SWAPFILE_CLUSTER, order)
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


@forceinline
def scan_swap_map_ssd_cluster_conflict(si, cpu, offset, order):
    """True, and the current cluster dropped, when `offset` lies inside the free list's middle."""
    idx = offset // SWAPFILE_CLUSTER
    free = first_free(si)
    conflict = free and idx != free and si.cluster_info[idx].flags == CLUSTER_FLAG_FREE
    if conflict:
        si.percpu_next[cpu, order] = SWAP_NEXT_INVALID
    return conflict

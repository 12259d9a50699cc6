"""The doors to the allocator, the same for every variant: mm/swap_slots.c of Linux 6.12.

A folio asks for its slots in `folio_alloc_swap()`, which has 64 slots of order 0 ready for each
CPU; a slot is given back in `free_swap_slot()`, which keeps 64 before it returns them. Behind the
caches `get_swap_pages()` and `swap_entry_range_free()` (mm/swapfile.c) lead to the file that has
the variant's clusters. Linux 7.2 has no caches, and passes them by.
"""

from lorelab.numerics import ONE, ZERO, U, forceinline, outline
from lorelab.swap.model import scan, ssd_cluster, v6_12, v7_2
from lorelab.swap.model.state import (
    FAIL,
    SWAP_BATCH,
    SWAP_HAS_CACHE,
    SWAP_IN_USE,
    SWAPFILE_CLUSTER,
    swap_map_fill,
    swap_range_free,
)
from lorelab.swap.params import Allocator

SSD_CLUSTER = U(Allocator.SSD_CLUSTER)
V7_2 = U(Allocator.V7_2)
THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE = U(5) * SWAP_BATCH
THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE = U(2) * SWAP_BATCH


@forceinline
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
    elif info.allocator == SSD_CLUSTER or info.nr_clusters == ZERO:
        n_ret = scan.alloc_by_scan(si, cpu, n_goal, slots, order)
    else:
        while n_ret < n_goal:
            offset = v6_12.cluster_alloc_swap_entry(si, cpu, order)
            if offset == ZERO:
                break
            slots[n_ret] = offset
            n_ret += ONE
    info.nr_swap_pages += (n_goal - n_ret) * size
    return n_ret


@forceinline
def swap_entry_range_free(si, offset, nr_pages):
    """Give back a range inside one cluster, past the free cache (mm/swapfile.c)."""
    swap_map_fill(si, offset, nr_pages, 0)
    if si.info[0].allocator == V7_2:
        v7_2.cluster_free_entries(si, offset // SWAPFILE_CLUSTER, nr_pages)
    elif si.info[0].allocator == SSD_CLUSTER:
        ssd_cluster.dec_cluster_info_page(si, offset, nr_pages)
    else:
        v6_12.dec_cluster_info_page(si, offset // SWAPFILE_CLUSTER, nr_pages)
    swap_range_free(si, offset, nr_pages)


@forceinline
def _use_swap_slot_cache(si):
    return si.info[0].swap_slot_cache_enabled and si.info[0].swap_slot_cache_active


@forceinline
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


@forceinline
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
    if si.info[0].allocator == V7_2:
        return v7_2.folio_alloc_swap(si, cpu, order)
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


@forceinline
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


@forceinline
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

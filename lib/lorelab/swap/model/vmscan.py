"""Reclaim of a memory cgroup of partly mapped folios: how many a pass takes, and who splits them.

`shrink_folio_list()` splits a partly mapped folio on its way to swap. The shrinker of the deferred
split queue, `deferred_split_scan()`, does so too, and reclaim calls it after every pass over the
LRU. Which of the two meets a folio first follows from priorities, list lengths and the shrinker's
account of deferred work alone: mm/vmscan.c, mm/shrinker.c, mm/huge_memory.c of Linux 6.12, from
`memory_reclaim()` (mm/memcontrol.c) down.

         oldest                                newest
    LRU  [16 pages] [16 pages] [16 pages] ... [16 pages]    shrink_lruvec(): a share, then
    queue    1          2          3      ...     n         shrink_slab(): all, or 128, or none

The cgroup holds the folios of one process and nothing else that reclaim could take: all of one
order, old, inactive, queued for a split, in the order of their addresses on both lists. What is
simplified:

- `lru_note_cost()` compares with a size of the list that the kernel refreshes every two seconds or
  so (`mem_cgroup_flush_stats_ratelimited()`); here it is up to date. It decides when the cost is
  halved, and so, as no file page is there, only how `get_scan_count()` rounds.
- No zone, no other cgroup, no protection, no active list: none comes into play.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import forceinline, outline
from lorelab.swap.model.reclaim import SWAP_CLUSTER_MAX, Folio, shrink_folio, unmap_folio
from lorelab.swap.model.state import Swap

DEF_PRIORITY = 12
SWAPPINESS, MAX_SWAPPINESS = 60, 200
"""`vm_swappiness` as it boots, and what would leave file pages alone (mm/vmscan.c)."""
MAX_RECLAIM_RETRIES = 16
SHRINK_BATCH = 128
DEFAULT_SEEKS = 2

STATE = np.dtype(
    [
        ("oldest", "i8"),  # of the LRU, the first folio that has pages on it
        ("lru_size", "i8"),  # pages
        ("anon_cost", "i8"),
        ("split_queue_len", "i8"),
        ("nr_deferred", "i8"),  # work that the shrinker has put off
        ("shrinker_splits", "i8"),  # folios that it has split
    ]
)


class Cgroup(NamedTuple):
    """Folios in the order of their addresses, what each costs, and the state of their reclaim."""

    large: np.ndarray
    """(folios,) bool: on the LRU in one piece, and on the deferred split queue."""
    left: np.ndarray
    """(folios,) int64, pages on the LRU."""
    state: np.ndarray
    """(1,) STATE"""
    folio: Folio
    """What they are before they are split."""
    elsewhere: bool
    """Their process runs on another CPU, so that flushes may be deferred."""


def cgroup(folios: int, folio: Folio, elsewhere: bool) -> Cgroup:
    """A cgroup nothing of which has been reclaimed."""
    state = np.zeros(1, STATE)
    state["lru_size"] = folios << folio.order
    state["split_queue_len"] = folios
    left = np.full(folios, 1 << folio.order, np.int64)
    return Cgroup(np.ones(folios, np.bool_), left, state, folio, elsewhere)


@forceinline
def lru_note_cost(state, nr_io, nr_rotated):
    """Add to the cost of reclaiming anonymous pages; halve it past a quarter of the list."""
    state.anon_cost += nr_io * SWAP_CLUSTER_MAX + nr_rotated
    if state.anon_cost > state.lru_size // 4:
        state.anon_cost //= 2


@forceinline
def get_scan_count(state, priority):
    """Pages of the inactive list to scan: at priority 0 all, else its share beside file pages.

    That there are no file pages doesn't change the share.
    """
    scan = state.lru_size >> priority
    if priority == 0:
        return scan
    total_cost = state.anon_cost
    anon_cost, file_cost = total_cost + state.anon_cost, total_cost
    total_cost = anon_cost + file_cost
    ap = SWAPPINESS * (total_cost + 1) // (anon_cost + 1)
    fp = (MAX_SWAPPINESS - SWAPPINESS) * (total_cost + 1) // (file_cost + 1)
    return scan * ap // (ap + fp)


@outline
def shrink_inactive_list(si, memcg, nr_to_scan, plug, count):
    """Take folios off the old end until `nr_to_scan` pages are, and write them; pages reclaimed.

    Of a folio split on the way the pages that nothing maps are freed too, but with the list that
    reclaim puts back (`move_folios_to_lru()`), so that it does not count them.
    """
    state, folio = memcg.state[0], memcg.folio
    scanned = reclaimed = 0
    while scanned < nr_to_scan and state.lru_size > 0:
        oldest = state.oldest
        whole = memcg.large[oldest]
        order = folio.order if whole else 0
        mapped = folio.mapped if whole else 1
        split = whole and folio.eager_split
        one = Folio(order, mapped, split, folio.batched)
        shrink_folio(si, 0, one, memcg.elsewhere, plug, count)
        if whole:
            memcg.large[oldest] = False
            state.split_queue_len -= 1
        memcg.left[oldest] -= 1 << order
        if memcg.left[oldest] == 0:
            state.oldest += 1
        state.lru_size -= 1 << order
        scanned += 1 << order
        reclaimed += mapped if split else 1 << order
    if scanned > 0:
        lru_note_cost(state, scanned, scanned - reclaimed)
    return reclaimed


@forceinline
def shrink_lruvec(si, memcg, nr_to_reclaim, priority, plug, count):
    """Scan the priority's share of the list, 32 pages at a time, until enough is reclaimed."""
    nr = get_scan_count(memcg.state[0], priority)
    reclaimed = 0
    while nr > 0 and reclaimed < nr_to_reclaim:
        nr_to_scan = min(nr, SWAP_CLUSTER_MAX)
        nr -= nr_to_scan
        reclaimed += shrink_inactive_list(si, memcg, nr_to_scan, plug, count)
    return reclaimed


@outline
def deferred_split_scan(memcg, nr_to_scan, count):
    """Split the first `nr_to_scan` folios of the queue; how many there were.

    No list is given to the split, so pages that nothing maps are freed at once, without a slot.
    """
    state, folio = memcg.state[0], memcg.folio
    split = 0
    place = state.oldest
    while split < nr_to_scan and state.split_queue_len > 0:
        if memcg.large[place]:
            unmap_folio(folio, memcg.elsewhere, count)
            memcg.large[place] = False
            memcg.left[place] = folio.mapped
            state.lru_size -= (1 << folio.order) - folio.mapped
            state.split_queue_len -= 1
            split += 1
        place += 1
    state.shrinker_splits += split
    return split


@forceinline
def do_shrink_slab(memcg, priority, count):
    """Have the queue scanned if that is enough work at once, else put it off (`nr_deferred`)."""
    state = memcg.state[0]
    freeable = state.split_queue_len
    if freeable == 0:
        return
    nr = state.nr_deferred
    delta = (freeable >> priority) * 4 // DEFAULT_SEEKS
    total_scan = min((nr >> priority) + delta, 2 * freeable)
    scanned = 0
    while total_scan >= SHRINK_BATCH or total_scan >= freeable:
        nr_to_scan = min(SHRINK_BATCH, total_scan)
        if deferred_split_scan(memcg, nr_to_scan, count) == 0:
            break  # SHRINK_STOP: the queue is empty
        total_scan -= nr_to_scan
        scanned += nr_to_scan
    state.nr_deferred = min(max(nr + delta - scanned, 0), 2 * freeable)


@outline
def try_to_free_mem_cgroup_pages(si, memcg, nr_pages, plug, count):
    """From the lowest priority to the highest, until 32 pages, or `nr_pages`, are reclaimed.

    When nothing was, `do_try_to_free_pages()` does it all once more (`memcg_full_walk`).
    """
    nr_to_reclaim = max(nr_pages, SWAP_CLUSTER_MAX)
    reclaimed = 0
    for _ in range(2):
        for priority in range(DEF_PRIORITY, -1, -1):
            reclaimed += shrink_lruvec(si, memcg, nr_to_reclaim, priority, plug, count)
            do_shrink_slab(memcg, priority, count)
            if reclaimed >= nr_to_reclaim:
                break
        if reclaimed > 0:
            break
    return reclaimed


def memory_reclaim(
    si: Swap, memcg: Cgroup, nr_to_reclaim: int, plug: np.ndarray, count: np.ndarray
) -> bool:
    """A write to memory.reclaim; False = EAGAIN, not that many pages could be reclaimed.

    Parameters
    ----------
    si : Swap
        Device with room for all of the cgroup.
    memcg : Cgroup
    nr_to_reclaim : int
        Pages.
    plug, count
        As `lorelab.swap.model.reclaim.shrink_folio` has them.
    """
    retries = MAX_RECLAIM_RETRIES
    nr_reclaimed = 0
    while nr_reclaimed < nr_to_reclaim:
        batch_size = (nr_to_reclaim - nr_reclaimed) // 4
        reclaimed = try_to_free_mem_cgroup_pages(si, memcg, batch_size, plug, count)
        if reclaimed == 0:
            if retries == 0:
                return False
            retries -= 1
        nr_reclaimed += reclaimed
    return True

"""The load of `swap/mixed`: folios of several orders with lifetimes, from tasks that change CPU.

First the device is filled; then, for as long as asked, one folio is swapped out a tick, and what
is due that tick is freed. A folio that gets no range of its order is split, and its pages are
swapped out one by one (shrink_folio_list(), mm/vmscan.c); a page that gets no slot stays in
memory. The load is open: which task swaps out which order, and when it comes back, depends on the
seed alone and never on the allocator, so every variant is given the same folios.

A folio comes back whole (zap, or a swap-in of all of it), or, with chance `paged`, page by page,
each page with a lifetime of its own (a swap-in of order 0). Filling draws what is left of the
lifetimes of a load that has gone on for ever, so the device stays as full as `fill` says.

        calendar    one entry a bucket of ticks: first folio that is due then
        following   one entry a slot: next folio due in the same bucket
                    an entry is slot << 4 | order, 0 is none

Simplifications, and what each changes:

- Lifetimes come from a table of 4096 quantiles; the longest of them is bounded.
- On devices whose longest lifetime exceeds 2^22 ticks (about 64 GiB), a bucket holds several
  ticks, and what is due in it is freed at its start.
- A free is made on the CPU of a task drawn anew: CPUs matter to the free cache alone.
"""

import math
from typing import NamedTuple

import numpy as np

from lorelab.numerics import GOLDEN, ONE, ZERO, U, forceinline, outline, splitmix64
from lorelab.swap.model.state import SWAPFILE_CLUSTER, Swap, swapon
from lorelab.swap.model.swap_slots import (
    folio_alloc_swap,
    free_swap_and_cache_nr,
    free_swap_slot,
)
from lorelab.swap.params import Mixed, order_weights

QUANTILES = 4096
RANKS = 256
BUCKETS = 1 << 22

# What a random number is for; pages of a folio take the numbers from PAGE on.
ORDER, TASK, MIGRATE, CPU, PAGED, PAGE = (U(i) for i in range(6))
NUMBERS = U(1024)

SETTINGS = (
    "seed",
    "migration",  # of 2^32
    "paged",  # of 2^32
    "width",  # ticks a bucket
    "now",  # ticks since the device was filled
)
COUNTED = (
    "folios",  # drawn so far
    "held",  # slots that folios hold
    "written",  # slots given to folios so far
    "freed",
    "failed",  # pages that got no slot
    "runs",  # rows of slots that one task wrote in one go
    "copied",  # slots that the device had to move before writing
    "free_at_enospc",  # slots no folio held when order 0 first failed
)
TOTALS = np.dtype([(name, "u8") for name in (*SETTINGS, *COUNTED)])
BLOCK = np.dtype([("held", "u2"), ("pointer", "u2")])


class Load(NamedTuple):
    """What swaps out, what is due when, and what was counted."""

    totals: np.ndarray  # (1,) TOTALS
    odds: np.ndarray  # (10,) u8: chance of this order or a lower one, of 2^32
    lifetimes: np.ndarray  # (4096,) u8: quantiles, in ticks
    residuals: np.ndarray  # (4096,) u8: the same, weighted by length
    calendar: np.ndarray  # (buckets,) u4
    following: np.ndarray  # (slots,) u4
    cpu: np.ndarray  # (tasks,) u8: where each task runs
    end: np.ndarray  # (tasks, 10) u8: slot after the last one each task wrote, by order
    blocks: np.ndarray  # (clusters,) BLOCK: slots that folios hold, and the write pointer
    swpout: np.ndarray  # (10,) u8: folios that got their range; order 0 counts split ones' pages
    fallback: np.ndarray  # (10,) u8: folios that got none
    held_at_failure: np.ndarray  # (10,) u8: slots held, plus 1, when the order first failed


def lifetimes(shape: str, mean: float) -> np.ndarray:
    """Quantiles of lifetimes.

    Parameters
    ----------
    shape : str
        `zipf`: 256 kinds of folios, equally many, the k-th living 1/k as long as the first.
        `exponential`: the chance to come back is the same at any age.
    mean : float
        In ticks.

    Returns
    -------
    (4096,) uint64 array
        Ticks, ascending.
    """
    middles = [(i + 0.5) / QUANTILES for i in range(QUANTILES)]
    if shape == "zipf":
        harmonic = sum(1 / rank for rank in range(1, RANKS + 1)) / RANKS
        of_mean = [1 / (RANKS - int(q * RANKS)) / harmonic for q in middles]
    else:
        of_mean = [-math.log(1 - q) for q in middles]
    return np.array([round(mean * x) for x in of_mean], np.uint64)


def new_load(params: Mixed) -> Load:
    """Lay out the load of a run; nothing has been swapped out yet."""
    slots = params.device_mib << 8
    weights = order_weights(params.orders)
    pages_each = mean_pages(weights)
    odds, below = np.zeros(10, np.uint64), 0.0
    for order in range(10):
        below += weights.get(order, 0) / sum(weights.values()) * pages_each / (1 << order)
        odds[order] = round(below * 2**32)
    odds[max(weights) :] = 2**32
    life = lifetimes(params.lifetimes, params.fill * slots / pages_each)
    shares = np.cumsum(life) / life.sum()
    middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    width = max(1, -(-int(life[-1]) // BUCKETS))
    totals = np.zeros(1, TOTALS)
    # Seeds that follow each other must not draw the same numbers one place on.
    totals["seed"] = params.seed * 0xD1342543DE82EF95 % 2**64
    totals["migration"] = round(params.migration * 2**32)
    totals["paged"] = round(params.paged * 2**32)
    totals["width"] = width
    return Load(
        totals=totals,
        odds=odds,
        lifetimes=life,
        residuals=life[np.searchsorted(shares, middles)],
        calendar=np.zeros(int(life[-1]) // width + 2, np.uint32),
        following=np.zeros(slots, np.uint32),
        cpu=np.arange(params.tasks, dtype=np.uint64) % U(params.cpus),
        end=np.zeros((params.tasks, 10), np.uint64),
        blocks=np.zeros(slots >> 9, BLOCK),
        swpout=np.zeros(10, np.uint64),
        fallback=np.zeros(10, np.uint64),
        held_at_failure=np.zeros(10, np.uint64),
    )


def mean_pages(weights: dict[int, int]) -> float:
    """Pages a folio: weights share out pages, an order's share of the folios is less by 2^order."""
    return sum(weights.values()) / sum(w / (1 << order) for order, w in weights.items())


@forceinline
def _random(load, folio, number):
    # splitmix64 of a counter: the n-th number of a folio is the same whatever came before it.
    return splitmix64((load.totals[0].seed + folio * NUMBERS + number + ONE) * GOLDEN)


@forceinline
def _below(word, limit):
    return ((word >> U(32)) * limit) >> U(32)


@forceinline
def _program(load, offset, nr_pages):
    # A device that erases blocks of one cluster, and programs each in ascending order. To write
    # below the write pointer it first moves what the block holds to an erased one.
    block = load.blocks[offset // SWAPFILE_CLUSTER]
    if offset % SWAPFILE_CLUSTER < block.pointer:
        load.totals[0].copied += U(block.held)
    block.pointer = offset % SWAPFILE_CLUSTER + nr_pages
    block.held += nr_pages


@forceinline
def _write(si, load, task, order):
    totals = load.totals[0]
    offset = folio_alloc_swap(si, load.cpu[task], order)
    if offset == ZERO:
        load.fallback[order] += ONE
        if load.held_at_failure[order] == ZERO:
            load.held_at_failure[order] = totals.held + ONE
            if order == ZERO:
                totals.free_at_enospc = si.info[0].pages - totals.held
        totals.failed += order == ZERO
        return ZERO
    nr_pages = ONE << order
    load.swpout[order] += ONE
    totals.held += nr_pages
    totals.written += nr_pages
    if offset != load.end[task, order]:
        totals.runs += ONE
    load.end[task, order] = offset + nr_pages
    _program(load, offset, nr_pages)
    return offset


@forceinline
def _schedule(load, offset, order, word, filling):
    # Enter the folio in the calendar for when its lifetime ends.
    totals = load.totals[0]
    i = word & U(QUANTILES - 1)
    ticks = _below(word, load.residuals[i]) if filling else load.lifetimes[i]
    bucket = (totals.now // totals.width + ONE + ticks // totals.width) % U(len(load.calendar))
    load.following[offset] = load.calendar[bucket]
    load.calendar[bucket] = offset << U(4) | order


@forceinline
def _swap_out(si, load, filling):
    totals = load.totals[0]
    folio = totals.folios
    totals.folios += ONE
    task = _below(_random(load, folio, TASK), U(len(load.cpu)))
    if _random(load, folio, MIGRATE) >> U(32) < totals.migration:
        load.cpu[task] = _below(_random(load, folio, CPU), U(len(si.n_ret)))
    order = ZERO
    word = _random(load, folio, ORDER) >> U(32)
    while word >= load.odds[order]:
        order += ONE
    paged = _random(load, folio, PAGED) >> U(32) < totals.paged
    page, left = ZERO, ONE
    while left:
        offset = _write(si, load, task, order)
        if offset == ZERO and order:
            left = ONE << order
            order = ZERO
            continue
        # The pages of a folio that comes back page by page have a lifetime each.
        pieces = ONE << order if paged else ONE
        nr_order = ZERO if paged else order
        for i in range(pieces if offset else ZERO):
            number = PAGE + page + i if paged else PAGE
            _schedule(load, offset + i, nr_order, _random(load, folio, number), filling)
        page += ONE
        left -= ONE


@forceinline
def _swap_in(si, load):
    # Free what is due: all of a bucket's folios when its first tick comes.
    totals = load.totals[0]
    if totals.now % totals.width:
        return
    bucket = totals.now // totals.width % U(len(load.calendar))
    entry = U(load.calendar[bucket])
    load.calendar[bucket] = 0
    while entry:
        offset = entry >> U(4)
        nr_pages = ONE << (entry & U(15))
        block = load.blocks[offset // SWAPFILE_CLUSTER]
        block.held -= nr_pages
        if block.held == ZERO:
            block.pointer = 0
        totals.held -= nr_pages
        totals.freed += nr_pages
        cpu = load.cpu[_below(_random(load, entry, CPU), U(len(load.cpu)))]
        entry = U(load.following[offset])
        if nr_pages == ONE:
            free_swap_slot(si, cpu, offset)
        else:
            free_swap_and_cache_nr(si, cpu, offset, nr_pages)


@outline
def run(si, load, folios, filling):
    """Swap out `folios` folios.

    Parameters
    ----------
    si : Swap
    load : Load
    folios : uint64
    filling : bool
        Nothing comes back, and no time goes by. Otherwise a tick goes by with each folio, and
        what is due is freed.
    """
    for _ in range(folios):
        if not filling:
            load.totals[0].now += ONE
            _swap_in(si, load)
        _swap_out(si, load, filling)


@outline
def _folio_orders(load, orders):
    for entry in load.calendar:
        left = U(entry)
        while left:
            offset = left >> U(4)
            orders[offset : offset + (ONE << (left & U(15)))] = left & U(15)
            left = U(load.following[offset])


def folio_orders(load: Load) -> np.ndarray:
    """Order of the folio in each slot, -1 for none; one that returns by pages counts as order 0s.

    Returns
    -------
    (slots,) int8 array
    """
    orders = np.full(len(load.following), -1, np.int8)
    _folio_orders(load, orders)
    return orders


def start(params: Mixed) -> tuple[Swap, Load]:
    """A fresh device and the load that is to come."""
    si = swapon(
        params.device_mib << 8,
        params.variant,
        cpus=params.cpus,
        stealing=params.stealing,
        slot_cache=params.slot_cache,
        free_cache=params.free_cache,
        rotational=params.rotational,
    )
    return si, new_load(params)

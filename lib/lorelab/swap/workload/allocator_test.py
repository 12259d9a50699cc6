"""The kernel's own test of the slot allocator, and what it does to it.

tools/mm/thp_swap_allocator_test.c (Linux 6.12) fills 60 MiB with 64 KiB folios, and with `-s`
another 4 MiB with 4 KiB pages, swaps all of it out, and then, iteration by iteration: writes to
random places (swap-in), drops random 64 KiB pieces and writes them anew, and swaps everything
out again. It counts the 64 KiB folios that went out whole and those that had to be split.

The processor side follows mm/memory.c, mm/madvise.c and mm/vmscan.c of 6.12, whatever the
variant of the allocator: one task, memory to spare, no other order enabled.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import ONE, ZERO, U, njit
from lorelab.progress import track
from lorelab.swap.model.state import FAIL, Swap, swapon
from lorelab.swap.model.swap_slots import (
    folio_alloc_swap,
    free_swap_and_cache_nr,
    free_swap_slot,
)
from lorelab.swap.params import AllocatorTest
from lorelab.swap.workload.task import (
    LARGE,
    NONE,
    SMALL,
    Task,
    call_rand,
    cpu_of,
    folio_add_lru,
    folio_test_lru,
    lru_add_drain,
    start,
)

MTHP_ORDER = U(4)
MTHP_PAGES = U(16)
MEMSIZE_MTHP = U(60 << 20 >> 12)  # pages
MEMSIZE_SMALLFOLIO = U(4 << 20 >> 12)
TOTAL_DONTNEED_MTHP = U(16 << 20 >> 12)
TOTAL_DONTNEED_SMALLFOLIO = U(1 << 20 >> 12)

STATS = np.dtype([("swpout", "u8"), ("swpout_fallback", "u8")])
"""Folios of 64 KiB that went out whole, and that had to be split."""
BUCKETS = 65
"""Of a histogram of 64-bit values: 0, then one for each number of bits."""


class Seen(NamedTuple):
    """What the probes alloc and reuse of lib/kernel/swap/probes see of a run."""

    read: np.ndarray
    """(10, 65): calls of get_swap_pages(), by order and slots of swap_map read."""
    waits: np.ndarray
    """(10, 65): slots taken again, by order and swap-outs since they were last taken."""
    uses: np.ndarray
    """(slots,): number of the swap-out that took a slot last, from 1."""
    swapouts: np.ndarray
    """(1,): swap-outs so far."""


class Area(NamedTuple):
    """Memory of one process that the test uses in one way."""

    pte: np.ndarray
    """(pages,) uint64: page table entries (see `lorelab.swap.workload.task`)."""
    thp: bool
    """64 KiB folios may be had here."""


class Tool(NamedTuple):
    """The process: its memory, its options, and the kernel that it runs on."""

    mem1: Area
    """Of 64 KiB folios."""
    mem2: Area
    """Of small pages; empty without `-s`."""
    rand: np.ndarray
    """(32,) uint64: state of `srand`."""
    aligned_swapin: bool
    large_swapin: bool
    tails_reversed: bool


@njit
def srand(seed):
    """State of glibc's rand() after srand(seed): its additive feedback generator, degree 31.

    Returns
    -------
    (34,) uint64 array
        31 words, and the place of the front pointer (stdlib/random_r.c of glibc).
    """
    state = np.zeros(32, np.uint64)
    word = np.int64(seed if seed else 1)
    if word >= 1 << 31:
        word -= 1 << 32
    state[0] = U(word & 0xFFFFFFFF)
    for i in range(1, 31):
        # 16807 * word mod (2^31 - 1) without overflow, signed as glibc does it.
        high = np.int64(word / 127773.0)
        word = 16807 * (word - high * 127773) - 2836 * high
        if word < 0:
            word += 2147483647
        state[i] = U(word)
    for _ in range(310):
        rand(state)
    return state


@njit
def rand(state):
    """Next number of glibc's rand(), 0 to 2^31 - 1."""
    rear = state[31]
    front = (rear + U(3)) % U(31)
    state[front] = (state[front] + state[rear]) & U(0xFFFFFFFF)
    state[31] = (rear + ONE) % U(31)
    return state[front] >> ONE


@njit
def _swap_in(si, task, area, page, large_swapin):
    # do_swap_page() for a synchronous device: the folio is read past the swap cache, and its
    # slots go through the free cache one by one (swapcache_clear()). alloc_swap_folio() takes
    # the whole 64 KiB when the 16 entries lie in a row and the first is aligned.
    cpu, pte = cpu_of(task), area.pte
    first = page // MTHP_PAGES * MTHP_PAGES
    whole = large_swapin and area.thp and pte[first] % MTHP_PAGES == ZERO
    if whole:
        for i in range(MTHP_PAGES):
            if pte[first + i] != pte[first] + i or pte[first + i] >= SMALL:
                whole = False
                break
    if whole:
        offset = pte[first]
        for i in range(MTHP_PAGES):
            free_swap_slot(si, cpu, offset + i)
            pte[first + i] = LARGE
        lru_add_drain(task)
    else:
        free_swap_slot(si, cpu, pte[page])
        pte[page] = folio_add_lru(task)


@njit
def _touch(si, task, area, page, nr_pages, large_swapin):
    # memset(): do_anonymous_page() gives a 64 KiB folio when none of its 16 entries is in use.
    pte = area.pte
    for p in range(page, page + nr_pages):
        if pte[p] == NONE:
            first = p // MTHP_PAGES * MTHP_PAGES
            if area.thp and not np.any(pte[first : first + MTHP_PAGES]):
                pte[first : first + MTHP_PAGES] = LARGE
                lru_add_drain(task)
            else:
                pte[p] = folio_add_lru(task)
        elif pte[p] < SMALL:
            _swap_in(si, task, area, p, large_swapin)


@njit
def _madvise_dontneed(si, task, pte, page, nr_pages):
    # zap_pte_range(): entries whose slots lie in a row are freed together (swap_pte_batch()).
    p = page
    end = page + nr_pages
    while p < end:
        batch = ONE
        if pte[p] != NONE and pte[p] < SMALL:
            while p + batch < end and pte[p + batch] == pte[p] + batch:
                batch += ONE
            free_swap_and_cache_nr(si, cpu_of(task), pte[p], batch)
        pte[p : p + batch] = NONE
        p += batch


@njit
def bucket(value):
    """Number of bits of a value."""
    bits = ZERO
    while value:
        value >>= ONE
        bits += ONE
    return bits


@njit
def _swap_out(si, task, order, seen):
    # folio_alloc_swap(), watched. A call of get_swap_pages() that reads nothing fails: no slot is
    # left. folio_alloc_swap() then makes two, one to fill its cache.
    before, failed = si.scanned[order], si.path[FAIL, order]
    offset = folio_alloc_swap(si, cpu_of(task), order)
    read = si.scanned[order] - before
    seen.read[order, bucket(read)] += ONE if read else si.path[FAIL, order] - failed
    if offset:
        seen.swapouts[0] += ONE
        for slot in range(offset, offset + (ONE << order)):
            if seen.uses[slot]:
                seen.waits[order, bucket(seen.swapouts[0] - seen.uses[slot])] += ONE
            seen.uses[slot] = seen.swapouts[0]
    return offset


@njit
def _page_out(si, task, pte, page, seen):
    # A page that gets no slot stays, on the LRU lists.
    if SMALL <= pte[page] < LARGE and folio_test_lru(task, pte[page]):
        offset = _swap_out(si, task, ZERO, seen)
        if offset:
            pte[page] = offset


@njit
def _madvise_pageout(si, task, pte, tails_reversed, stats, seen):
    # shrink_folio_list(), in address order: a large folio that gets no slots is split, and its
    # pages follow at once, the head first. The split adds the tails at that end of the list from
    # which the next folio is taken: in 6.12 the last tail first (__split_huge_page()), so that they
    # go out in order, in 7.2 the first one first (__folio_freeze_and_split_unmapped()).
    lru_add_drain(task)
    page = ZERO
    pages = U(len(pte))
    while page < pages:
        if pte[page] == LARGE:
            offset = _swap_out(si, task, MTHP_ORDER, seen)
            if offset:
                for i in range(MTHP_PAGES):
                    pte[page + i] = offset + i
                page += MTHP_PAGES
                stats[0].swpout += ONE
                continue
            stats[0].swpout_fallback += ONE
            pte[page : page + MTHP_PAGES] = SMALL
            for i in range(MTHP_PAGES):
                tail = (MTHP_PAGES - i) % MTHP_PAGES if tails_reversed else i
                _page_out(si, task, pte, page + tail, seen)
            page += MTHP_PAGES
            continue
        _page_out(si, task, pte, page, seen)
        page += ONE


@njit
def random_swapin(si, task, tool, area, align, total):
    """Write to `total / align` random places of `align` pages each."""
    for _ in range(total // align):
        call_rand(task)
        page = rand(tool.rand) % (U(len(area.pte)) // align) * align
        _touch(si, task, area, page, align, tool.large_swapin)


@njit
def random_madvise_dontneed(si, task, tool, area, align, total):
    """Drop, and write anew, `total / align` random places of `align` pages each."""
    for _ in range(total // align):
        call_rand(task)
        page = rand(tool.rand) % (U(len(area.pte)) // align) * align
        _madvise_dontneed(si, task, area.pte, page, align)
        _touch(si, task, area, page, align, tool.large_swapin)


@njit
def warm_up(si, task, tool, stats, seen):
    """Fill both areas and swap them out.

    Parameters
    ----------
    si : Swap
    task : Task
    tool : Tool
    stats : (1,) STATS array
        Receives what went out.
    seen : Seen
        Receives what probes would see.
    """
    for area in (tool.mem1, tool.mem2):
        _touch(si, task, area, ZERO, U(len(area.pte)), False)
        _madvise_pageout(si, task, area.pte, tool.tails_reversed, stats, seen)


@njit
def iterate(si, task, tool, stats, seen):
    """Run one iteration of the test's loop; parameters as of `warm_up`."""
    step = MTHP_PAGES if tool.aligned_swapin else ONE
    random_swapin(si, task, tool, tool.mem1, step, TOTAL_DONTNEED_MTHP)
    random_madvise_dontneed(si, task, tool, tool.mem1, MTHP_PAGES, TOTAL_DONTNEED_MTHP)
    if len(tool.mem2.pte):
        random_swapin(si, task, tool, tool.mem2, ONE, TOTAL_DONTNEED_SMALLFOLIO)
    _madvise_pageout(si, task, tool.mem1.pte, tool.tails_reversed, stats, seen)
    _madvise_pageout(si, task, tool.mem2.pte, tool.tails_reversed, stats, seen)


@njit
def begin(slots, seed, aligned_swapin, small_folios, large_swapin, tails_reversed):
    """Make the process of a run, and what is counted of it: a `Tool` and a `Seen`."""
    small = np.int64(MEMSIZE_SMALLFOLIO) if small_folios else 0
    tool = Tool(
        Area(np.zeros(np.int64(MEMSIZE_MTHP), np.uint64), bool(1)),
        Area(np.zeros(small, np.uint64), bool(0)),
        srand(seed),
        aligned_swapin,
        large_swapin,
        tails_reversed,
    )
    seen = Seen(
        np.zeros((10, BUCKETS), np.uint64),
        np.zeros((10, BUCKETS), np.uint64),
        np.zeros(slots, np.uint64),
        np.zeros(1, np.uint64),
    )
    return tool, seen


def rand_calls(options: str) -> int:
    """Calls of rand() in one iteration; with so many the kernel's tool can be told when to end."""
    step = MTHP_PAGES if "-a" in options else ONE
    small = TOTAL_DONTNEED_SMALLFOLIO if "-s" in options else ZERO
    return int(TOTAL_DONTNEED_MTHP // step + TOTAL_DONTNEED_MTHP // MTHP_PAGES + small)


class Ran(NamedTuple):
    """A run of the model that is over."""

    si: Swap
    iterations: np.ndarray
    """(iterations,) STATS, the warm-up left out."""
    seen: Seen


def run(params: AllocatorTest, name: str, task: Task | None = None) -> Ran:
    """Run the model; `task`, by default one that moves as `params` says, has its own CPUs."""
    task = task or start(params.cpus, params.move_every)
    si = swapon(
        params.device_mib << 8,
        params.variant,
        cpus=params.cpus,
        slot_cache=params.slot_cache,
        free_cache=params.free_cache,
        stealing=params.stealing,
        rotational=params.rotational,
        batched_zap=params.batched_zap,
        alloc_mode=params.alloc_mode,
    )
    tool, seen = begin(
        len(si.swap_map),
        params.seed,
        "-a" in params.options,
        "-s" in params.options,
        params.large_swapin,
        params.tails_reversed,
    )
    stats = np.zeros(1 + params.iterations, STATS)
    for step in track(range(1 + params.iterations), f"{name}: iterations"):
        advance = iterate if step else warm_up
        advance(si, task, tool, stats[step : step + 1], seen)
    return Ran(si, stats[1:], seen)

"""The memory that DAMON watches: who touches what between a clear and a check of accessed bits.

DAMON clears the accessed bit of one page a region, waits, and looks at it again; what else happened
to that bit, or to the bits of other pages, has no effect. So no bit is stored. The watched program
is masim's loop (see `lorelab.damon.workload.masim`), and an interval is, for each of its access
patterns, an arc of the places it goes round: whether a page was touched follows in constant time,
and a run costs by regions and not by memory.

        places of a pattern   0   1   2   3   4  ...  around - 1   (stride bytes apart)
        touched                       [first, n accesses  )
        seen (a TLB miss)             [first, head )       [again, tail )

An access sets the accessed bit only on a TLB miss. The TLB holds `tlb` pages, least recently
used first out; a pattern that goes round more pages than that misses every time, one that goes
round fewer misses on its first lap after a flush, and never again. A flush of all of it comes
every `switch_us` (a context switch). With `tlb` 0 every access is seen, as if DAMON flushed the
page after clearing its bit. The page idle flag, which DAMON sets with the clear, is left alone by
everybody else here, so it says what the accessed bit says (mm/damon/ops-common.c, vaddr.c).

In a range mapped by a huge page one bit, that of the PMD, stands for 2 MiB.

The program's own pages are there too: its loop's code, touched all the time; stack and table of
patterns, touched as masim looks at the clock and draws; its log, an entry as the pattern changes.

Simplifications: an own page is found in the TLB unless that was flushed or the pattern overfills
it; two patterns that together overfill the TLB evict each other whole at a change of batch; entries
of huge pages are counted as those of small ones; below a page's stride, the page in which an
interval or a lap begins counts as missed; the program runs all the time.
"""

from typing import NamedTuple

import numpy as np

from lorelab.damon.params import ALONE
from lorelab.numerics import GOLDEN, ONE, PAGE, ZERO, U, njit, splitmix64

PAGE_SIZE = U(PAGE)
PMD_SIZE = U(2 << 20)
BATCH = U(131_072)  # accesses masim makes before it looks at the clock (do_access())
# Page flags of `Pages.flags`.
RESIDENT, SWAPPED, ADVISED, HUGE = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
BATCHED = np.uint8(16)  # not on an LRU list yet
PAGEVEC_SIZE = 31  # new pages that go on an LRU list together (folio_add_lru())

PATTERN = np.dtype(
    [
        (name, "u8")
        for name in (
            "start",  # address of the region; need not be aligned
            "sz",
            "stride",
            "random",
            "prob_start",  # of the phase's total_probability
            "probability",
            "at",  # place of the last access
            "since",  # accesses since the pattern's pages last left the TLB
            "around",  # places, and the address of the last one
            "last",
            "first",
            "n",
            "head_n",
            "tail_first",
            "tail_n",
            "unseen",  # random: accesses since the flush, when the interval began
        )
    ]
)
OWN = np.dtype([(name, "u8") for name in ("start", "end", "when")])
ALWAYS, DRAW, CHANGE = U(0), U(1), U(2)
LOG_ENTRY = U(16)
PHASE = np.dtype(
    [(name, "u8") for name in ("begin", "end", "time_ns", "total_probability", "span")]
)
INFO = np.dtype(
    [
        (name, "u8")
        for name in (
            "phase",
            "lowest",  # patterns of this interval: lowest..highest - 1
            "highest",
            "begins",  # nanoseconds after monitoring
            "phase_began",
            "now",  # nanoseconds of the program
            "owed",  # nanoseconds that did not make an access yet
            "cpus",
            "check_ns",
            "sample_ns",
            "tick_ns",
            "behind",  # ns of the CPU that kdamond has had less than the program, or more
            "ahead",
            "slice_left",  # of the program, ns
            "pattern",
            "batch_left",
            "access_ns",
            "tlb",
            "switch_ns",
            "next_switch",
            "random",
            "free_mem_rate",
            "next_check",
            "starved",
            "base",  # address of flags[0]
            "top",  # of the patterns' memory
            "waits_from",  # addresses whose pages are not on an LRU list
            "waits_to",
            "ran",  # in this interval the loop was at it, and seen to be
            "drew",
            "changes",  # of pattern so far, and before this interval
            "changed",
            "code_out",  # these own pages are not in the TLB
            "rest_out",
            "next_khugepaged",
            "khugepaged_at",
            "progress",  # of its scan: pages looked at
            "pass_through_head",
            "page_ns",  # time an action takes a page
            "acted_ns",  # by actions so far
            "collapse_ns",  # time khugepaged takes for a huge page
            "batched",  # of `Pages.lru_add`
            "refaults",
            "faults",
            "huge_faults",
            "pmd_splits",
            "paged_out",
            "collapses",
            "bloat",  # pages that a collapse filled
        )
    ]
)


class Pages(NamedTuple):
    """A program, its memory and the TLB in front of it."""

    info: np.ndarray  # (1,) INFO
    patterns: np.ndarray  # (n,) PATTERN, by phase
    own: np.ndarray  # (n,) OWN: the program's own pages
    phases: np.ndarray  # (n,) PHASE
    vmas: np.ndarray  # (n, 3) u8: as in Damon
    recorded: np.ndarray  # (n,) u1: access checks to answer with; empty: by the program
    flags: np.ndarray  # (pages,) u1: resident, swapped, ...; empty: everything is resident
    todo: np.ndarray  # (pages / 512,) u4: pages of 2 MiB that are not resident
    lru_add: np.ndarray  # (31,) u8: the CPU's batch of pages on their way to an LRU list
    truth: np.ndarray  # (pages + 1,) f8: differences of the intervals a page was touched in
    turns: np.ndarray  # (n, 2) u8: when the program turned to another pattern [ns], and to which


@njit
def rand(info):
    """Next number of the program's generator (splitmix64), its high 32 bits."""
    info.random += GOLDEN
    return splitmix64(info.random) >> U(32)


def new_pages(
    patterns,
    phases,
    vmas,
    own=(),
    speeds=ALONE,
    tlb=0,
    switch_us=0,
    seed=0,
    recorded=(),
    memory=False,
    truth=False,
    turns=False,
    fresh=False,
):
    """Make the memory of a program that is about to start.

    Parameters
    ----------
    patterns : (n,) PATTERN array
        Access patterns, by phase.
    phases : (n,) PHASE array
    vmas : sequence of (target, start, end)
        Its mappings, in bytes.
    own : sequence of (start, end, when)
        Its own pages: touched ALWAYS, with each DRAW, or an entry with each CHANGE of pattern.
    speeds : Speeds
        Of the machine, in whole numbers.
    tlb : int
        Pages that the TLB holds; 0 shows every access.
    switch_us : int
        Time between context switches, in microseconds; 0 for never.
    seed : int
    recorded : sequence of bool
        Access checks to answer with, in order, instead of the program's.
    memory, truth : bool
        Keep flags of pages, which actions on them need; keep what was touched, page by page.
    turns : bool
        Keep when the program turned to which pattern.
    fresh : bool
        Memory comes as a program of one pattern, a page a place, goes round it for the first time,
        after the log's first page; but for the page that it begins in, which malloc() writes to.
        The last of these pages wait for an LRU list.

    Returns
    -------
    Pages
    """
    vmas = np.array(vmas, U).reshape(-1, 3)
    info = np.zeros(1, INFO)
    # A phase lasts as long as its batches, the last of which may begin at its very end.
    batches = int(sum(phases["time_ns"] // (int(BATCH) * speeds.access_ns) + 2)) + 1
    for name, value in {
        "access_ns": speeds.access_ns,
        "cpus": speeds.cpus,
        "check_ns": speeds.check_ns,
        "sample_ns": speeds.sample_ns,
        "tick_ns": speeds.tick_us * 1000,
        "begins": speeds.lead_us * 1000,
        "phase_began": speeds.lead_us * 1000,
        "random": seed,
        "code_out": 1,
        "rest_out": 1,
        "free_mem_rate": 500,
        "page_ns": speeds.page_ns,
        "collapse_ns": speeds.collapse_ns,
        "next_khugepaged": 2**64 - 1,  # until the first MADV_HUGEPAGE
    }.items():
        info[name] = value
    set_tlb(info, tlb, switch_us)
    pages = lay_out(
        info,
        patterns.copy(),
        np.array([tuple(one) for one in own], OWN),
        phases.copy(),
        vmas,
        np.array(recorded, np.uint8),
        memory,
        truth,
        batches if turns else 0,
    )
    if fresh:
        end = (pages.patterns["last"][0] & ~(PAGE_SIZE - U(1))) + PAGE_SIZE
        info["waits_from"] = end - pages.patterns["around"][0] % U(PAGEVEC_SIZE) * PAGE_SIZE
        info["waits_to"] = end
    return pages


@njit
def set_tlb(info, tlb, switch_us):
    """Set the pages that the TLB holds, and the time between its flushes."""
    info[0].tlb = tlb
    info[0].switch_ns = info[0].next_switch = switch_us * 1000


@njit
def lay_out(info, patterns, own, phases, vmas, recorded, memory, truth, turns):
    """Put a program's memory together around its patterns, and work out their places.

    Parameters are the fields of `Pages`; of the last three, whether to keep flags and the truth,
    and for how many changes of pattern there is room.
    """
    base = end = ZERO
    for k in range(len(patterns)):
        p = patterns[k]
        base = min(base, p.start) if k else p.start
        end = max(end, p.start + p.sz)
        stride = max(p.stride, ONE)
        p.around = (p.sz + stride - ONE) // stride
        p.at = p.around - ONE
        p.last = p.start + (p.sz - ONE if p.random else p.at * p.stride)
    base &= ~(PMD_SIZE - ONE)
    nr = np.int64((end - base + PMD_SIZE - ONE) // PMD_SIZE) * 512
    info[0].base = base
    info[0].top = base + U(nr) * PAGE_SIZE
    return Pages(
        info,
        patterns,
        own,
        phases,
        vmas,
        recorded,
        np.zeros(nr if memory else 0, np.uint8),
        np.full(nr // 512 if memory else 0, 512, np.uint32),
        np.zeros(PAGEVEC_SIZE, U),
        np.zeros(nr + 1 if truth else 0, np.float64),
        np.zeros((turns, 2), np.uint64),
    )

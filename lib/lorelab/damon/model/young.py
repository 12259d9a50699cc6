"""What DAMON sees of an interval: accessed bits, and what the program touched.

The memory, and how a place on a pattern's arc stands for accesses, are in
`lorelab.damon.model.memory`; `lorelab.damon.model.program` writes the arcs.
"""

from lorelab.damon.model.memory import (
    BATCHED,
    CHANGE,
    DRAW,
    HUGE,
    LOG_ENTRY,
    PAGE_SIZE,
    PMD_SIZE,
    RESIDENT,
    rand,
)
from lorelab.numerics import ONE, ZERO, U, inline_always, njit


@njit
def _in_arc(low, high, first, n, around):
    # Is one of the places low..high among the n that follow one another from `first`?
    if n == ZERO:
        return False
    if n >= around or (low <= first and first <= high):
        return True
    return (low + around - first) % around < n


@njit
def _places(p, start, end):
    # Places of a sequential pattern that lie in [start, end): low..high; low > high for none.
    offset = start - p.start if start > p.start else ZERO
    low = (offset + p.stride - ONE) // p.stride
    if end <= p.start:
        return ONE, ZERO
    high = min((end - p.start - ONE) // p.stride, p.around - ONE)
    return low, high


@njit
def share_of(p, start, end):
    """Part of a random pattern's bytes that lies in [start, end)."""
    low, high = max(start, p.start), min(end, p.start + p.sz)
    return float(high - low) / float(p.sz) if low < high else 0.0


@inline_always
def touched(info, patterns, start, end):
    """Tell whether the program touched [start, end) since `pages_prepare()`."""
    for k in range(info.lowest, info.highest):
        p = patterns[k]
        if p.n == ZERO or end <= p.start or p.last < start:
            continue
        if p.n >= p.around and p.stride <= PAGE_SIZE and not p.random:
            return True
        if p.random:
            share = share_of(p, start, end)
            if share > 0.0 and rand(info) >= (1.0 - share) ** p.n * 4294967296.0:
                return True
            continue
        low, high = _places(p, start, end)
        if low <= high and _in_arc(low, high, p.first, p.n, p.around):
            return True
    return False


@inline_always
def seen(info, patterns, start, end):
    """Tell whether an access to [start, end) since `pages_prepare()` missed the TLB."""
    if info.tlb == ZERO:
        return touched(info, patterns, start, end)
    for k in range(info.lowest, info.highest):
        p = patterns[k]
        if p.n == ZERO:
            continue
        if p.random:
            # After a flush the first touch misses; before it only where none came since the last.
            missed = 1.0 - share_of(p, start, end)
            hidden = missed**p.tail_n * (1.0 - missed**p.unseen * (1.0 - missed**p.head_n))
            if missed < 1.0 and rand(info) >= hidden * 4294967296.0:
                return True
            continue
        low, high = _places(p, start, end)
        if low <= high and (
            _in_arc(low, high, p.first, p.head_n, p.around)
            or _in_arc(low, high, p.tail_first, p.tail_n, p.around)
        ):
            return True
    return False


@njit
def own_seen(info, own, start, end):
    """Tell whether the program missed the TLB for [start, end), which is not its patterns'."""
    for k in range(len(own)):
        o = own[k]
        if o.when == CHANGE:
            low, high = o.start + info.changed * LOG_ENTRY, o.start + info.changes * LOG_ENTRY
            if low < min(high, end) and start < high:
                return True
        elif start < o.end and o.start < end and (info.drew if o.when == DRAW else info.ran):
            return True
    return False


@inline_always
def damon_va_young(info, patterns, own, flags, recorded, addr):
    """Answer whether the page at `addr` shows an access (mm/damon/vaddr.c).

    A page that is not mapped has no accessed bit to show, and of one that is on no LRU list
    damon_get_folio() (mm/damon/ops-common.c) finds no folio. The arguments are fields of `Pages`;
    passing all of it would cost more than the answer.
    """
    if len(recorded):
        if info.next_check >= U(len(recorded)):
            info.starved += ONE
            return False
        info.next_check += ONE
        return recorded[info.next_check - ONE] != 0
    start = addr & ~(PAGE_SIZE - ONE)
    if start < info.base or start >= info.top:
        return own_seen(info, own, start, start + PAGE_SIZE)
    if info.waits_from <= start and start < info.waits_to:
        return False
    if len(flags):
        page = (start - info.base) // PAGE_SIZE
        if start < info.base or page >= U(len(flags)):
            return False
        if flags[page] & (RESIDENT | BATCHED) != RESIDENT:
            return False
        if flags[page] & HUGE:
            start = addr & ~(PMD_SIZE - ONE)
            return seen(info, patterns, start, start + PMD_SIZE)
    return seen(info, patterns, start, start + PAGE_SIZE)


@njit
def pages_prepare(pages):
    """Begin an interval: no page has been touched."""
    info = pages.info[0]
    info.ran = info.drew = ZERO
    info.changed = info.changes
    for k in range(info.lowest, info.highest):
        p = pages.patterns[k]
        p.n = p.head_n = p.tail_n = ZERO
        p.unseen = p.since
    if info.phase < U(len(pages.phases)):
        info.lowest = pages.phases[info.phase].begin
        info.highest = pages.phases[info.phase].end

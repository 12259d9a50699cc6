"""The program that DAMON watches, as it runs: masim's loop, the TLB before it, its clock.

What it does to the memory (`lorelab.damon.model.memory`) is written down a stretch at a time:
accesses of one pattern that no flush of the TLB comes in between are an arc of the places it goes
round.
"""

from lorelab.damon.model.memory import BATCH, PAGE_SIZE, rand
from lorelab.damon.model.young import share_of
from lorelab.numerics import ONE, ZERO, U, njit


@njit
def tlb_pages(p):
    """Count the pages that a pattern goes round."""
    if p.random or p.stride <= PAGE_SIZE:
        return p.last // PAGE_SIZE - p.start // PAGE_SIZE + ONE
    return p.around


@njit
def _access(info, p, n):
    # n accesses of pattern p, none of which a flush comes in between.
    around = p.around
    first = (p.at + ONE) % around
    if p.n == ZERO:
        p.first = first
    always = tlb_pages(p) > info.tlb
    if always or info.code_out:
        info.ran = ONE
        info.code_out = ZERO
    if always:
        info.rest_out = ONE
    misses = n if always else min(n, around - min(p.since, around))
    if p.random:
        if always or p.since == ZERO or p.tail_n:
            p.tail_n += n
        else:
            p.head_n += n
    elif misses:
        if p.tail_n == ZERO and p.head_n == p.n:
            p.head_n += misses
        else:
            if p.tail_n == ZERO:
                p.tail_first = first
            p.tail_n += misses
    p.at = (p.at + n) % around
    p.since += n
    p.n += n


@njit
def _next_batch(pages, now):
    # masim draws a pattern of the phase by weight; others may push its pages out of the TLB.
    info = pages.info[0]
    phase = pages.phases[info.phase]
    drawn = rand(info) % phase.total_probability
    for k in range(phase.begin, phase.end):
        p = pages.patterns[k]
        if p.prob_start <= drawn and drawn < p.prob_start + p.probability:
            if k != info.pattern:
                before = pages.patterns[info.pattern]
                if tlb_pages(p) + tlb_pages(before) > info.tlb:
                    p.since = ZERO
                info.pattern = k
                info.changes += ONE
                if info.changes < U(len(pages.turns)):
                    pages.turns[info.changes, 0] = now
                    pages.turns[info.changes, 1] = k
            break
    if info.rest_out:
        info.drew = ONE
        info.rest_out = ZERO
    info.batch_left = BATCH


@njit
def play(pages, ns):
    """Let the program run for `ns` nanoseconds, but not before it begins."""
    info = pages.info[0]
    end = info.now + ns
    info.owed += end - min(end, max(info.now, info.begins))
    while info.owed >= info.access_ns and info.phase < U(len(pages.phases)):
        now = end - info.owed
        if info.batch_left == ZERO:
            if now > info.phase_began + pages.phases[info.phase].time_ns:
                info.phase += ONE
                info.phase_began = now
                if info.phase < U(len(pages.phases)):
                    info.highest = pages.phases[info.phase].end
                continue
            _next_batch(pages, now)
        if info.switch_ns and now >= info.next_switch:
            for k in range(U(len(pages.patterns))):
                pages.patterns[k].since = ZERO
            info.code_out = info.rest_out = ONE
            info.next_switch += info.switch_ns
            continue
        n = min(info.batch_left, info.owed // info.access_ns)
        if info.switch_ns:
            # Those before the switch: at or after it, an access finds the TLB empty.
            n = min(n, (info.next_switch - now + info.access_ns - ONE) // info.access_ns)
        _access(info, pages.patterns[info.pattern], n)
        info.batch_left -= n
        info.owed -= n * info.access_ns
    info.now = end
    if info.phase >= U(len(pages.phases)):
        info.owed = ZERO


@njit
def _add_arc(truth, p, base, first, n):
    # One interval more for the pages that hold the places first..first + n - 1 (no wrap).
    if p.stride > PAGE_SIZE:
        for place in range(first, first + n):
            page = (p.start + place * p.stride - base) // PAGE_SIZE
            truth[page] += 1.0
            truth[page + ONE] -= 1.0
        return
    low = (p.start + first * p.stride - base) // PAGE_SIZE
    high = (p.start + (first + n - ONE) * p.stride - base) // PAGE_SIZE
    truth[low] += 1.0
    truth[high + ONE] -= 1.0


@njit
def account_truth(pages):
    """Add the interval to `truth`: 1 for each page touched, for random patterns the chance."""
    info = pages.info[0]
    if len(pages.truth) == 0:
        return
    for k in range(info.lowest, info.highest):
        p = pages.patterns[k]
        if p.n == ZERO:
            continue
        if p.random:
            low = (p.start - info.base) // PAGE_SIZE
            high = (p.start + p.sz - ONE - info.base) // PAGE_SIZE
            chance = 1.0 - (1.0 - share_of(p, p.start, p.start + PAGE_SIZE)) ** p.n
            pages.truth[low] += chance
            pages.truth[high + ONE] -= chance
            continue
        around = p.around
        first = ZERO if p.n >= around else p.first
        n = min(p.n, around)
        _add_arc(pages.truth, p, info.base, first, min(n, around - first))
        if first + n > around:
            _add_arc(pages.truth, p, info.base, ZERO, first + n - around)

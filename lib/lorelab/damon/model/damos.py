"""DAMON-based operation schemes (DAMOS) of Linux 6.12.117: match, quota, priority, watermarks.

Functions of mm/damon/core.c and mm/damon/ops-common.c under their own names. What an action does to
memory is in `lorelab.damon.model.madvise`; a quota in time counts what that module says an action
takes. Filters are the two that the core handles (address range, target): the others are for
physical memory alone.
"""

from enum import IntEnum

from lorelab.damon.model.madvise import damon_va_apply_scheme
from lorelab.damon.model.state import (
    BP,
    DAMON_MIN_REGION,
    ULONG_MAX,
    align_down,
    damon_first_region,
    damon_insert_region,
    damon_sz_region,
    head_of,
)
from lorelab.numerics import ONE, TWO, ZERO, U, njit

DAMOS_MAX_SCORE = U(99)
DAMON_MAX_SUBSCORE = U(100)
DAMON_MAX_AGE_IN_LOG = U(32)
HZ = U(1000)  # of the laboratory's kernel
INITIAL_JIFFIES = U(2**32) - U(300) * HZ


class Action(IntEnum):
    """enum damos_action, of which mm/damon/vaddr.c knows these."""

    WILLNEED = 0
    COLD = 1
    PAGEOUT = 2
    HUGEPAGE = 3
    NOHUGEPAGE = 4
    STAT = 9


class Filter(IntEnum):
    """enum damos_filter_type: those handled by the core."""

    ADDR = 3
    TARGET = 4


class Metric(IntEnum):
    """enum damos_wmark_metric."""

    NONE = 0
    FREE_MEM_RATE = 1


PAGEOUT = U(Action.PAGEOUT)
STAT = U(Action.STAT)
ADDR = U(Filter.ADDR)
TARGET = U(Filter.TARGET)
FREE_MEM_RATE = U(Metric.FREE_MEM_RATE)


@njit
def jiffies(ctx):
    """Ticks since boot; boot begins at -300 s, as a 32-bit count (kernel/time)."""
    return INITIAL_JIFFIES + ctx.info[0].now * HZ // U(1_000_000)


@njit
def damon_split_region_at(ctx, t, i, sz_r):
    """Cut region `i` behind its first `sz_r` bytes; both parts keep count, sum and age."""
    r = ctx.regions[i]
    new = damon_insert_region(ctx, t, r.start + sz_r, r.end, U(r.next))
    if new == head_of(ctx, ZERO):
        return
    r.end = r.start + sz_r
    n = ctx.regions[new]
    n.age = r.age
    n.last_nr_accesses = r.last_nr_accesses
    n.nr_accesses_bp = r.nr_accesses_bp
    n.nr_accesses = r.nr_accesses
    ctx.info[0].splits += ONE


@njit
def damon_hot_score(info, r, s):
    """Hotness of region record `r` from 0 to 99: frequency, and the logarithm of its age."""
    max_nr_accesses = max(info.aggr_interval // info.sample_interval, ONE)
    freq_subscore = U(r.nr_accesses_bp) // BP * DAMON_MAX_SUBSCORE // max_nr_accesses
    age_in_sec = U(r.age) * info.aggr_interval // U(1_000_000)
    age_in_log = ZERO
    while age_in_log < DAMON_MAX_AGE_IN_LOG and age_in_sec:
        age_in_log += ONE
        age_in_sec >>= ONE
    # A region without accesses is the colder the older it is.
    if freq_subscore == ZERO:
        age_in_log = DAMON_MAX_AGE_IN_LOG - age_in_log
    else:
        age_in_log = DAMON_MAX_AGE_IN_LOG + age_in_log
    age_subscore = age_in_log * DAMON_MAX_SUBSCORE // DAMON_MAX_AGE_IN_LOG // TWO
    hotness = s.weight_nr_accesses * freq_subscore + s.weight_age * age_subscore
    if s.weight_nr_accesses + s.weight_age:
        hotness //= s.weight_nr_accesses + s.weight_age
    return min(hotness * DAMOS_MAX_SCORE // DAMON_MAX_SUBSCORE, DAMOS_MAX_SCORE)


@njit
def damon_va_scheme_score(info, r, s):
    """Priority of region record `r` for scheme record `s`: coldness for a pageout, else 99."""
    if s.action == PAGEOUT:
        return DAMOS_MAX_SCORE - damon_hot_score(info, r, s)
    return DAMOS_MAX_SCORE


@njit
def damos_matches(r, s):
    """Tell whether size, frequency and age lie in the scheme's pattern.

    This is __damos_valid_target(); the frequency is that of the pseudo moving sum.
    """
    sz = r.end - r.start
    nr_accesses = U(r.nr_accesses_bp) // BP
    return (
        s.min_sz_region <= sz
        and sz <= s.max_sz_region
        and s.min_nr_accesses <= nr_accesses
        and nr_accesses <= s.max_nr_accesses
        and s.min_age_region <= r.age
        and r.age <= s.max_age_region
    )


@njit
def damos_valid_target(info, r, s):
    """Match, and with a quota reach its lowest priority too."""
    matches = damos_matches(r, s)
    if not matches or s.esz == ZERO:
        return matches
    return damon_va_scheme_score(info, r, s) >= s.min_score


@njit
def damos_skip_charged_region(ctx, t, i, s):
    """Skip what the last charge window has had, cutting region `i` where that ended."""
    skip = False
    if s.charge_target_from:
        if t + ONE != s.charge_target_from:
            return True
        r = ctx.regions[i]
        if s.charge_addr_from and r.end <= s.charge_addr_from:
            skip = True
        elif s.charge_addr_from and r.start < s.charge_addr_from:
            sz_to_skip = align_down(s.charge_addr_from - r.start)
            skip = True
            if sz_to_skip or r.end - r.start > DAMON_MIN_REGION:
                damon_split_region_at(ctx, t, i, max(sz_to_skip, DAMON_MIN_REGION))
    if U(ctx.regions[i].next) == head_of(ctx, t):
        s.charge_target_from = ZERO
        s.charge_addr_from = ZERO
    return skip


@njit
def damos_filter_out(ctx, t, i, scheme):
    """Tell whether a filter of scheme number `scheme` excludes region `i`, cut at its border."""
    for f in ctx.filters:
        if f.scheme != scheme:
            continue
        matched = False
        if f.type == TARGET:
            matched = t == f.start
        elif f.type == ADDR:
            start, end = align_down(f.start), align_down(f.end)
            r = ctx.regions[i]
            if start <= r.start and r.end <= end:
                matched = True
            elif r.end <= start or end <= r.start:
                matched = False
            elif r.start < start:
                damon_split_region_at(ctx, t, i, start - r.start)
                matched = False
            else:
                damon_split_region_at(ctx, t, i, end - r.start)
                matched = True
        if matched == (f.matching != ZERO):
            return True
    return False


@njit
def damos_apply_scheme(ctx, pages, t, i, scheme):
    """Apply a scheme to region `i`, cut to what the quota has left.

    Any action but STAT sets the age back to 0, so it takes the full age again to match anew.
    """
    s = ctx.schemes[scheme]
    r = ctx.regions[i]
    sz = damon_sz_region(ctx, i)
    sz_applied = ZERO
    within_quota = True
    if s.esz and s.charged_sz + sz > s.esz:
        sz = align_down(s.esz - s.charged_sz)
        within_quota = sz != ZERO
        if within_quota:
            damon_split_region_at(ctx, t, i, sz)
        else:
            s.nr_refused += ONE
    if within_quota:
        if damos_filter_out(ctx, t, i, scheme):
            return
        sz = damon_sz_region(ctx, i)
        sz_applied, took_ns = damon_va_apply_scheme(pages, r.start, r.end, s.action)
        s.total_charged_ns += took_ns
        s.charged_sz += sz
        if s.esz and s.charged_sz >= s.esz:
            s.charge_target_from = t + ONE
            s.charge_addr_from = r.end
        if s.action != STAT:
            r.age = ZERO
    s.nr_tried += ONE
    s.sz_tried += sz
    if sz_applied:
        s.nr_applied += ONE
    s.sz_applied += sz_applied


@njit
def damon_do_apply_schemes(ctx, pages, t, i):
    """Try every scheme that is due on region `i`."""
    info = ctx.info[0]
    for scheme in range(U(len(ctx.schemes))):
        s = ctx.schemes[scheme]
        if info.passed_sample_intervals < s.next_apply_sis or not s.activated:
            continue
        if s.esz and s.charged_sz >= s.esz:
            continue
        if damos_skip_charged_region(ctx, t, i, s):
            continue
        if damos_valid_target(info, ctx.regions[i], s):
            damos_apply_scheme(ctx, pages, t, i, scheme)


@njit
def damon_feed_loop_next_input(last_input, score):
    """Next input of a feedback loop: last * (1 + (10000 - score) / 10000), at least 10000."""
    if score == BP:
        return last_input
    if score >= BP * TWO:
        return BP
    over_achieving = score > BP
    diff = score - BP if over_achieving else BP - score
    if last_input < ULONG_MAX // diff:
        compensation = last_input * diff // BP
    else:
        compensation = last_input // BP * diff
    if over_achieving:
        return max(last_input - compensation, BP)
    if last_input < ULONG_MAX - compensation:
        return last_input + compensation
    return ULONG_MAX


@njit
def _has_goals(ctx, scheme):
    count = 0
    for goal in ctx.goals:
        count += goal.scheme == scheme
    return count > 0


@njit
def damos_quota_score(ctx, scheme):
    """Highest score among the goals of a scheme: it makes the scheme least aggressive."""
    highest = ZERO
    for goal in ctx.goals:
        if goal.scheme == scheme:
            highest = max(highest, goal.current_value * BP // goal.target_value)
    return highest


@njit
def damos_set_effective_quota(ctx, scheme):
    """Work out the quota in bytes from size, time and goals, whichever is least."""
    s = ctx.schemes[scheme]
    goals = _has_goals(ctx, scheme)
    esz = ULONG_MAX
    if s.ms == ZERO and not goals:
        s.esz = s.sz
        return
    if goals:
        s.esz_bp = damon_feed_loop_next_input(max(s.esz_bp, BP), damos_quota_score(ctx, scheme))
        esz = s.esz_bp // BP
    if s.ms:
        throughput = DAMON_MIN_REGION * U(1024)
        if s.total_charged_ns:
            throughput = s.total_charged_sz * U(1_000_000) // s.total_charged_ns
        esz = max(min(throughput * s.ms, esz), DAMON_MIN_REGION)
    if s.sz and s.sz < esz:
        esz = s.sz
    s.esz = esz


@njit
def damos_adjust_quota(ctx, scheme):
    """Open a new charge window when it is time, and set the lowest priority served."""
    s = ctx.schemes[scheme]
    if s.esz == ZERO and s.ms == ZERO and s.sz == ZERO and not _has_goals(ctx, scheme):
        return
    now = jiffies(ctx)
    if s.total_charged_sz == ZERO and s.charged_from == ZERO:
        s.charged_from = now
    reset = (s.reset_interval * HZ + U(999)) // U(1000)
    if not (s.charged_from <= now and now < s.charged_from + reset):
        if s.esz and s.charged_sz >= s.esz:
            s.qt_exceeds += ONE
        s.total_charged_sz += s.charged_sz
        s.charged_from = now
        s.charged_sz = ZERO
        damos_set_effective_quota(ctx, scheme)
    histogram = ctx.histogram
    histogram[:] = ZERO
    score = ZERO
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            r = ctx.regions[i]
            if damos_matches(r, s):
                of = damon_va_scheme_score(ctx.info[0], r, s)
                histogram[of] += r.end - r.start
                score = max(score, of)
            i = U(r.next)
    cumulated_sz = histogram[score]
    while cumulated_sz < s.esz and score:
        score -= ONE
        cumulated_sz += histogram[score]
    s.min_score = score


@njit
def kdamond_apply_schemes(ctx, pages):
    """Try the schemes that are due on every region."""
    info = ctx.info[0]
    due = False
    for scheme in range(U(len(ctx.schemes))):
        s = ctx.schemes[scheme]
        if info.passed_sample_intervals >= s.next_apply_sis and s.activated:
            due = True
            damos_adjust_quota(ctx, scheme)
    if not due:
        return
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            damon_do_apply_schemes(ctx, pages, t, i)
            i = U(ctx.regions[i].next)
    for s in ctx.schemes:
        if info.passed_sample_intervals >= s.next_apply_sis:
            interval = s.apply_interval_us if s.apply_interval_us else info.aggr_interval
            s.next_apply_sis = info.passed_sample_intervals + interval // info.sample_interval


@njit
def damos_wmark_wait_us(s, free_mem_rate):
    """Return 0 if the scheme is active, else how long to wait before looking again."""
    if s.wmark_metric != FREE_MEM_RATE:
        return ZERO
    if free_mem_rate > s.high or s.low > free_mem_rate:
        s.activated = ZERO
        return s.wmark_interval
    if free_mem_rate >= s.mid and not s.activated:
        return s.wmark_interval
    s.activated = ONE
    return ZERO


@njit
def kdamond_wait_activation(ctx, pages):
    """Return 0 if a scheme is active or there is none, else the shortest wait of them."""
    shortest = ZERO
    first = True
    for s in ctx.schemes:
        wait = damos_wmark_wait_us(s, pages.info[0].free_mem_rate)
        if first or wait < shortest:
            shortest = wait
            first = False
    return shortest

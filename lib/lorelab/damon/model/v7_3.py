"""kdamond of Linux 7.3.4, as far as it samples, merges and splits otherwise than 6.12's.

Functions of mm/damon/core.c, mm/damon/vaddr.c and include/linux/damon.h of 7.3.4 under their own
names; what they share with 6.12 is in `lorelab.damon.model.core`, `state` and `vaddr`. Otherwise
than there

- a context has a generator of its own, of 32 bits, and `damon_rand()` takes the whole width;
- first regions are the three ranges, cut down to the size limit;
- an age starts anew, too, as a count goes from zero to anything else, or back;
- above half of `max_nr_regions` some regions are still split, in turns;
- the last count of regions is kept whatever was split;
- after each merge the size limit is worked out anew, and regions above it are cut down to it.

Schemes, tuned intervals and the probes that can take the place of accessed bits are left out: the
moving sum of a count is worked out only where a scheme asks for it.
"""

from lorelab.damon.model.core import _apart, damon_region_sz_limit, kdamond_reset_aggregated
from lorelab.damon.model.damos import damon_split_region_at
from lorelab.damon.model.prandom import prandom_u32_state
from lorelab.damon.model.state import (
    DAMON_MIN_REGION,
    TEN,
    THREE,
    U32,
    align_down,
    align_up,
    damon_destroy_region,
    damon_first_region,
    damon_sz_region,
    head_of,
)
from lorelab.damon.model.vaddr import damon_set_regions, damon_va_three_regions, damon_va_update
from lorelab.damon.model.young import damon_va_young, pages_prepare
from lorelab.numerics import ONE, TWO, ZERO, U, njit

LAST_NR_REGIONS, ROTATION = range(2)
"""Places of `Damon.static`."""


@njit
def mul_u64_u64_shr_64(a, b):
    """High half of a product of 128 bits (include/linux/math64.h, with a shift of 64)."""
    a_low, a_high, b_low, b_high = a & U32, a >> U(32), b & U32, b >> U(32)
    middle = a_high * b_low + (a_low * b_low >> U(32))
    other = a_low * b_high + (middle & U32)
    return a_high * b_high + (middle >> U(32)) + (other >> U(32))


@njit
def damon_rand(ctx, left, right):
    """Draw a number in [left, right) (include/linux/damon.h).

    A width of more than 32 bits takes two numbers; C leaves open which of them is drawn first, and
    here it is the high one.
    """
    span = right - left
    if span <= U32:
        return left + (prandom_u32_state(ctx.rnd_state) * span >> U(32))
    high = prandom_u32_state(ctx.rnd_state)
    return left + mul_u64_u64_shr_64(high << U(32) | prandom_u32_state(ctx.rnd_state), span)


@njit
def damon_apply_min_nr_regions(ctx):
    """Cut regions down to the size limit, a whole number of pages; the limit."""
    max_region_sz = align_up(damon_region_sz_limit(ctx))
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            # What is cut off is the next region, and cut in its turn.
            if damon_sz_region(ctx, i) > max_region_sz:
                damon_split_region_at(ctx, t, i, max_region_sz)
            i = U(ctx.regions[i].next)
    return max_region_sz


@njit
def damon_va_init_regions(ctx, t, regions):
    """Make the three ranges the first regions of target `t`."""
    if damon_va_three_regions(ctx, t, regions):
        damon_set_regions(ctx, t, regions)


@njit
def damon_va_prepare_access_checks(ctx):
    """Pick the page that stands for each region during the coming interval."""
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            r = ctx.regions[i]
            r.sampling_addr = damon_rand(ctx, r.start, r.end)
            i = U(r.next)


@njit
def damon_update_region_access_rate(r, accessed):
    """Count one check of region record `r`."""
    if accessed:
        r.nr_accesses += ONE


@njit
def damon_va_check_accesses(ctx, pages):
    """Check the sampled page of every region.

    Returns
    -------
    uint64
        The highest count that a region now has.
    """
    highest = ZERO
    regions = ctx.regions
    memory, patterns, own = pages.info[0], pages.patterns, pages.own
    flags, recorded = pages.flags, pages.recorded
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        ctx.info[0].checks += ctx.nr_regions[t]
        while i != head:
            r = regions[i]
            accessed = damon_va_young(memory, patterns, own, flags, recorded, r.sampling_addr)
            damon_update_region_access_rate(r, accessed)
            highest = max(highest, U(r.nr_accesses))
            i = U(r.next)
    return highest


@njit
def damon_merge_two_regions(ctx, t, left, right):
    """Let region `left` take in its neighbour: means weighted by size, rounded down."""
    a, b = ctx.regions[left], ctx.regions[right]
    sz_l, sz_r = a.end - a.start, b.end - b.start
    a.nr_accesses = (U(a.nr_accesses) * sz_l + U(b.nr_accesses) * sz_r) // (sz_l + sz_r)
    a.age = (U(a.age) * sz_l + U(b.age) * sz_r) // (sz_l + sz_r)
    a.end = b.end
    damon_destroy_region(ctx, t, right)
    ctx.info[0].merges += ONE


@njit
def damon_merge_regions_of(ctx, t, thres, sz_limit, count_age):
    """Age the regions of target `t`, and merge neighbours of like count, from left to right."""
    head = head_of(ctx, t)
    prev = head
    i = damon_first_region(ctx, t)
    while i != head:
        r = ctx.regions[i]
        following = U(r.next)
        if count_age:
            changed = _apart(r.nr_accesses, r.last_nr_accesses) > thres
            if changed or (r.nr_accesses == 0) != (r.last_nr_accesses == 0):
                r.age = ZERO
            else:
                r.age += ONE
        if (
            prev != head
            and ctx.regions[prev].end == r.start
            and _apart(ctx.regions[prev].nr_accesses, r.nr_accesses) <= thres
            and damon_sz_region(ctx, prev) + damon_sz_region(ctx, i) <= sz_limit
        ):
            damon_merge_two_regions(ctx, t, prev, i)
        else:
            prev = i
        i = following


@njit
def kdamond_merge_regions(ctx, threshold, sz_limit):
    """Merge; above `max_nr_regions` merge on, with the threshold doubled each time."""
    info = ctx.info[0]
    max_thres = info.aggr_interval // info.sample_interval
    count_age = True
    while True:
        nr_regions = ZERO
        for t in range(U(len(ctx.nr_regions))):
            damon_merge_regions_of(ctx, t, threshold, sz_limit, count_age)
            nr_regions += ctx.nr_regions[t]
        count_age = False
        if nr_regions <= info.max_nr_regions or max_thres <= threshold:
            break
        threshold = max(ONE, threshold * TWO) if threshold < max_thres // TWO else max_thres


@njit
def damon_split_regions_of(ctx, t, nr_subs):
    """Cut each region of target `t` at a random tenth; the left part again for a third piece."""
    head = head_of(ctx, t)
    i = damon_first_region(ctx, t)
    while i != head:
        following = U(ctx.regions[i].next)
        sz_region = damon_sz_region(ctx, i)
        for _ in range(ONE, nr_subs):
            if sz_region <= TWO * DAMON_MIN_REGION:
                break
            sz_sub = align_down(damon_rand(ctx, ONE, TEN) * sz_region // TEN)
            if sz_sub == ZERO or sz_sub >= sz_region:
                continue
            damon_split_region_at(ctx, t, i, sz_sub)
            sz_region = sz_sub
        i = following


@njit
def damon_split_some_regions(ctx, split_step):
    """Cut one in `split_step` regions in two, beginning one further with each call.

    Where it begins is a static variable, which all contexts of a kernel share.
    """
    offset = ctx.static[ROTATION] % split_step
    ctx.static[ROTATION] += ONE
    idx = ZERO
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            following = U(ctx.regions[i].next)
            sz_region = damon_sz_region(ctx, i)
            if idx % split_step == offset and sz_region >= TWO * DAMON_MIN_REGION:
                sz_sub = align_down(damon_rand(ctx, ONE, TEN) * sz_region // TEN)
                if sz_sub != ZERO and sz_sub < sz_region:
                    damon_split_region_at(ctx, t, i, sz_sub)
            idx += ONE
            i = following


@njit
def kdamond_split_regions(ctx):
    """Split every region, above half of `max_nr_regions` some, and from there on none."""
    max_nr_regions = ctx.info[0].max_nr_regions
    nr_regions = ctx.nr_regions.sum()
    if nr_regions < max_nr_regions:
        if nr_regions > max_nr_regions // TWO:
            if ctx.info[0].splits_some:
                damon_split_some_regions(ctx, max_nr_regions // (max_nr_regions - nr_regions))
        else:
            again = ctx.static[LAST_NR_REGIONS] == nr_regions
            nr_subregions = THREE if again and nr_regions < max_nr_regions // THREE else TWO
            for t in range(U(len(ctx.nr_regions))):
                damon_split_regions_of(ctx, t, nr_subregions)
    ctx.static[LAST_NR_REGIONS] = nr_regions


@njit
def kdamond_start(ctx, pages):
    """Begin as kdamond_fn() does: intervals (kdamond_init_ctx()), first regions, size limit."""
    info = ctx.info[0]
    info.next_aggregation_sis = info.aggr_interval // info.sample_interval
    info.next_ops_update_sis = info.ops_update_interval // info.sample_interval
    for t in range(U(len(ctx.nr_regions))):
        if ctx.nr_regions[t] == ZERO and not info.fixed_ranges:
            damon_va_init_regions(ctx, t, ctx.three_ranges)
    info.sz_limit = damon_apply_min_nr_regions(ctx)


@njit
def kdamond_prepare(ctx, pages):
    """Do the part of a loop of kdamond_fn() before the sleep; nothing makes it wait before."""
    damon_va_prepare_access_checks(ctx)
    pages_prepare(pages)
    return ZERO


@njit
def kdamond_check(ctx, pages):
    """Do the part of a loop of kdamond_fn() after the sleep.

    Returns
    -------
    int64
        Regions in `ctx.trace` if a window ended here, else -1.
    """
    ctx.info[0].max_nr_accesses = damon_va_check_accesses(ctx, pages)
    return kdamond_checked(ctx)


@njit
def kdamond_checked(ctx):
    """Do what comes after the checks of a sample; returns as `kdamond_check()`."""
    info = ctx.info[0]
    aggregated = -1
    info.passed_sample_intervals += ONE
    if info.passed_sample_intervals >= info.next_aggregation_sis:
        kdamond_merge_regions(ctx, info.max_nr_accesses // TEN, info.sz_limit)
        info.sz_limit = damon_apply_min_nr_regions(ctx)
        info.next_aggregation_sis += info.aggr_interval // info.sample_interval
        aggregated = kdamond_reset_aggregated(ctx)
        info.windows += ONE
        kdamond_split_regions(ctx)
    if info.passed_sample_intervals >= info.next_ops_update_sis:
        info.next_ops_update_sis += info.ops_update_interval // info.sample_interval
        if not info.fixed_ranges:
            damon_va_update(ctx)
    return aggregated

"""kdamond of Linux 6.12.117: regions from mappings, sampling, merging, splitting, and its loop.

Read this file for the algorithm; every function is one of mm/damon/core.c or mm/damon/vaddr.c under
its own name. `lorelab.damon.model.state` has the state and the lists, `lorelab.damon.model.vaddr`
where regions come from, `lorelab.damon.model.damos` what is done to them (DAMOS),
`lorelab.damon.model.memory` the memory that is being watched, `lorelab.damon.model.program` who
uses it, and `lorelab.damon.model.young` what is seen of that.

A sample is three steps: `kdamond_prepare()`, the sleep, in which the watched program runs, and
`kdamond_check()`. A random number is drawn at the same places and in the same order as in the
kernel, so a recorded sequence of numbers and of access checks leads to the same regions.

Locks, allocation failures and hugetlb are left out, and the 32-bit `unsigned int` of counts and
ages wraps as it does there.
"""

from lorelab.damon.model.damos import (
    damon_feed_loop_next_input,
    damon_split_region_at,
    kdamond_apply_schemes,
    kdamond_wait_activation,
)
from lorelab.damon.model.state import (
    BP,
    DAMON_MIN_REGION,
    TEN,
    THREE,
    U32,
    align_down,
    damon_destroy_region,
    damon_first_region,
    damon_rand,
    damon_sz_region,
    head_of,
)
from lorelab.damon.model.vaddr import damon_va_init_regions, damon_va_update
from lorelab.damon.model.young import damon_va_young, pages_prepare
from lorelab.numerics import ONE, TWO, ZERO, U, njit


@njit
def damon_region_sz_limit(ctx):
    """Largest region that merging may make: the total size over `min_nr_regions`."""
    sz = ZERO
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            sz += damon_sz_region(ctx, i)
            i = U(ctx.regions[i].next)
    return max(sz // ctx.info[0].min_nr_regions, DAMON_MIN_REGION)


@njit
def damon_va_prepare_access_checks(ctx):
    """Pick the page that stands for each region during the coming interval.

    The kernel also clears its accessed bit here, and sets it idle; in
    `lorelab.damon.model.young` the interval starts with every bit clear.
    """
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            r = ctx.regions[i]
            r.sampling_addr = damon_rand(ctx, r.start, r.end)
            i = U(r.next)


@njit
def damon_max_nr_accesses(info):
    """Samples in a window (include/linux/damon.h)."""
    return max(min(info.aggr_interval // info.sample_interval, U32), ONE)


@njit
def damon_update_region_access_rate(r, accessed, len_window):
    """Count one check of region record `r`, and move its pseudo moving sum on.

    The sum drops a len_window-th of the last window's count for each new value, so at a window's
    end it is nr_accesses * 10000 where len_window divides last_nr_accesses * 10000, and by less
    than len_window more where it does not.
    """
    dropped = ZERO
    if r.last_nr_accesses:
        dropped = (U(r.last_nr_accesses) * BP & U32) // len_window
    r.nr_accesses_bp = (U(r.nr_accesses_bp) - dropped + (BP if accessed else ZERO)) & U32
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
    len_window = damon_max_nr_accesses(ctx.info[0])
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
            damon_update_region_access_rate(r, accessed, len_window)
            highest = max(highest, U(r.nr_accesses))
            i = U(r.next)
    return highest


@njit
def damon_merge_two_regions(ctx, t, left, right):
    """Let region `left` take in its neighbour: means weighted by size, rounded down."""
    a, b = ctx.regions[left], ctx.regions[right]
    sz_l, sz_r = a.end - a.start, b.end - b.start
    a.nr_accesses = (U(a.nr_accesses) * sz_l + U(b.nr_accesses) * sz_r) // (sz_l + sz_r)
    a.nr_accesses_bp = U(a.nr_accesses) * BP & U32
    a.age = (U(a.age) * sz_l + U(b.age) * sz_r) // (sz_l + sz_r)
    a.end = b.end
    damon_destroy_region(ctx, t, right)
    ctx.info[0].merges += ONE


@njit
def _apart(a, b):
    return U(max(a, b)) - U(min(a, b))


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
            if _apart(r.nr_accesses, r.last_nr_accesses) > thres:
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
def kdamond_split_regions(ctx):
    """Split every region, unless that could lead above `max_nr_regions`."""
    info = ctx.info[0]
    nr_regions = ctx.nr_regions.sum()
    if nr_regions > info.max_nr_regions // TWO:
        return
    nr_subregions = TWO
    if ctx.static[0] == nr_regions and nr_regions < info.max_nr_regions // THREE:
        nr_subregions = info.max_pieces
    for t in range(U(len(ctx.nr_regions))):
        damon_split_regions_of(ctx, t, nr_subregions)
    ctx.static[0] = nr_regions


@njit
def kdamond_reset_aggregated(ctx):
    """Report every region (damon:damon_aggregated, into `trace`) and start its count anew."""
    n = 0
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            r = ctx.regions[i]
            out = ctx.trace[n]
            out.target, out.start, out.end = t, r.start, r.end
            out.nr_accesses, out.age = r.nr_accesses, r.age
            n += 1
            r.last_nr_accesses = r.nr_accesses
            r.nr_accesses = ZERO
            i = U(r.next)
    return n


@njit
def damon_get_intervals_score(ctx):
    """Access events seen, against the goal's share of those possible; 10000 is on the goal."""
    info = ctx.info[0]
    max_access_events = access_events = ZERO
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            max_access_events += damon_sz_region(ctx, i) * info.aggr_samples
            access_events += damon_sz_region(ctx, i) * U(ctx.regions[i].nr_accesses)
            i = U(ctx.regions[i].next)
    target = max(max_access_events * info.goal_access_bp // BP, ONE)
    return access_events // target * BP + access_events % target * BP // target


@njit
def kdamond_tune_intervals(ctx):
    """Scale both intervals towards the goal; down to half and up to double at most (6.15)."""
    info = ctx.info[0]
    adaptation_bp = damon_feed_loop_next_input(U(100_000_000), damon_get_intervals_score(ctx)) // BP
    if adaptation_bp <= BP:
        adaptation_bp = U(5000) + adaptation_bp // TWO
    if adaptation_bp == BP:
        return
    old = info.aggr_interval
    samples = damon_max_nr_accesses(info)
    sample = min(info.goal_max_sample, info.sample_interval * adaptation_bp // BP)
    info.sample_interval = max(info.goal_min_sample, sample)
    info.aggr_interval = info.sample_interval * info.aggr_samples
    # damon_set_attrs(): an age stays the same time, so it changes with the length of a window;
    # a count goes through a share in ten thousandths and back.
    info.next_ops_update_sis = (
        info.passed_sample_intervals + info.ops_update_interval // info.sample_interval
    )
    for t in range(U(len(ctx.nr_regions))):
        head = head_of(ctx, t)
        i = damon_first_region(ctx, t)
        while i != head:
            r = ctx.regions[i]
            r.nr_accesses = U(r.nr_accesses) * BP // samples * damon_max_nr_accesses(info) // BP
            r.nr_accesses_bp = U(r.nr_accesses) * BP & U32
            r.age = U(r.age) * old // info.aggr_interval
            i = U(r.next)


@njit
def kdamond_start(ctx, pages):
    """Begin as kdamond_fn() does: intervals, first regions, size limit."""
    info = ctx.info[0]
    info.next_aggregation_sis = info.aggr_interval // info.sample_interval
    info.next_ops_update_sis = info.ops_update_interval // info.sample_interval
    info.next_intervals_tune_sis = info.next_aggregation_sis * info.goal_aggrs
    for s in ctx.schemes:
        apply_interval = s.apply_interval_us if s.apply_interval_us else info.aggr_interval
        s.next_apply_sis = apply_interval // info.sample_interval
    for t in range(U(len(ctx.nr_regions))):
        if ctx.nr_regions[t] == ZERO and not info.fixed_ranges:
            damon_va_init_regions(ctx, t, ctx.three_ranges)
    info.sz_limit = damon_region_sz_limit(ctx)


@njit
def kdamond_prepare(ctx, pages):
    """Do the part of a loop of kdamond_fn() before the sleep.

    Returns
    -------
    uint64
        Microseconds to wait before trying again where the watermarks of all schemes say so; 0
        when the checks are prepared.
    """
    wait = kdamond_wait_activation(ctx, pages)
    if wait:
        return wait
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
    info = ctx.info[0]
    aggregated = -1
    next_aggregation_sis = info.next_aggregation_sis
    next_ops_update_sis = info.next_ops_update_sis
    info.passed_sample_intervals += ONE
    info.max_nr_accesses = damon_va_check_accesses(ctx, pages)
    window_ends = info.passed_sample_intervals >= next_aggregation_sis
    if window_ends and info.adapt:
        kdamond_merge_regions(ctx, info.max_nr_accesses // TEN, info.sz_limit)
    if len(ctx.schemes):
        kdamond_apply_schemes(ctx, pages)
    if window_ends:
        if info.goal_aggrs and info.passed_sample_intervals >= info.next_intervals_tune_sis:
            info.next_intervals_tune_sis += info.aggr_samples * info.goal_aggrs
            kdamond_tune_intervals(ctx)
        info.next_aggregation_sis = (
            next_aggregation_sis + info.aggr_interval // info.sample_interval
        )
        aggregated = kdamond_reset_aggregated(ctx)
        info.windows += ONE
        if info.adapt:
            kdamond_split_regions(ctx)
    if info.passed_sample_intervals >= next_ops_update_sis:
        info.next_ops_update_sis = (
            next_ops_update_sis + info.ops_update_interval // info.sample_interval
        )
        if not info.fixed_ranges:
            damon_va_update(ctx)
        info.sz_limit = damon_region_sz_limit(ctx)
    return aggregated

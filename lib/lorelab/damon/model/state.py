"""State of one DAMON context, its lists of regions, and its source of random numbers.

One `Damon` holds what the kernel keeps in `struct damon_ctx`, `struct damon_attrs`, the locals of
`kdamond_fn()` and the regions of all targets (include/linux/damon.h, Linux 6.12.117), as flat
arrays. Lists are the kernel's circular doubly linked lists; an entry is an index into `regions`,
and the heads, one a target, sit behind the pool:

        regions   [ 0 | 1 | 2 | ... | capacity - 1 | head of target 0 | head of target 1 ... ]

Addresses and sizes are bytes, intervals microseconds, and every number is a uint64 once read.
"""

from typing import NamedTuple

import numpy as np

from lorelab.damon.model.prandom import prandom_seed_state
from lorelab.damon.params import Variant
from lorelab.numerics import GOLDEN, ONE, PAGE, ZERO, U, njit, splitmix64

THREE, TEN = U(3), U(10)
DAMON_MIN_REGION = U(PAGE)
BP = U(10000)
U32 = U(0xFFFFFFFF)
ULONG_MAX = U(2**64 - 1)
PIECES = 1 << 17  # room for what a quota cuts off a range that a filter leaves out

REGION = np.dtype(
    [
        ("start", "u8"),
        ("end", "u8"),
        ("sampling_addr", "u8"),
        ("nr_accesses", "u4"),
        ("nr_accesses_bp", "u4"),
        ("age", "u4"),
        ("last_nr_accesses", "u4"),
        ("prev", "u4"),
        ("next", "u4"),
    ]
)
INFO = np.dtype(
    [
        (name, "u8")
        for name in (
            "sample_interval",
            "aggr_interval",
            "ops_update_interval",
            "min_nr_regions",
            "max_nr_regions",
            "passed_sample_intervals",
            "next_aggregation_sis",
            "next_ops_update_sis",
            "max_nr_accesses",
            "sz_limit",
            "now",  # microseconds since the start
            "fixed_ranges",  # DAMON_OPS_FVADDR: no regions from mappings, no update
            "adapt",  # regions merge and split
            "max_pieces",  # 3: as the kernel splits; 2: never in three
            "rand64",  # damon_rand() takes the whole width
            "v7_3",  # all of it is 7.3.4's (`lorelab.damon.model.v7_3`)
            "splits_some",  # 7.3.4's: some regions are split above half of max_nr_regions
            "goal_access_bp",  # 6.15's intervals_goal
            "goal_aggrs",
            "goal_min_sample",
            "goal_max_sample",
            "aggr_samples",
            "next_intervals_tune_sis",
            "free",  # first unused region of the pool
            "enomem",  # regions that the pool could not give
            "random",  # state of the generator
            "next_number",  # next of `numbers`
            "starved",  # random numbers or checks asked for past the end of a recording
            "checks",  # counters over the run
            "work_ns",
            "windows",
            "splits",
            "merges",
        )
    ]
)
SCHEME = np.dtype(
    [
        (name, "u8")
        for name in (
            "min_sz_region",
            "max_sz_region",
            "min_nr_accesses",
            "max_nr_accesses",
            "min_age_region",
            "max_age_region",
            "action",
            "apply_interval_us",
            "next_apply_sis",
            "reset_interval",  # quota: milliseconds
            "ms",
            "sz",
            "esz",
            "weight_sz",
            "weight_nr_accesses",
            "weight_age",
            "total_charged_sz",
            "total_charged_ns",
            "charged_sz",
            "charged_from",  # jiffies
            "charge_target_from",  # target's index + 1; 0 is NULL
            "charge_addr_from",
            "min_score",
            "esz_bp",
            "wmark_metric",
            "wmark_interval",
            "high",
            "mid",
            "low",
            "activated",
            "nr_tried",  # struct damos_stat
            "sz_tried",
            "nr_applied",
            "sz_applied",
            "qt_exceeds",
            "nr_refused",  # of nr_tried: the quota had less than a page left
        )
    ]
)
GOAL = np.dtype([("scheme", "u8"), ("target_value", "u8"), ("current_value", "u8")])
FILTER = np.dtype([(name, "u8") for name in ("scheme", "type", "matching", "start", "end")])
SNAPSHOT = np.dtype(
    [("target", "u8"), ("start", "u8"), ("end", "u8"), ("nr_accesses", "u4"), ("age", "u4")]
)


class Damon(NamedTuple):
    """A monitoring context (struct damon_ctx)."""

    info: np.ndarray  # (1,) INFO: attributes, kdamond_fn()'s locals, switches, counters
    regions: np.ndarray  # (capacity + targets,) REGION: the pool, then the list heads
    nr_regions: np.ndarray  # (targets,) u8
    vmas: np.ndarray  # (mappings, 3) u8: target, start, end; by target, then address
    static: (
        np.ndarray
    )  # (2,) u8: last_nr_regions, and 7.3's rotation: shared by a kernel's contexts
    numbers: np.ndarray  # (n,) u8: recorded results of get_random_u32_below(); empty: generate
    schemes: np.ndarray  # (n,) SCHEME
    goals: np.ndarray  # (n,) GOAL: quota goals of metric user_input
    filters: np.ndarray  # (n,) FILTER: the filters that the core handles
    histogram: np.ndarray  # (100,) u8: regions_score_histogram
    three_ranges: np.ndarray  # (3, 2) u8: scratch of damon_va_three_regions()
    trace: np.ndarray  # (capacity,) SNAPSHOT: what damon:damon_aggregated said last
    rnd_state: np.ndarray  # (4,) u4: 7.3's generator


def damon_new_ctx(
    vmas,
    variant=Variant.DAMON,
    sample_us=5_000,
    aggr_us=100_000,
    update_us=60_000_000,
    min_regions=10,
    max_regions=1000,
    targets=1,
    seed=0,
    numbers=(),
    rand64=False,
    schemes=None,
    goals=None,
    filters=None,
    static=None,
    rnd_state=None,
):
    """Make a context as damon_new_ctx() and damon_set_attrs() do.

    Parameters
    ----------
    vmas : sequence of (target, start, end)
        Mappings of the targets, in bytes, by target and then address.
    variant : Variant
        Which algorithm adapts regions and intervals.
    sample_us, aggr_us, update_us : int
        Intervals, in microseconds.
    min_regions, max_regions : int
        Bounds of the number of regions, over all targets.
    targets : int
        Processes monitored.
    seed : int
        Of the generator; not used where `numbers` are given.
    numbers : sequence of int
        Results of get_random_u32_below() to use, in the order of the calls.
    rand64 : bool
        Let damon_rand() see widths above 4 GiB; Linux 6.12 does not.
    schemes, goals, filters : ndarray, optional
        Of SCHEME, GOAL, FILTER.
    static : ndarray, optional
        `static` of a context on the same kernel.
    rnd_state : (4,) uint32 array, optional
        Of 7.3's generator; otherwise it follows from `seed`.

    Returns
    -------
    Damon

    Raises
    ------
    ValueError
        What damon_set_attrs() answers with -EINVAL.
    """
    if min_regions < 3 or min_regions > max_regions:
        raise ValueError("takes 3 <= min_regions <= max_regions")
    if not 0 < sample_us <= aggr_us:
        raise ValueError("takes 0 < sample_us <= aggr_us")
    traits = variant.traits
    info = np.zeros(1, INFO)
    for name, value in {
        "adapt": traits.adapts,
        "max_pieces": traits.pieces,
        "rand64": rand64,
        "v7_3": traits.release == "7.3",
        "splits_some": True,
        "random": seed,
    }.items():
        info[name] = value
    damon_set_attrs(info, sample_us, aggr_us, update_us, min_regions, max_regions)
    if goal := traits.goal:
        info["goal_access_bp"], info["goal_aggrs"] = goal.access_bp, goal.aggrs
        info["goal_min_sample"], info["goal_max_sample"] = goal.min_sample_us, goal.max_sample_us
    if rnd_state is None:
        rnd_state = np.zeros(4, np.uint32)
        if traits.own_random:
            seed_own_random(rnd_state, seed)
    return lay_out(
        info,
        np.array(vmas, U).reshape(-1, 3),
        targets,
        np.zeros(2, U) if static is None else static,
        np.array(numbers, U),
        np.zeros(0, SCHEME) if schemes is None else schemes,
        np.zeros(0, GOAL) if goals is None else goals,
        np.zeros(0, FILTER) if filters is None else filters,
        rnd_state,
    )


@njit
def damon_set_attrs(info, sample_us, aggr_us, update_us, min_regions, max_regions):
    """Set intervals (us) and bounds of a context's `info`, as damon_set_attrs() does."""
    one = info[0]
    one.sample_interval = sample_us
    one.aggr_interval = aggr_us
    one.ops_update_interval = update_us
    one.min_nr_regions = min_regions
    one.max_nr_regions = max_regions
    one.aggr_samples = aggr_us // sample_us


@njit
def seed_own_random(rnd_state, seed):
    """Seed 7.3's generator with what follows from the seed of a run."""
    prandom_seed_state(rnd_state, splitmix64(U(seed) + GOLDEN))


@njit
def lay_out(info, vmas, targets, static, numbers, schemes, goals, filters, rnd_state):
    """Put a context together around its attributes; its lists are empty, all regions in the pool.

    Parameters are the fields of `Damon`, and the number of targets.
    """
    # A split ends at or below max_regions. Pieces left by a quota or a filter, two a scheme and
    # region at most, and filled holes, may come on top until the next merge. What a filter leaves
    # out is cut to what is left of a quota, too, and not charged, so the next cut follows, without
    # a bound but its pages (damos_apply_scheme()).
    one = info[0]
    capacity = np.int64(U(4) * one.max_nr_regions + U(targets) * (one.min_nr_regions + U(8)))
    if len(filters):
        capacity += PIECES
    regions = np.zeros(capacity + targets, REGION)
    for i in range(capacity):
        regions[i].next = i + 1
    for i in range(capacity, capacity + targets):
        regions[i].prev = regions[i].next = i
    return Damon(
        info,
        regions,
        np.zeros(targets, U),
        vmas,
        static,
        numbers,
        schemes,
        goals,
        filters,
        np.zeros(100, U),
        np.zeros((3, 2), U),
        np.zeros(capacity, SNAPSHOT),
        rnd_state,
    )


@njit
def get_random_u64(ctx):
    """Next number of the seeded generator (splitmix64)."""
    info = ctx.info[0]
    info.random += GOLDEN
    return splitmix64(info.random)


@njit
def damon_rand(ctx, left, right):
    """Draw a number in [left, right) (include/linux/damon.h).

    The width goes through get_random_u32_below(u32), so only its low 32 bits count: of a region
    larger than 4 GiB nothing past the first (size mod 4 GiB) bytes is ever drawn, and all of the
    first 4 GiB where that is 0. With `rand64` the whole width counts.
    """
    info = ctx.info[0]
    width = right - left
    if len(ctx.numbers):
        if info.next_number >= U(len(ctx.numbers)):
            info.starved += ONE
            return left
        info.next_number += ONE
        return left + ctx.numbers[info.next_number - ONE]
    if info.rand64 and width > U32:
        return left + get_random_u64(ctx) % width
    ceil = width & U32
    if ceil == ZERO:
        return left + (get_random_u64(ctx) >> U(32))
    mult = ceil * (get_random_u64(ctx) >> U(32))
    if mult & U32 < ceil:
        bound = (U(1 << 32) - ceil) % ceil
        while mult & U32 < bound:
            mult = ceil * (get_random_u64(ctx) >> U(32))
    return left + (mult >> U(32))


@njit
def head_of(ctx, t):
    """Index of the list head of target `t`."""
    return U(len(ctx.regions)) - U(len(ctx.nr_regions)) + t


@njit
def damon_first_region(ctx, t):
    """Index of the first region of target `t`; the head where there is none."""
    return U(ctx.regions[head_of(ctx, t)].next)


@njit
def sampling_addrs(ctx, addresses):
    """Put what is sampled of the first target into `addresses`, region by region; how many."""
    n, head = 0, head_of(ctx, ZERO)
    i = damon_first_region(ctx, ZERO)
    while i != head:
        addresses[n] = ctx.regions[i].sampling_addr
        n += 1
        i = U(ctx.regions[i].next)
    return n


@njit
def damon_sz_region(ctx, i):
    """Size of region `i`, in bytes."""
    return ctx.regions[i].end - ctx.regions[i].start


@njit
def damon_insert_region(ctx, t, start, end, following):
    """Take a region from the pool and link it before `following` (damon_new_region() too).

    Returns
    -------
    uint64
        Index of the region; the size of the pool where that is empty, as NULL in the kernel.
    """
    info = ctx.info[0]
    i = info.free
    if i == head_of(ctx, ZERO):
        info.enomem += ONE
        return i
    r = ctx.regions[i]
    info.free = U(r.next)
    r.start = start
    r.end = end
    r.nr_accesses = ZERO
    r.nr_accesses_bp = ZERO
    r.age = ZERO
    r.last_nr_accesses = ZERO
    before = U(ctx.regions[following].prev)
    r.prev = before
    r.next = following
    ctx.regions[before].next = i
    ctx.regions[following].prev = i
    ctx.nr_regions[t] += ONE
    return i


@njit
def damon_destroy_region(ctx, t, i):
    """Unlink a region and give it back to the pool."""
    r = ctx.regions[i]
    ctx.regions[r.prev].next = r.next
    ctx.regions[r.next].prev = r.prev
    r.next = ctx.info[0].free
    ctx.info[0].free = i
    ctx.nr_regions[t] -= ONE


@njit
def align_down(value):
    """Largest multiple of DAMON_MIN_REGION up to `value`."""
    return value & ~(DAMON_MIN_REGION - ONE)


@njit
def align_up(value):
    """Smallest multiple of DAMON_MIN_REGION from `value` on."""
    return align_down(value + (DAMON_MIN_REGION - ONE))

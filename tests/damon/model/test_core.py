"""kdamond's loop against an oracle of 6.12, and its invariants."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.damon.model import core, kdamond, state
from lorelab.damon.model.memory import new_pages
from lorelab.damon.model.state import U, damon_insert_region
from lorelab.damon.params import Speeds, Variant
from lorelab.damon.workload import masim
from tests.damon.following import (
    PAGE,
    UINT_MAX,
    ULONG_MAX,
    Scheme,
    flat,
    model_of,
    oracle_run,
    regions_of,
    remapped_twice,
    step,
)

RUNS = settings(max_examples=40, derandomize=True)


@st.composite
def attributes(draw):
    """Intervals and bounds of DAMON: sample, aggr, update, min, max."""
    window = draw(st.integers(1, 24))
    sample = draw(st.sampled_from([1000, 5000]))
    least = draw(st.integers(3, 12))
    return (
        sample,
        window * sample + draw(st.integers(0, sample - 1)),
        draw(st.integers(1, 80)) * sample,
        least,
        draw(st.integers(least, 60)),
    )


@st.composite
def address_spaces(draw, targets):
    """Mappings of each target: four or more with gaps of any size, often not a page's multiple."""
    spaces = []
    for _ in range(targets):
        at, vmas = draw(st.integers(1, 1000)) * PAGE, []
        for _ in range(4):
            at += draw(st.integers(0, 5000)) * PAGE
            end = at + draw(st.integers(1, 3000)) * PAGE
            vmas.append((at, end))
            at = end
        spaces.append(vmas)
    return spaces


@st.composite
def schemes(draw):
    """A scheme with any of quota, priorities, goals and filters."""
    quota = draw(st.sampled_from(["none", "sz", "ms", "goal", "both"]))
    bound = st.sampled_from([0, 1, 3, UINT_MAX])
    low, high = draw(st.integers(0, 12000)) * PAGE, draw(st.integers(0, 12000)) * PAGE
    where = [("addr", draw(st.booleans()), min(low, high) + 100, max(low, high) + 5000)]
    return Scheme(
        sz=(draw(st.sampled_from([0, PAGE, 64 * PAGE])), ULONG_MAX),
        nr_accesses=(0, draw(bound)),
        age=(draw(st.integers(0, 3)), UINT_MAX),
        action=draw(st.sampled_from(["stat", "pageout", "hugepage"])),
        apply_interval=draw(st.sampled_from([0, 10_000, 35_000])),
        reset_ms=draw(st.sampled_from([0, 20, 500])),
        quota_sz=draw(st.integers(1, 4000)) * 1500 if quota in ("sz", "both") else 0,
        quota_ms=draw(st.integers(1, 3)) if quota == "ms" else 0,
        weights=draw(st.tuples(st.integers(0, 100), st.integers(0, 100))),
        goals=[(100, draw(st.integers(0, 250)))] if quota in ("goal", "both") else [],
        filters=where * draw(st.integers(0, 1)),
    )


@RUNS
@given(st.data(), attributes(), st.integers(1, 2), st.integers(0, 2**32), st.integers(0, 2))
def test_follows_the_kernel_region_for_region(data, attrs, targets, seed, nr_schemes):
    spaces = [data.draw(address_spaces(targets)) for _ in range(3)]
    given_schemes = [data.draw(schemes()) for _ in range(nr_schemes)]
    check_against_the_oracle(spaces, attrs, 200, seed, given_schemes)


def test_follows_the_kernel_for_80_samples():
    """Two targets whose mappings change twice, a quota that a goal feeds, and one by time."""
    always = {"sz": (0, ULONG_MAX), "nr_accesses": (0, UINT_MAX), "age": (0, UINT_MAX)}
    given_schemes = [
        Scheme(**always, action="pageout", reset_ms=20, weights=(3, 7), goals=[(100, 60)]),
        Scheme(**always | {"age": (2, 5)}, action="hugepage", reset_ms=500, quota_sz=50 * PAGE),
    ]
    spaces, attrs = remapped_twice(), (5000, 21_000, 60_000, 4, 12)
    check_against_the_oracle(spaces, attrs, 80, 5, given_schemes)


def check_against_the_oracle(spaces, attrs, samples, seed, given_schemes):
    """Region for region after each sample, and in what schemes count."""

    def remaps(n):
        return n * len(spaces) // samples

    history, world, kdamond = oracle_run(spaces, attrs, samples, seed, given_schemes, remaps)
    ctx, pages = model_of(spaces, attrs, world, given_schemes)
    for n, (regions, aggregated) in enumerate(history):
        ctx.vmas[:] = flat(spaces[remaps(n)])
        assert step(ctx, pages) == aggregated
        assert regions_of(ctx) == regions
    assert ctx.info["next_number"] == len(world.numbers)
    assert pages.info["next_check"] == len(world.checks)
    assert ctx.info["starved"] == pages.info["starved"] == ctx.info["enomem"] == 0
    for k, s in enumerate(kdamond.schemes):
        for name, value in s.stat.items():
            assert ctx.schemes[k][name] == value
        assert ctx.schemes[k]["esz"] == s.esz


@RUNS
@given(st.data(), attributes(), st.integers(0, 2**32))
def test_regions_stay_sorted_whole_and_bounded(data, attrs, seed):
    spaces = [data.draw(address_spaces(1))]
    history, world, _ = oracle_run(spaces, attrs, 120, seed)
    ctx, pages = model_of(spaces, attrs, world)
    window = attrs[1] // attrs[0]
    initial = regions_of(ctx)
    covered = sum(r[2] - r[1] for r in initial)
    previous = len(initial)
    for n in range(1, len(history) + 1):
        ended = step(ctx, pages) is not None
        rows = regions_of(ctx)
        for _, start, end, nr_accesses, bp, age, last in rows:
            assert start < end and start % PAGE == end % PAGE == 0
            assert 0 <= nr_accesses <= window and last <= window and age <= n
            if ended:
                # No more than a window of rounding on top, for each window without a merge.
                assert nr_accesses == 0 and 0 <= bp - last * 10_000 <= window * n
        for left, right in itertools.pairwise(rows):
            assert left[2] <= right[1]
        # With mappings that stay, an update changes nothing, so the union is always the same.
        assert sum(r[2] - r[1] for r in rows) == covered
        if ended:
            assert len(rows) <= max(attrs[4], previous)
        previous = len(rows)


@RUNS
@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(0, 20)), min_size=3, max_size=40),
    st.integers(0, 20),
    st.integers(3, 40),
    st.integers(1, 2000),
)
def test_a_merge_keeps_bytes_and_the_sum_of_counts(pieces, thres, highest, limit):
    ctx = state.damon_new_ctx([(0, 0, PAGE)], min_regions=3, max_regions=highest)
    at = PAGE
    head = np.uint64(len(ctx.regions) - 1)
    for size, count in pieces:
        i = damon_insert_region(ctx, U(0), U(at), U(at + size * PAGE), head)
        ctx.regions[i]["nr_accesses"] = count
        at += size * PAGE
    before = regions_of(ctx)
    core.kdamond_merge_regions(ctx, U(thres), U(limit * PAGE))
    after = regions_of(ctx)
    assert (after[0][1], after[-1][2]) == (before[0][1], before[-1][2])
    borders = {row[1] for row in before}
    assert {row[1] for row in after} <= borders
    weight = [sum((r[2] - r[1]) * r[3] for r in rows) for rows in (before, after)]
    # Each merge rounds down, by less than one count over the merged region.
    assert 0 <= weight[0] - weight[1] <= int(ctx.info["merges"][0]) * (at - PAGE)
    for row in after:
        assert row[2] - row[1] <= limit * PAGE or row[1:3] in {r[1:3] for r in before}


def test_the_same_seed_gives_the_same_run():
    def run(seed):
        program = masim.builtin("zigzag-30secs")
        patterns, phases, vmas = masim.program(program)
        ctx = state.damon_new_ctx(vmas, seed=seed)
        pages = new_pages(patterns, phases, vmas, speeds=Speeds(check_ns=0), seed=seed)
        core.kdamond_start(ctx, pages)
        for _ in range(30):
            kdamond.kdamond_window(ctx, pages)
        return regions_of(ctx)

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.mark.parametrize("cpus", [1, 2])
def test_half_of_the_work_is_done_before_the_sleep(cpus):
    """Between clearing and looking the program touches pages in the sleep, and as bits are cleared
    where it has a CPU of its own."""
    config = masim.parse("a, 400000000\n\nall\n1000\na, 0, 4096, 1\n", "wide")
    patterns, phases, vmas = masim.program(config)
    speeds = Speeds(access_ns=1000, check_ns=100_000, cpus=cpus)
    pages = new_pages(patterns, phases, vmas, speeds=speeds, truth=True)
    ctx = state.damon_new_ctx(vmas, sample_us=5000, aggr_us=5000)
    core.kdamond_start(ctx, pages)
    kdamond.kdamond_window(ctx, pages)
    busy = int(ctx.info["checks"][0]) * 100_000
    assert busy > 0 and pages.info["now"] == 5_000_000 + busy
    seen_us = 5000 + (busy // 2000 if cpus == 2 else 0)
    assert np.cumsum(pages.truth).sum() == seen_us  # a page a us


@pytest.mark.parametrize(
    ("nr_accesses", "sample", "expected"),
    [
        (0, 10_000, 20_000),  # nothing seen: doubled
        (20, 10_000, 5_000),  # everything seen, 25 times the goal: the least, which is half
        (20, 8_000, 5_000),  # half would be below the goal's least interval
        (0, 9_000_000, 10_000_000),  # double would be above its most
    ],
)
def test_intervals_are_tuned_by_half_or_double_at_most(nr_accesses, sample, expected):
    ctx = state.damon_new_ctx(
        [(0, 0, PAGE)], Variant.TUNED, sample_us=sample, aggr_us=20 * sample, min_regions=3
    )
    i = damon_insert_region(ctx, U(0), U(0), U(100 * PAGE), U(len(ctx.regions) - 1))
    ctx.regions[i]["nr_accesses"], ctx.regions[i]["age"] = nr_accesses, 8
    core.kdamond_tune_intervals(ctx)
    assert ctx.info["sample_interval"] == expected
    assert ctx.info["aggr_interval"] == 20 * expected
    assert ctx.regions[i]["age"] == 8 * sample // expected
    assert ctx.regions[i]["nr_accesses"] == nr_accesses


def test_intervals_are_tuned_as_the_third_window_ends():
    config = masim.parse("a, 400000\n\nall\n1000\na, 0, 4096, 1\n", "small")
    patterns, phases, vmas = masim.program(config)
    pages = new_pages(patterns, phases, vmas, speeds=Speeds(check_ns=0))
    ctx = state.damon_new_ctx(vmas, Variant.TUNED, sample_us=20_000, aggr_us=400_000)
    core.kdamond_start(ctx, pages)
    sample = []
    for _ in range(5):
        kdamond.kdamond_window(ctx, pages)
        sample.append(int(ctx.info["sample_interval"][0]))
    assert sample[0] == sample[1] == 20_000 != sample[2]
    assert sample[2] == sample[3] == sample[4]


@pytest.mark.parametrize(("limit", "left"), [(4, 1), (3, 2)])
def test_a_merge_may_reach_the_size_limit(limit, left):
    ctx = state.damon_new_ctx([(0, 0, PAGE)])
    for at in (2, 4):
        damon_insert_region(ctx, U(0), U(at * PAGE), U((at + 2) * PAGE), U(len(ctx.regions) - 1))
    core.damon_merge_regions_of(ctx, U(0), U(0), U(limit * PAGE), True)
    assert ctx.nr_regions[0] == left


@pytest.mark.parametrize(("window", "left"), [(5, 2), (6, 3)])
def test_half_a_window_or_more_is_followed_by_all_of_it(window, left):
    """2 is doubled below half of 6 samples, and pairs 4 apart merge; of 5 it becomes 5 at once."""
    ctx = state.damon_new_ctx(
        [(0, 0, PAGE)], sample_us=1000, aggr_us=window * 1000, min_regions=3, max_regions=3
    )
    for at, count in ((1, 0), (2, 5), (4, 0), (5, 4)):
        i = damon_insert_region(
            ctx, U(0), U(at * PAGE), U((at + 1) * PAGE), U(len(ctx.regions) - 1)
        )
        ctx.regions[i]["nr_accesses"] = count
    core.kdamond_merge_regions(ctx, U(2), U(100 * PAGE))
    assert ctx.nr_regions[0] == left


@pytest.mark.parametrize(("most", "left"), [(9, 6), (11, 6), (12, 9)])
def test_regions_that_stay_as_many_are_cut_in_three_below_a_third(most, left):
    ctx = state.damon_new_ctx([(0, 0, PAGE)], min_regions=3, max_regions=most, seed=1)
    for at in range(3):
        start, end = (1 + (at + n) * 1000 for n in range(2))
        damon_insert_region(ctx, U(0), U(start * PAGE), U(end * PAGE), U(len(ctx.regions) - 1))
    ctx.static[0] = 3
    core.kdamond_split_regions(ctx)
    assert (ctx.nr_regions[0], ctx.static[0]) == (left, 3)

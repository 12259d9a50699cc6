"""7.3's kdamond against an oracle of it, and its rules one by one."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.damon.model import kdamond, state, v7_3
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.model.state import U, damon_insert_region
from lorelab.damon.params import Masim, Variant
from lorelab.damon.workload import setup
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from tests.damon.following import PAGE, World, flat, regions_of, remapped_twice, step
from tests.damon.model.test_core import RUNS, address_spaces, attributes
from tests.damon.oracle_v7_3 import Kdamond73, Random

WORDS = (1 << 20, 2 << 20, 3 << 20, 4 << 20)


def oracle_run(mappings, attrs, samples, seed, remaps):
    """Regions, addresses and reports of the oracle by sample; the oracle itself; the checks."""
    world = World(seed)
    kdamond73 = Kdamond73(mappings[0], attrs, Random.seeded(seed).words, world.young)
    kdamond73.start()
    history = []
    for n in range(samples):
        kdamond73.mappings = mappings[remaps(n)]
        over = kdamond73.one_sample()
        regions = [
            (t, r.start, r.end, r.nr_accesses, r.age, r.last)
            for t, rs in enumerate(kdamond73.targets)
            for r in rs
        ]
        history.append((regions, kdamond73.drawn, kdamond73.aggregated if over else None))
    return history, kdamond73, world.checks


def model_of(mappings, attrs, seed, checks):
    ctx = state.damon_new_ctx(
        flat(mappings),
        Variant.V7_3,
        *attrs,
        targets=len(mappings),
        rnd_state=np.array(Random.seeded(seed).words, np.uint32),
    )
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), [], recorded=checks)
    kdamond.kdamond_start(ctx, pages)
    return ctx, pages


@RUNS
@given(st.data(), attributes(), st.integers(1, 2), st.integers(0, 2**64 - 1))
def test_follows_the_kernel_region_for_region(data, attrs, targets, seed):
    spaces = [data.draw(address_spaces(targets)) for _ in range(3)]
    check_against_the_oracle(spaces, attrs, 200, seed)


def test_follows_the_kernel_for_80_samples():
    """Two targets whose mappings change twice, in windows of four samples."""
    check_against_the_oracle(remapped_twice(), (5000, 21_000, 60_000, 4, 40), 80, 5)


def check_against_the_oracle(spaces, attrs, samples, seed):
    """Region for region after each sample, and what stays from window to window."""

    def remaps(n):
        return n * len(spaces) // samples

    history, oracle, checks = oracle_run(spaces, attrs, samples, seed, remaps)
    ctx, pages = model_of(spaces[0], attrs, seed, checks)
    for n, (regions, _, aggregated) in enumerate(history):
        ctx.vmas[:] = flat(spaces[remaps(n)])
        assert step(ctx, pages) == aggregated
        mine = [(*row[:4], *row[5:]) for row in regions_of(ctx)]
        assert mine == regions
    assert ctx.rnd_state.tolist() == oracle.random.words
    assert ctx.static.tolist() == [oracle.kernel["last_nr_regions"], oracle.kernel["rotation"]]
    assert pages.info["next_check"] == len(checks)
    assert pages.info["starved"] == ctx.info["enomem"] == 0


def test_every_part_of_the_oracle_is_met():
    """Else the test above would say little: splits of all kinds, and regions that are cut down."""
    spaces = [[[(PAGE, 9000 * PAGE), (20_000 * PAGE, 20_001 * PAGE), (10**9, 2 * 10**9)]]]
    spaces[0][0] = [(a // PAGE * PAGE, b // PAGE * PAGE) for a, b in spaces[0][0]]
    _, oracle, _ = oracle_run(spaces, (5000, 20_000, 10**6, 10, 60), 2000, 3, lambda n: 0)
    assert oracle.kernel["rotation"] > 100
    assert oracle.kernel["last_nr_regions"] > 30


def laid(sizes, most=1000, counts=None):
    """A context with regions of so many pages side by side, and the model's own generator."""
    ctx = state.damon_new_ctx([(0, 0, PAGE)], Variant.V7_3, min_regions=3, max_regions=most, seed=5)
    at, head = PAGE, U(len(ctx.regions) - 1)
    for n, size in enumerate(sizes):
        i = damon_insert_region(ctx, U(0), U(at), U(at + size * PAGE), head)
        if counts:
            ctx.regions[i]["nr_accesses"], ctx.regions[i]["last_nr_accesses"] = counts[n]
            ctx.regions[i]["age"] = 9
        at += size * PAGE
    return ctx


def pages_of(ctx):
    return [(row[2] - row[1]) // PAGE for row in regions_of(ctx)]


def test_regions_are_cut_down_to_a_whole_number_of_pages():
    ctx = laid([100, 4, 3])  # a third of 107 pages, rounded up
    assert v7_3.damon_apply_min_nr_regions(ctx) == 36 * PAGE
    assert pages_of(ctx) == [36, 36, 28, 4, 3]
    assert v7_3.damon_apply_min_nr_regions(ctx) == 36 * PAGE
    assert pages_of(ctx) == [36, 36, 28, 4, 3]


@pytest.mark.parametrize(
    ("now", "last", "age"), [(0, 0, 10), (1, 0, 0), (0, 1, 0), (2, 1, 10), (4, 1, 0)]
)
def test_an_age_starts_anew_between_nothing_and_something(now, last, age):
    ctx = laid([5], counts=[(now, last)])
    v7_3.damon_merge_regions_of(ctx, U(0), U(2), U(5 * PAGE), True)
    assert regions_of(ctx)[0][5] == age


def test_above_half_some_are_split_in_turns():
    """Of 8 with room for 10, one in 10 // 2, and the next time the one after it."""
    ctx = laid([10] * 8, most=10)
    for turn in range(5):
        v7_3.kdamond_split_regions(ctx)
        cut = [n for n, size in enumerate(pages_of(ctx)) if size != 10]
        assert ctx.static.tolist() == [8, turn + 1]
        expected = [n for n in range(8) if n % 5 == turn]
        # Each cut adds a region behind.
        assert cut == [n + k for k, n in enumerate(expected) for n in (n, n + 1)]
        ctx = laid([10] * 8, most=10)
        ctx.static[:] = 8, turn + 1


@pytest.mark.parametrize(("regions", "most", "after"), [(10, 10, 10), (5, 10, 10), (3, 10, 6)])
def test_none_is_split_at_the_bound_and_all_up_to_its_half(regions, most, after):
    ctx = laid([10] * regions, most=most)
    v7_3.kdamond_split_regions(ctx)
    assert len(regions_of(ctx)) == after
    assert ctx.static.tolist() == [regions, 0]


def test_a_count_that_stays_below_a_third_is_cut_in_three():
    ctx = laid([1000] * 3, most=10)
    ctx.static[0] = 3
    assert v7_3.damon_split_regions_of(ctx, U(0), U(1)) is None and len(regions_of(ctx)) == 3
    # 3 < 10 // 3 does not hold, 3 < 12 // 3 does.
    for most, after in ((10, 6), (12, 9)):
        ctx = laid([1000] * 3, most=most)
        ctx.static[0] = 3
        v7_3.kdamond_split_regions(ctx)
        assert len(regions_of(ctx)) == after


def test_two_pages_are_split_above_half_of_the_bound_only():
    ctx = laid([2] * 6, most=10)  # one in two
    v7_3.kdamond_split_regions(ctx)
    assert len(regions_of(ctx)) > 6
    ctx = laid([2] * 4, most=10)
    v7_3.kdamond_split_regions(ctx)
    assert len(regions_of(ctx)) == 4


def test_first_regions_are_the_three_ranges_cut_down():
    spaces = [[(PAGE, 101 * PAGE), (300 * PAGE, 303 * PAGE), (900 * PAGE, 902 * PAGE)]]
    ctx, _ = model_of(spaces, (5000, 100_000, 10**6, 4, 1000), 1, [])
    # 105 pages in 4: 26.25, and so 27.
    assert pages_of(ctx) == [27, 27, 27, 19, 3, 2]


@pytest.mark.parametrize("width", [1, 9, 2**32 - 1, 2**32, 6 << 30, 2**63 + 11, 2**64 - 1])
def test_a_number_below_any_width(width):
    ctx = state.damon_new_ctx([(0, 0, PAGE)], Variant.V7_3, rnd_state=np.array(WORDS, np.uint32))
    oracle = Kdamond73([], (1, 1, 1, 3, 10), WORDS, None)
    drawn = [int(v7_3.damon_rand(ctx, U(0), U(width))) for _ in range(500)]
    assert drawn == [oracle.rand(0, width) for _ in range(500)]
    assert min(drawn) >= 0 and max(drawn) < width
    assert max(drawn) >= width * 0.98 - 1


def test_a_product_of_128_bits():
    draw = random.Random(1).getrandbits
    for _ in range(2000):
        a, b = draw(64), draw(64)
        assert int(v7_3.mul_u64_u64_shr_64(U(a), U(b))) == a * b >> 64


def test_it_watches_a_program_as_the_others_do():
    params = Masim(variant=Variant.V7_3, workload="stairs-30secs")

    def run(seed):
        config = setup.configuration(params)
        pages = setup.memory(params, config)
        ctx = setup.context(params.model_copy(update={"seed": seed}), pages)
        for _ in range(40):
            n = kdamond.kdamond_window(ctx, pages)
        return ctx.trace[:n].tolist()

    assert run(1) == run(1) != run(2)
    assert any(row[3] > 10 for row in run(1)) and len(run(1)) > 10


@pytest.mark.parametrize("name", ["damon/masim", "damon/schemes"])
def test_what_the_model_lacks_is_refused(name):
    found = experiment(name)
    params = found.Params(variant=Variant.V7_3, workload="whole")
    if name == "damon/masim":
        params = params.model_copy(update={"fresh": True})
    with pytest.raises(BadInput, match=r"variant=v7\.3: the model of it has no"):
        found.simulate(params)

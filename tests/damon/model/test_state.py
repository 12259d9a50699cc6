"""Random numbers, and what contexts share."""

import numpy as np
import pytest

from lorelab.damon.model import core, kdamond, state
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.model.state import U, damon_rand
from lorelab.damon.params import Variant


def test_a_region_above_4_gib_is_sampled_in_its_first_bytes_only():
    start, size = 1 << 40, (6 << 30)
    ctx = state.damon_new_ctx([(0, start, start + size)], seed=3)
    drawn = [int(damon_rand(ctx, U(start), U(start + size))) for _ in range(2000)]
    assert start <= min(drawn) and max(drawn) < start + (2 << 30)
    ctx.info["rand64"] = 1
    drawn = [int(damon_rand(ctx, U(start), U(start + size))) for _ in range(2000)]
    assert max(drawn) > start + (5 << 30)


def test_contexts_share_the_last_count_of_regions():
    spaces = [(0, 0x1000, 0x100000), (0, 0x10000000, 0x20000000), (0, 0x40000000, 0x40001000)]
    one = state.damon_new_ctx(spaces)
    other = state.damon_new_ctx(spaces, static=one.static)
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), spaces)
    core.kdamond_start(one, pages)
    core.kdamond_split_regions(one)
    assert other.static[0] == one.static[0] > 0


def test_what_is_drawn_beyond_the_recorded_numbers_is_counted():
    ctx = state.damon_new_ctx([(0, 0, 1 << 20)], numbers=[5])
    drawn = [int(damon_rand(ctx, U(100), U(200))) for _ in range(3)]
    assert drawn == [105, 100, 100] and ctx.info["starved"] == 2


def test_the_tuned_variant_tunes_after_as_many_windows_as_it_says():
    """kdamond_init_ctx(): next_aggregation_sis times the goal's aggrs."""
    ctx = state.damon_new_ctx([(0, 0, 1 << 20)], Variant.TUNED, sample_us=5000, aggr_us=100_000)
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), [(0, 0, 1 << 20)])
    core.kdamond_start(ctx, pages)
    assert ctx.info["next_intervals_tune_sis"] == 20 * Variant.TUNED.traits.goal.aggrs


def test_a_region_that_is_used_again_begins_anew():
    ctx = state.damon_new_ctx([(0, 0, 1 << 20)], min_regions=3, max_regions=3)
    head = U(len(ctx.regions) - 1)
    i = state.damon_insert_region(ctx, U(0), U(0), U(4096), head)
    for name in COUNTS:
        ctx.regions[i][name] = 7
    state.damon_destroy_region(ctx, U(0), U(i))
    assert state.damon_insert_region(ctx, U(0), U(4096), U(8192), head) == i
    assert [int(ctx.regions[i][name]) for name in COUNTS] == [0, 0, 0, 0]
    assert (ctx.regions[i]["start"], ctx.regions[i]["end"]) == (4096, 8192)


COUNTS = ("nr_accesses", "nr_accesses_bp", "age", "last_nr_accesses")


def test_the_pool_has_room_for_the_first_regions_of_the_narrowest_bounds():
    """Three ranges in three pieces at least, each with a bound of three regions in all."""
    spaces = [(0, low * 4096, high * 4096) for low, high in ((1, 9), (100, 109), (900, 909))]
    ctx = state.damon_new_ctx(spaces, min_regions=3, max_regions=3)
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), spaces)
    core.kdamond_start(ctx, pages)
    core.kdamond_split_regions(ctx)
    assert ctx.info["enomem"] == 0 and ctx.nr_regions[0] >= 3


@pytest.mark.parametrize("above", [0, 5 * 4096, (1 << 20) + 4096, (3 << 20) + 4096])
def test_pages_are_those_of_whole_blocks_of_2_mib(above):
    """From the block of the lowest address of a pattern to that of the highest one."""
    block, patterns = 2 << 20, np.zeros(2, PATTERN)
    patterns["start"] = (1 << 30) + above + np.array([5 * block, 0])
    patterns["sz"], patterns["stride"] = 3 << 20, 4096
    pages = new_pages(patterns, np.zeros(1, PHASE), [], memory=True, truth=True)
    low, high = (int(at) for at in (patterns["start"].min(), patterns["start"].max() + (3 << 20)))
    base, top = low // block * block, -(-high // block) * block
    assert (pages.info["base"][0], pages.info["top"][0]) == (base, top)
    assert len(pages.flags) == (top - base) // 4096 == len(pages.truth) - 1
    assert pages.todo.tolist() == [512] * ((top - base) // block)


def test_a_window_without_a_region_ends():
    """One mapping has no two gaps, so there are no three ranges, and nothing is monitored."""
    ctx = state.damon_new_ctx([(0, 0, 1 << 20)])
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(0, PHASE), [(0, 0, 1 << 20)])
    core.kdamond_start(ctx, pages)
    assert kdamond.kdamond_window(ctx, pages) == 0
    assert ctx.info["passed_sample_intervals"] == 20 and ctx.info["windows"] == 1


def test_what_is_sampled_is_told_of_the_first_target_in_its_order():
    ctx = state.damon_new_ctx([(0, 0, 1 << 20)], targets=2)
    for target, at in ((1, 8), (0, 4), (0, 6), (1, 9)):
        head = state.head_of(ctx, U(target))
        i = state.damon_insert_region(ctx, U(target), U(at * 4096), U((at + 1) * 4096), head)
        ctx.regions[i]["sampling_addr"] = at * 4096 + 7
    addresses = np.zeros(4, np.uint64)
    assert state.sampling_addrs(ctx, addresses) == 2
    assert addresses.tolist() == [4 * 4096 + 7, 6 * 4096 + 7, 0, 0]

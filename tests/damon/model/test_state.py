"""Random numbers, and what contexts share."""

import numpy as np

from lorelab.damon.model import core, state
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

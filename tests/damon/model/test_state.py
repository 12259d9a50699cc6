"""Random numbers, and what contexts share."""

import numpy as np

from lorelab.damon.model import core, state
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.model.state import U, damon_rand


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

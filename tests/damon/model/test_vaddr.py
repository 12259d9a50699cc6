"""The three ranges of a process' mappings, and how regions follow them."""

import numpy as np
import pytest

from lorelab.damon.model import state
from lorelab.damon.model.state import U
from lorelab.damon.model.vaddr import damon_set_regions, damon_va_three_regions
from tests.damon.following import regions_of

PAGE = 4096


def test_of_equal_gaps_the_lower_ones_count():
    vmas = [(0, s * PAGE, e * PAGE) for s, e in ((1, 2), (12, 13), (18, 19), (24, 25))]
    ctx = state.damon_new_ctx(vmas)
    assert damon_va_three_regions(ctx, U(0), ctx.three_ranges)
    assert (ctx.three_ranges // PAGE).tolist() == [[1, 2], [12, 13], [18, 25]]


@pytest.mark.parametrize("ranges", [[(4, 4)], [(6, 4)], [(4, 6), (5, 8)], [(8, 9), (4, 6)]])
def test_ranges_that_are_empty_or_out_of_order_are_refused(ranges):
    """-EINVAL of damon_set_regions(), before it touches a region."""
    ctx = state.damon_new_ctx([(0, 0, PAGE)])
    state.damon_insert_region(ctx, U(0), U(2 * PAGE), U(3 * PAGE), state.head_of(ctx, U(0)))
    assert not damon_set_regions(ctx, U(0), np.array(ranges, U) * U(PAGE))
    assert [row[1:3] for row in regions_of(ctx)] == [(2 * PAGE, 3 * PAGE)]


def test_regions_are_kept_in_the_ranges_that_they_meet():
    """One outside goes, one across a border is cut there, and a hole between two is filled."""
    ctx = state.damon_new_ctx([(0, 0, PAGE)])
    for low, high in ((1, 2), (3, 6), (8, 9)):
        state.damon_insert_region(
            ctx, U(0), U(low * PAGE), U(high * PAGE), state.head_of(ctx, U(0))
        )
    assert damon_set_regions(ctx, U(0), np.array([(4, 10), (12, 13)], U) * U(PAGE))
    pages = [(row[1] // PAGE, row[2] // PAGE) for row in regions_of(ctx)]
    assert pages == [(4, 6), (6, 8), (8, 10), (12, 13)]

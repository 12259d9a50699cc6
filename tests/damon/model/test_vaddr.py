"""The three ranges of a process' mappings."""

from lorelab.damon.model import state
from lorelab.damon.model.state import U
from lorelab.damon.model.vaddr import damon_va_three_regions

PAGE = 4096


def test_of_equal_gaps_the_lower_ones_count():
    vmas = [(0, s * PAGE, e * PAGE) for s, e in ((1, 2), (12, 13), (18, 19), (24, 25))]
    ctx = state.damon_new_ctx(vmas)
    assert damon_va_three_regions(ctx, U(0), ctx.three_ranges)
    assert (ctx.three_ranges // PAGE).tolist() == [[1, 2], [12, 13], [18, 25]]

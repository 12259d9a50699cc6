"""Where two values are equal: the kernel's comparisons, each side of each."""

import numpy as np
import pytest

from lorelab.damon import model
from lorelab.damon.mappings import damon_va_three_regions
from lorelab.damon.schemes import damos_matches
from lorelab.damon.state import REGION, SCHEME, U, damon_insert_region

PAGE = 4096


@pytest.mark.parametrize(("limit", "left"), [(4, 1), (3, 2)])
def test_a_merge_may_reach_the_size_limit(limit, left):
    ctx = model.damon_new_ctx([(0, 0, PAGE)])
    for at in (2, 4):
        damon_insert_region(ctx, U(0), U(at * PAGE), U((at + 2) * PAGE), U(len(ctx.regions) - 1))
    model.damon_merge_regions_of(ctx, U(0), U(0), U(limit * PAGE), True)
    assert ctx.nr_regions[0] == left


@pytest.mark.parametrize(("age", "matches"), [(4, False), (5, True), (7, True), (8, False)])
def test_both_ends_of_a_scheme_belong_to_it(age, matches):
    r, s = np.zeros(1, REGION), np.zeros(1, SCHEME)
    r["end"], r["age"] = PAGE, age
    s["max_sz_region"] = PAGE
    s["min_age_region"], s["max_age_region"] = 5, 7
    assert bool(damos_matches(r[0], s[0])) == matches


def test_of_equal_gaps_the_lower_ones_count():
    vmas = [(0, s * PAGE, e * PAGE) for s, e in ((1, 2), (12, 13), (18, 19), (24, 25))]
    ctx = model.damon_new_ctx(vmas)
    assert damon_va_three_regions(ctx, U(0), ctx.three_ranges)
    assert (ctx.three_ranges // PAGE).tolist() == [[1, 2], [12, 13], [18, 25]]

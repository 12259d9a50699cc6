"""Schemes: bounds, filters, watermarks."""

import numpy as np
import pytest

from lorelab.damon.model import state
from lorelab.damon.model.damos import (
    damon_feed_loop_next_input,
    damos_apply_scheme,
    damos_matches,
    kdamond_wait_activation,
)
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.model.state import REGION, SCHEME, U
from tests.damon.following import (
    PAGE,
    UINT_MAX,
    ULONG_MAX,
    Scheme,
    model_of,
    oracle_run,
    regions_of,
    step,
)


def test_what_a_filter_leaves_out_is_cut_into_pieces_of_the_quota():
    """damos_apply_scheme() cuts to the quota, then asks the filters, and charges for neither."""
    low, high = 10 * PAGE, 2010 * PAGE
    spaces = [[[(low, high), (9000 * PAGE, 9100 * PAGE), (20000 * PAGE, 20100 * PAGE)]]]
    scheme = Scheme(
        sz=(0, ULONG_MAX),
        nr_accesses=(0, UINT_MAX),
        age=(0, UINT_MAX),
        reset_ms=20,
        quota_sz=4 * PAGE,
        filters=[("addr", True, low, high)],
    )
    history, world, _ = oracle_run(spaces, (5000, 50_000, 10**9, 3, 10), 30, 7, [scheme])
    ctx, pages = model_of(spaces, (5000, 50_000, 10**9, 3, 10), world, [scheme])
    for regions, aggregated in history:
        assert step(ctx, pages) == aggregated
        assert regions_of(ctx) == regions
    assert max(len(regions) for regions, _ in history) > 2000 // 4 > 4 * 10
    assert ctx.info["enomem"] == 0


@pytest.mark.parametrize(
    ("before", "free", "activated", "wait"),
    [
        (1, 600, 0, 50),  # above high: off
        (1, 450, 1, 0),  # between high and mid, and on: stays on
        (0, 450, 0, 50),  # between high and mid, and off: stays off
        (0, 300, 1, 0),  # between mid and low: on
        (1, 100, 0, 50),  # below low: off
    ],
)
def test_watermarks_have_hysteresis(before, free, activated, wait):
    scheme = np.zeros(1, SCHEME)
    scheme["wmark_metric"], scheme["wmark_interval"] = 1, 50
    scheme["high"], scheme["mid"], scheme["low"] = 500, 400, 200
    scheme["activated"] = before
    ctx = state.damon_new_ctx([(0, 0, PAGE)], schemes=scheme)
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), [])
    pages.info["free_mem_rate"] = free
    assert kdamond_wait_activation(ctx, pages) == wait
    assert scheme["activated"] == activated


@pytest.mark.parametrize(("age", "matches"), [(4, False), (5, True), (7, True), (8, False)])
def test_both_ends_of_a_scheme_belong_to_it(age, matches):
    r, s = np.zeros(1, REGION), np.zeros(1, SCHEME)
    r["end"], r["age"] = PAGE, age
    s["max_sz_region"] = PAGE
    s["min_age_region"], s["max_age_region"] = 5, 7
    assert bool(damos_matches(r[0], s[0])) == matches


@pytest.mark.parametrize(
    ("last", "score", "expected"),
    [
        (50_000, 10_000, 50_000),
        (50_000, 20_000, 10_000),
        (50_000, 4_000, 80_000),
        (50_000, 12_500, 37_500),
        (11_000, 19_999, 10_000),
        # 10,000 times as much does not fit in 64 bits: divided first, it is rounded down.
        (2**63, 0, 2**63 + 2**63 // 10_000 * 10_000),
        (2**64 - 10, 0, 2**64 - 1),
    ],
)
def test_the_feedback_loop_moves_by_what_the_score_is_off(last, score, expected):
    assert damon_feed_loop_next_input(U(last), U(score)) == expected


def test_what_is_left_of_a_quota_and_no_page_is_refused():
    """1500 bytes are left of it: the region is tried, and nothing is applied to it."""
    scheme = np.zeros(1, SCHEME)
    scheme["max_sz_region"], scheme["activated"] = ULONG_MAX, 1
    scheme["esz"], scheme["charged_sz"] = 2 * PAGE + 1500, 2 * PAGE
    ctx = state.damon_new_ctx([(0, 0, PAGE)], schemes=scheme)
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), [(0, PAGE, 9 * PAGE)])
    head = U(len(ctx.regions) - 1)
    i = state.damon_insert_region(ctx, U(0), U(PAGE), U(4 * PAGE), head)
    damos_apply_scheme(ctx, pages, U(0), U(i), U(0))
    counted = {name: int(scheme[name][0]) for name in COUNTED}
    assert counted == {
        "nr_tried": 1,
        "sz_tried": 0,
        "nr_applied": 0,
        "sz_applied": 0,
        "nr_refused": 1,
    }
    assert ctx.nr_regions[0] == 1 and scheme["charged_sz"] == 2 * PAGE


COUNTED = ("nr_tried", "sz_tried", "nr_applied", "sz_applied", "nr_refused")

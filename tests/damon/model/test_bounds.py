"""Each bound of 6.12's kdamond on both its sides, and its 32 bits where they wrap."""

import numpy as np
import pytest

from lorelab.damon.model import core, damos
from lorelab.damon.model.state import INFO, REGION, SCHEME, U
from tests.damon.following import ULONG_MAX


@pytest.mark.parametrize(
    ("free", "before", "activated"),
    [
        # high and low belong to what is between them; mid is where one that is off stays off.
        *((501, 1, 0), (500, 1, 1), (400, 1, 1), (200, 1, 1), (199, 1, 0)),
        *((500, 0, 0), (400, 0, 0), (399, 0, 1), (200, 0, 1), (199, 0, 0)),
    ],
)
def test_a_watermark_belongs_to_the_side_that_the_kernel_has_it_on(free, before, activated):
    s = np.zeros(1, SCHEME)
    s["wmark_metric"], s["wmark_interval"], s["activated"] = 1, 50, before
    s["high"], s["mid"], s["low"] = 500, 400, 200
    assert damos.damos_wmark_wait_us(s[0], U(free)) == (0 if activated else 50)
    assert s["activated"][0] == activated


LEAST = ULONG_MAX // 10_000
"""From it on 10,000 times as much is divided first, for it might not fit."""


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (LEAST - 1, 2 * (LEAST - 1)),
        (LEAST, LEAST + LEAST // 10_000 * 10_000),
        (2**63 + 4191, 2**64 - 1617),
        (2**63 + 4192, ULONG_MAX),
    ],
)
def test_an_input_that_nothing_comes_of_is_doubled_as_far_as_64_bits_go(last, expected):
    assert LEAST % 10_000, "else both ways come to the same"
    assert damos.damon_feed_loop_next_input(U(last), U(0)) == expected


@pytest.mark.parametrize("aggr_s", [1, 16])
@pytest.mark.parametrize("age", [0, 1, 2**30, 2**31 - 1, 2**31, 2**32 - 1])
def test_an_age_counts_by_its_binary_digits_and_32_of_them_at_most(age, aggr_s):
    """Were there 33, what is coldest would come out as the hottest."""
    info, s, r = np.zeros(1, INFO), np.zeros(1, SCHEME), np.zeros(1, REGION)
    info["sample_interval"] = info["aggr_interval"] = aggr_s * 1_000_000
    s["weight_age"], r["age"] = 1, age
    digits = min((age * aggr_s).bit_length(), 32)
    for count, sign in ((0, -1), (1, 1)):
        r["nr_accesses_bp"] = count * 10_000
        subscore = (32 + sign * digits) * 100 // 32 // 2
        assert damos.damon_hot_score(info[0], r[0], s[0]) == subscore * 99 // 100


@pytest.mark.parametrize("last", [0, 1, 429_496, 429_497, 858_994])
@pytest.mark.parametrize("accessed", [False, True])
def test_a_moving_sum_has_32_bits(last, accessed):
    """unsigned int: 429,496 samples of a window are the most that fit in ten thousandths."""
    r = np.zeros(1, REGION)
    r["last_nr_accesses"], r["nr_accesses"] = last, 7
    r["nr_accesses_bp"] = last * 10_000 % 2**32
    core.damon_update_region_access_rate(r[0], accessed, U(20))
    dropped = last * 10_000 % 2**32 // 20
    expected = (last * 10_000 - dropped + 10_000 * accessed) % 2**32
    assert (r["nr_accesses_bp"][0], r["nr_accesses"][0]) == (expected, 7 + accessed)


@pytest.mark.parametrize(
    ("aggr", "sample", "samples"),
    [(1, 2, 1), (2, 2, 1), (4, 2, 2), (2**33, 2, 2**32 - 1), (2**33 - 2, 2, 2**32 - 1)],
)
def test_a_window_has_a_sample_at_least_and_as_many_as_32_bits_count(aggr, sample, samples):
    info = np.zeros(1, INFO)
    info["aggr_interval"], info["sample_interval"] = aggr, sample
    assert core.damon_max_nr_accesses(info[0]) == samples

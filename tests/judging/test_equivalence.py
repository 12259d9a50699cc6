"""Intervals for the ratio of two means: how often they have what is true, and what narrows them."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.judging.equivalence import EQUAL, ratio


def normal(chance, number, mean, spread):
    return [chance.gauss(mean, mean * spread) for _ in range(number)]


@pytest.mark.parametrize(("before", "after"), [(12, 12), (24, 6), (24, 1), (1, 24)])
def test_the_interval_has_what_is_true_as_often_as_it_says(before, after):
    chance = random.Random(before * 100 + after)
    found = [
        ratio(normal(chance, before, 10, 0.05), normal(chance, after, 12, 0.05))
        for _ in range(2000)
    ]
    inside = sum(low <= 1.2 <= high for _, low, high in found) / len(found)
    assert 0.935 < inside < 0.985


def test_student_by_hand():
    before, after = [9.0, 10.0, 11.0], [18.0, 20.0, 22.0]
    found = ratio(before, after)
    error = math.sqrt(2 * 0.1**2 / 3)
    assert found.estimate == 2
    # Student's 97.5 % quantile with 2 degrees of freedom is 4.3027.
    assert math.log(found.high / 2) == pytest.approx(4.3027 * error, rel=1e-4)
    assert math.log(2 / found.low) == pytest.approx(4.3027 * error, rel=1e-4)


def test_a_deviation_of_ten_per_cent_is_refused_as_often_as_it_says():
    """What is 10 % off is taken for within 10 % in one case of forty: it is one side of 95 %."""
    chance = random.Random(7)
    found = [
        ratio(normal(chance, 24, 10, 0.05), normal(chance, 24, 11, 0.05)).within(0.10)
        for _ in range(4000)
    ]
    assert sum(found) / len(found) == pytest.approx(0.022, abs=0.01)


@given(st.integers(2, 40), st.integers(2, 40), st.floats(0.01, 0.3))
def test_more_repeats_like_those_there_never_make_it_laxer(before, after, spread):
    said = [1 - spread, 1 + spread] * before
    measured = [1 - spread, 1 + spread] * after
    now = ratio(said, measured).detectable
    assert ratio(said * 2, measured).detectable <= now + 1e-12
    assert ratio(said, measured * 2).detectable <= now + 1e-12


def test_repeats_that_are_all_the_same():
    assert ratio([3.0, 3.0], [3.0]) == EQUAL
    assert ratio([0.0], [0.0, 0.0]) == EQUAL
    found = ratio([2.0, 2.0], [3.0, 3.0])
    assert found == (1.5, 1.5, 1.5)
    assert found.detectable == 0.5


def test_nothing_follows_from_a_mean_of_zero():
    for before, after in (([0.0, 0.0], [1.0, 2.0]), ([1.0, 2.0], [0.0, 0.0]), ([0.0], [1.0])):
        found = ratio(before, after)
        assert math.isnan(found.estimate)
        assert found.detectable == math.inf


def test_of_one_repeat_each_only_the_estimate_is_known():
    found = ratio([2.0], [3.0])
    assert found == (1.5, 0.0, math.inf)
    assert found.detectable == math.inf


@pytest.mark.parametrize(("before", "after"), [([2.0] * 3, [3.0]), ([2.0], [3.0] * 3)])
def test_one_repeat_against_some_that_do_not_scatter(before, after):
    """How much it would scatter nobody knows: no interval, least of all one without width."""
    found = ratio(before, after)
    assert found == (1.5, 0.0, math.inf) and found.detectable == math.inf


@given(st.floats(1e-3, 1e6), st.integers(2, 40))
def test_repeats_that_are_all_the_same_do_not_scatter_whatever_their_mean_is_rounded_to(
    one, number
):
    """The mean of equal numbers may be another in its last bit."""
    assert ratio([one] * number, [one * 1.001]) == (pytest.approx(1.001), 0.0, math.inf)

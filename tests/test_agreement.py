"""How far apart repeats of two sides are: against what can be counted by hand, and by chance."""

import random
from itertools import permutations

import pytest

from lorelab.agreement import _ways, quotient


def test_ways_are_those_of_all_orders():
    for n, m in ((1, 1), (2, 3), (4, 2), (3, 3)):
        counted = [0] * (n * m + 1)
        for order in set(permutations("a" * n + "b" * m)):
            pairs = [(x, y) for i, x in enumerate(order) for y in order[i:]]
            counted[pairs.count(("b", "a"))] += 1
        assert _ways(n, m) == counted


def test_six_against_six():
    """Mann and Whitney's table has 5 for 6 against 6 at 5 %: the 6th quotient from either end."""
    before, after = [1.0] * 6, [float(n) for n in range(1, 7)]
    assert quotient(before, after) == (1.0, 3.5, 6.0)
    before = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    every = sorted(b / a for a in before for b in after)
    low, estimate, high = quotient(before, after)
    assert (low, high) == (every[5], every[30])
    assert estimate == pytest.approx((every[17] + every[18]) / 2)


def test_the_interval_has_what_is_true_as_often_as_it_says():
    chance = random.Random(1)

    def repeats(factor):
        return [factor * (100 + chance.expovariate(1)) for _ in range(6)]

    found = [quotient(repeats(1), repeats(1.01)) for _ in range(2000)]
    assert 0.94 < sum(low <= 1.01 <= high for low, _, high in found) / len(found) < 0.98


def test_three_repeats_are_too_few():
    with pytest.raises(ValueError, match="take 4 on either side"):
        quotient([1, 2, 3], [1, 2, 3])
    assert quotient([1, 2, 4, 8], [1, 2, 4, 8]) == (1 / 8, 1, 8)

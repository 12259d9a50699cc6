"""How far apart two sides can be, given repeats of either: intervals for the ratio of their means.

The field's name for what it serves is a test of equivalence (Schuirmann's two one-sided tests): two
means are shown to be within 10 % of each other if the interval of their ratio is within 0.9 and
1.1. More repeats can only make the interval narrower, so they never make such a test laxer.

`ratio` is that interval, of every counter: two samples, each with a mean that more repeats narrow.
Another question is how many times longer one side waits than the other, where a run that ends first
cuts a wait off (damon/hotspot: up to half of the recorded ones). What such waits have for a mean
depends on where runs end; which of two waits is longer does not, as long as one of them ended. So
`hodges_lehmann_ratio` gives their factor from the order of the waits, whatever their distribution.

A thread that prints a mean and a deviation gives no repeats; `swap/thread` has Student's interval
for those.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np


class Ratio(NamedTuple):
    """The ratio of two means, and between which factors it is."""

    estimate: float
    low: float
    high: float

    @property
    def detectable(self) -> float:
        """Smallest deviation of the ratio from 1, up or down, that these repeats would refuse."""
        return max(self.high - 1, 1 - self.low)

    def within(self, share: float) -> bool:
        """Whether a deviation of `share` is refused on either side."""
        return self.detectable <= share


EQUAL = Ratio(1.0, 1.0, 1.0)
UNKNOWN = Ratio(np.nan, 0.0, np.inf)


def ratio(before: Sequence[float], after: Sequence[float], confidence: float = 0.95) -> Ratio:
    """The mean of `after` over that of `before`.

    The logarithm of the ratio has the standard error of the delta method, and Student's quantile
    with the degrees of freedom of the smaller side, which are never more than Welch's and, unlike
    those, never fewer for more repeats. A side of one repeat is taken to scatter as the other does.
    If the other does not scatter, how the first would is not known: a program that always gives the
    same says nothing about a machine that was asked once. A spread of 0 that was taken over would
    make an interval of no width out of one measurement.

    Parameters
    ----------
    before, after : sequence of float
        Independent repeats, none below 0.
    confidence : float
        Of the interval.

    Returns
    -------
    Ratio
        `EQUAL` where all repeats of both sides are the same; `UNKNOWN` where one mean is 0 and the
        other is not. Only the estimate is known of two single repeats that differ, and of a single
        one that differs from repeats that are all the same.

    Examples
    --------
    >>> interval = ratio([100, 101, 99, 100], [103, 104, 102, 103])
    >>> interval.estimate, round(interval.low, 3), round(interval.high, 3), interval.within(0.10)
    (1.03, 1.012, 1.049, True)
    >>> ratio([100, 100], [109])  # how much the one would scatter is not known
    Ratio(estimate=1.09, low=0.0, high=inf)
    """
    sides = [np.asarray(repeats, float) for repeats in (before, after)]
    if len({*sides[0], *sides[1]}) == 1:
        return EQUAL
    if min(side.mean() for side in sides) <= 0:
        return UNKNOWN
    estimate = float(sides[1].mean() / sides[0].mean())
    if max(len(side) for side in sides) == 1:
        return UNKNOWN._replace(estimate=estimate)
    spreads = [_spread(side) for side in sides]
    known = [spread for spread in spreads if not np.isnan(spread)]
    if len(known) == 1 and known[0] == 0:
        return UNKNOWN._replace(estimate=estimate)
    spreads = [known[0] if np.isnan(spread) else spread for spread in spreads]
    parts = [spread**2 / len(side) for spread, side in zip(spreads, sides, strict=True)]
    error = np.sqrt(sum(parts))
    if error == 0:
        return Ratio(estimate, estimate, estimate)
    freedom = min(len(side) for side in sides if len(side) > 1) - 1
    # Here, for it is a fifth of what a command takes to start, and most need no interval.
    from scipy.special import stdtrit

    reach = stdtrit(freedom, (1 + confidence) / 2) * error
    return Ratio(estimate, float(estimate * np.exp(-reach)), float(estimate * np.exp(reach)))


def _spread(side: np.ndarray) -> float:
    if len(side) == 1:
        return np.nan
    # The mean of equal numbers may be off by a bit, which is no scatter.
    return side.std(ddof=1) / side.mean() if np.ptp(side) else 0.0


def hodges_lehmann_ratio(before: list[float], after: list[float]) -> tuple[float, float, float]:
    """How many times longer waits are on one side, and the range that may be.

    Waits may be cut off where runs end. Of all quotients of a repeat and one of the other side, the
    estimate is the median (Hodges and Lehmann), and the interval has those by which one side could
    be multiplied without Mann and Whitney's test telling the two apart: at least 95 % confidence,
    whatever the distribution, if the sides differ by a factor alone.

    Parameters
    ----------
    before, after : list of float
        Independent repeats, 4 or more on either side.

    Returns
    -------
    low, estimate, high : float

    Examples
    --------
    >>> hodges_lehmann_ratio([1, 2, 4, 8], [2, 4, 8, 16])
    (0.25, 2.0, 16.0)
    """
    quotients = sorted(b / a for a in before for b in after)
    ways = mann_whitney_counts(len(before), len(after))
    below = np.array(list(accumulate(ways)), float) / sum(ways)
    place = int(np.searchsorted(below, 0.025, side="right"))
    if place == 0:
        raise ValueError("too few repeats for an interval of 95 %: take 4 on either side")
    return quotients[place - 1], float(np.median(quotients)), quotients[-place]


def ks_statistic(a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance of two cumulative distributions (Kolmogorov and Smirnov's statistic).

    Parameters
    ----------
    a, b : (n,) arrays
        How many of either side have each of n values, lowest first.

    Returns
    -------
    float
        From 0 to 1. A side that has none at all is 0 from another such, and 1 from any that has.

    Examples
    --------
    >>> ks_statistic(np.array([2, 2, 0]), np.array([0, 2, 2]))
    0.5
    """
    shares = [np.cumsum(side) / (np.sum(side) or 1) for side in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


@cache
def mann_whitney_counts(n: int, m: int) -> list[int]:
    """By u, orders of n and m values in which u pairs have the one of the n after that of the m.

    The coefficients of Gauss' binomial, the product of (1 - q**(m + i)) / (1 - q**i) for i to n.

    Examples
    --------
    >>> mann_whitney_counts(2, 2)  # of the 6 orders, 2 have two pairs that way round
    [1, 1, 2, 1, 1]
    """
    ways = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for u in range(n * m, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, n * m + 1):
            ways[u] += ways[u - i]
    return ways

"""How far apart two means can be, given repeats of either side: an interval for their ratio.

The field's name for what it serves is a test of equivalence (Schuirmann's two one-sided tests): two
means are shown to be within 10 % of each other if the interval of their ratio is within 0.9 and
1.1. More repeats can only make the interval narrower, so they never make such a test laxer.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Ratio(NamedTuple):
    """The ratio of two means, and between which factors it is."""

    estimate: float
    low: float
    high: float

    @property
    def refuses(self) -> float:
        """Smallest deviation of the ratio from 1, up or down, that these repeats would refuse."""
        return max(self.high - 1, 1 - self.low)

    def within(self, share: float) -> bool:
        """Whether a deviation of `share` is refused on either side."""
        return self.refuses <= share


EQUAL = Ratio(1.0, 1.0, 1.0)
UNKNOWN = Ratio(np.nan, 0.0, np.inf)


def ratio(before: Sequence[float], after: Sequence[float], confidence: float = 0.95) -> Ratio:
    """The mean of `after` over that of `before`.

    The logarithm of the ratio has the standard error of the delta method, and Student's quantile
    with the degrees of freedom of the smaller side, which are never more than Welch's and, unlike
    those, never fewer for more repeats. A side of one repeat is taken to scatter as the other does.

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
        other is not. Of one repeat on either side that differ nothing is known but the estimate.
    """
    sides = [np.asarray(repeats, float) for repeats in (before, after)]
    if len({*sides[0], *sides[1]}) == 1:
        return EQUAL
    if min(side.mean() for side in sides) <= 0:
        return UNKNOWN
    estimate = float(sides[1].mean() / sides[0].mean())
    if max(len(side) for side in sides) == 1:
        return UNKNOWN._replace(estimate=estimate)
    spreads = [side.std(ddof=1) / side.mean() if len(side) > 1 else np.nan for side in sides]
    known = [spread for spread in spreads if not np.isnan(spread)]
    spreads = [known[0] if np.isnan(spread) else spread for spread in spreads]
    parts = [spread**2 / len(side) for spread, side in zip(spreads, sides, strict=True)]
    error = np.sqrt(sum(parts))
    if error == 0:
        return Ratio(estimate, estimate, estimate)
    freedom = min(len(side) for side in sides if len(side) > 1) - 1
    # Here, for it is a fifth of what opens a door, and most of them ask for no interval.
    from scipy.special import stdtrit

    reach = stdtrit(freedom, (1 + confidence) / 2) * error
    return Ratio(estimate, float(estimate * np.exp(-reach)), float(estimate * np.exp(reach)))

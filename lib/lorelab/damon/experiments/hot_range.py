"""`damon/hot-range`: regions that follow one hot range, which moves once.

The error beside that of a monitor which reports nothing accessed says how much of the truth the
regions hold; what that costs are the checks of a window.
"""

import pandas as pd

from lorelab import counters
from lorelab.damon.params import HotRange
from lorelab.damon.workload.hot_range import COUNTING, UNITS, begin, end, window
from lorelab.flat import flat
from lorelab.numerics import njit
from lorelab.params import label


@njit
def watch(p):
    """Run it.

    Parameters
    ----------
    p : record
        As `lorelab.flat.flat` makes it of `HotRange`.

    Returns
    -------
    (n, 14) float64 array
        The rows of `workload.hot_range`.
    """
    ctx, pages, rows = begin(p)
    used, moved = p.windows, 0.0
    for number in range(p.windows):
        used, at = window(p, ctx, pages, rows, used, number)
        moved = max(moved, at)
    return end(p, rows, used, moved)


def simulate(params: HotRange) -> pd.DataFrame:
    """Simulate `damon/hot-range`.

    Returns
    -------
    DataFrame
        Per window: regions, splits, merges and checks; the error of the rate, beside that of a
        report that nothing was accessed; bytes on the wrong side of "hot"; when it ended.
    """
    rows = watch(flat(params, {})[0])[: params.windows, :COUNTING]
    columns = {name: (unit, rows[:, n]) for n, (name, unit) in enumerate(UNITS.items())}
    return counters.table("damon/hot-range", label(params.variant), "model", columns)

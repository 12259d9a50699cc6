"""`damon/hot-range`: regions that follow one hot range, which moves once.

The error beside that of a monitor which reports nothing accessed says how much of the truth the
regions hold; what that costs are the checks of a window.
"""

import pandas as pd

from lorelab import counters
from lorelab.damon.params import HotRange
from lorelab.damon.workload.hot_range import COUNTING, DRAWN, UNITS, watch
from lorelab.panel.values import flat
from lorelab.params import label


def watched(params: HotRange) -> pd.DataFrame:
    """Run it, and keep what a chart draws.

    Returns
    -------
    DataFrame
        By step, `variant`, the counters and `DRAWN`: a row for each window, and those that are
        drawn.
    """
    frame = pd.DataFrame(watch(flat(params, {})[0]), columns=[*UNITS, *DRAWN])
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="step")
    return frame.assign(variant=label(params.variant))


def simulate(params: HotRange) -> pd.DataFrame:
    """Simulate `damon/hot-range`.

    Returns
    -------
    DataFrame
        Per window: regions, splits, merges and checks; the error of the rate, beside that of a
        report that nothing was accessed; bytes on the wrong side of "hot"; when it ended.
    """
    rows = watch(flat(params, {})[0])[: params.windows, :COUNTING]
    found = {name: (unit, rows[:, n]) for n, (name, unit) in enumerate(UNITS.items())}
    return counters.table("damon/hot-range", label(params.variant), "model", found)

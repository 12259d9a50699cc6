"""The panel of `damon/hot-range`: a hot range to move and resize, and regions that follow."""

import altair as alt
import pandas as pd

from lorelab.damon.pages import charts
from lorelab.damon.workload.hot_range import DRAWN, UNITS, begin, end, window
from lorelab.numerics import njit
from lorelab.panel import progress

CHOICES: dict[str, tuple[str, ...]] = {}
COUNTERS = UNITS
MORE = DRAWN
FIRST = 1
VARIANT = "variant"


@njit
def entry(params):
    """Run it; a row for each window, a column for each of `COUNTERS`, then rows that are drawn.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `HotRange`.
    """
    p = params[0]
    ctx, pages, rows = begin(p)
    used, moved = p.windows, 0.0
    for number in range(p.windows):
        progress(number, p.windows)
        used, at = window(p, ctx, pages, rows, used, number)
        moved = max(moved, at)
    return end(p, rows, used, moved)


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's chart of this experiment."""
    return charts.hot_range(
        table.pivot_table(index=["step", "variant"], columns="counter", values="value")
    )

"""The panel of `swap/holes`: a map of clusters to punch holes into, and allocators that search."""

import altair as alt
import pandas as pd

from lorelab.numerics import njit
from lorelab.panel import progress
from lorelab.swap.experiments.holes import NUMBER
from lorelab.swap.experiments.holes import VARIANT as VARIANT
from lorelab.swap.pages import holes
from lorelab.swap.workload.holes import DRAWN, UNITS, rows_of, watch

CHOICES: dict[str, tuple[str, ...]] = {}
COUNTERS = UNITS
MORE = DRAWN
FIRST = 1
CLICKED = "punched"


@njit
def entry(params):
    """Run it; a row for each folio that asks, a column for each of `COUNTERS`, then the map.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `Holes`.
    """
    p = params[0]
    rows, used = rows_of(p), p.folios
    for n in range(NUMBER):
        progress(n, NUMBER)
        used = watch(p, rows, used, n)
    return rows[:used]


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's chart of this experiment."""
    return holes.chart(
        table.pivot_table(index=["step", "variant"], columns="counter", values="value")
    )

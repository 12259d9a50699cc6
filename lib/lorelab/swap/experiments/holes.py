"""`swap/holes`: where three allocators look for slots, in a device that is full but for holes."""

import pandas as pd

from lorelab import counters
from lorelab.flat import flat
from lorelab.numerics import njit
from lorelab.swap.params_holes import Holes
from lorelab.swap.workload.holes import ALLOCATORS, COUNTING, UNITS, rows_of, watch

NAME = "swap/holes"
VARIANT = "three"
"""The run is of three allocators; each has counters of its own."""
NUMBER = len(ALLOCATORS)


@njit
def run(p):
    """Run it.

    Parameters
    ----------
    p : record
        As `lorelab.flat.flat` makes it of `Holes`.

    Returns
    -------
    (n, 19) int64 array
        The rows of `workload.holes`.
    """
    rows, used = rows_of(p), p.folios
    for n in range(NUMBER):
        used = watch(p, rows, used, n)
    return rows[:used]


def simulate(params: Holes) -> pd.DataFrame:
    """Punch the holes, and let the folios ask.

    Returns
    -------
    DataFrame
        Per folio that asks and allocator: `slot`, the first that it got, or 0; `visited`, clusters
        looked into; `read`, slots of them read.
    """
    rows = run(flat(params, {})[0])[: params.folios, :COUNTING]
    columns = {name: (unit, rows[:, n]) for n, (name, unit) in enumerate(UNITS.items())}
    return counters.table(NAME, VARIANT, "model", columns)

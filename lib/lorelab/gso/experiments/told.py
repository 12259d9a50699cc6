"""`gso/told`: what a sender hears of copies, if it hears late."""

import pandas as pd

from lorelab.gso.model.told import notifications
from lorelab.gso.params import Told
from lorelab.gso.workload.told import kinds, table


def simulate(params: Told) -> pd.DataFrame:
    """Send all.

    Returns
    -------
    DataFrame
        Totals by `UNITS`: sends that were copied, what was read of the error queue, sends told of,
        those told of as copied, and those of which the wrong thing was told.
    """
    queue = notifications(kinds(params), params.late, params.mended, params.fixed)
    return table(params, queue, sum(kinds(params)), "model")

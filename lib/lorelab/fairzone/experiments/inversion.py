"""How much longer do pages stay in one zone than in another?

A page's residency is the number of allocations from one to the other end of its zone: the pages of
the zone, over the share of the allocations that the zone takes.
"""

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.params import Inversion
from lorelab.fairzone.workload.machine import names
from lorelab.fairzone.workload.stream import run
from lorelab.params import label


def rates(params: Inversion) -> np.ndarray:
    """Rates of kswapd, in equal ratios."""
    return np.geomspace(params.lowest_rate, params.highest_rate, params.rates)


def simulate(params: Inversion) -> pd.DataFrame:
    """Allocations and residency of each zone, a step a rate of kswapd.

    Returns
    -------
    DataFrame
        See `lorelab.counters`: `rate`; `allocated_ZONE` in pages; `residency_ZONE` in allocations,
        nan where a zone took none.
    """
    each_rate = []
    for rate in rates(params):
        mm, _, allocated = run(params, rate, 100 * params.turnovers)
        each_rate.append((allocated, residency(mm.node.zone["managed"], allocated)))
    counters: dict[str, tuple[str, object]] = {"rate": ("pages", rates(params))}
    for z, name in enumerate(names(params)):
        counters[f"allocated_{name.lower()}"] = ("pages", [each[z] for each, _ in each_rate])
        counters[f"residency_{name.lower()}"] = ("allocations", [stay[z] for _, stay in each_rate])
    return table("fairzone/inversion", label(params.variant), "model", counters)


def residency(managed: np.ndarray, allocated: np.ndarray) -> np.ndarray:
    """T = s RAM / a of each zone, in allocations; s and a are its shares of pages and allocations.

    Parameters
    ----------
    managed, allocated : (zones,) arrays
        Pages.
    """
    taken = np.where(allocated > 0, allocated, np.nan)
    return managed * (allocated.sum() / taken)

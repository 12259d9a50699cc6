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
    found = []
    for rate in rates(params):
        mm, _, allocated = run(params, rate, 100 * params.turnovers)
        found.append((allocated, residency(mm.node.zone["managed"], allocated)))
    counters: dict[str, tuple[str, object]] = {"rate": ("pages", rates(params))}
    for z, name in enumerate(names(params)):
        counters[f"allocated_{name.lower()}"] = ("pages", [each[z] for each, _ in found])
        counters[f"residency_{name.lower()}"] = ("allocations", [stay[z] for _, stay in found])
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


def hit_fraction(size: float, share: float, data: float) -> float:
    """What a cyclic reader of `data` sizes of memory finds: the closed form of a FIFO zone.

    A page of a zone with part `size` of memory and `share` of the allocations stays for
    size / share of memory's size; the reader comes back after `data` of them less what it finds.
    With share 0 the zone is static, and size / data of the reads hit; pages of a zone that is
    used stay long enough if share < size / data, and then the zone, less used still, turns static.
    """
    return size / data if share < size / data else 0.0


def hits_after_write(size: float, share: float, data: float = 2.0) -> float:
    """What a reader finds of a part of the file that a zone kept through the write.

    The zone filled last holds the file from 1 - size to 1 of memory's size. While the reader comes
    near, its misses replace `share` of a page each, from that part's start on: it meets what is
    left at y = share (1 - size) / (1 - share), and size - y of the part is still there.
    """
    left = size - share * (1 - size) / (1 - share)
    return max(left, 0.0) / data

"""What does an allocation cost while both zones are below their low watermark?

The case of the answer of 29 May 2014: the high zone has batch left and is below its low watermark;
so is the low zone, unless `low_above` says otherwise. Nothing frees a page in between.
"""

import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.experiments.tiobench import UNITS
from lorelab.fairzone.model import zones
from lorelab.fairzone.model.page_alloc import alloc_fast, enter_slowpath, get_page_from_freelist
from lorelab.fairzone.model.zones import COUNTS, NONE, Node
from lorelab.fairzone.params import Boundary
from lorelab.numerics import U, njit
from lorelab.params import label

PAGES = (400_000, 600_000)
"""Of the low and the high zone: large enough for batches of 1000."""


@njit
def allocate(node, allocations):
    """Allocate one page after the other, in the slow path where the fast one fails.

    Returns
    -------
    int
        How many the slow path served.
    """
    slow = 0
    for _ in range(allocations):
        if alloc_fast(node, U(0), False) == NONE:
            enter_slowpath(node, U(0))
            get_page_from_freelist(node, U(0), False, False, False)
            slow += 1
    return slow


def start(params: Boundary) -> Node:
    """Both zones as the message has them."""
    node = zones.make([0, *PAGES], params.variant, cpus=2, min_free_kib=67584, exact=True)
    reserve = node.lowmem_reserve[:, 1]
    node.zone["free"] = node.zone["low"] + reserve
    node.zone["free"][0] += params.low_above
    node.zone["nr_alloc_batch"] = params.low_batch, params.high_batch
    node.zone["depleted"] = node.zone["nr_alloc_batch"] == 0
    return node


def simulate(params: Boundary) -> pd.DataFrame:
    """Counters over all allocations; one step, 0.

    Returns
    -------
    DataFrame
        See `lorelab.counters`: `slow`, allocations of the slow path; `batch_low` and `batch_high`
        at the end, in pages; and what `COUNTS` names.
    """
    node = start(params)
    slow = allocate(node, params.allocations)
    counters: dict[str, tuple[str, object]] = {"slow": ("allocations", [slow])}
    counters["batch_low"] = ("pages", [int(node.zone["nr_alloc_batch"][0])])
    counters["batch_high"] = ("pages", [int(node.zone["nr_alloc_batch"][1])])
    for n, name in enumerate(COUNTS):
        counters[name] = (UNITS.get(name, name), [int(node.count[n])])
    return table("fairzone/boundary", label(params.variant), "model", counters, first=0)

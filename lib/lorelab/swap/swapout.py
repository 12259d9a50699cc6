"""One process, each of its folios reclaimed once: what `shrink_folio_list()` does to a folio.

The mechanism is that of `lorelab.swap.usemem`, on 6.12 and with its switches. Here nobody races
for the folios, and the device has room for all, so that the kernel's counters are the model's.
"""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.params import label
from lorelab.swap import vmscan
from lorelab.swap.model import swapon
from lorelab.swap.params import Swapout, Variant
from lorelab.swap.usemem import UNITS, shrink_folio, splits_first, unmap_folio

COUNTED = {
    name: UNITS[name]
    for name in (
        "swapped",
        "invalidations",
        "flushes",
        "splits",
        "slot_allocations",
        "fallbacks",
        "bios",
    )
} | {"shrinker_splits": "folios"}
"""Counters and units: those of `swap/usemem` that a kernel gives, and, of the splits, those that
the shrinker of the deferred split queue made."""


def count(params: Swapout) -> dict[str, int]:
    """Run the model; counters by name, as `COUNTED` has them.

    A whole folio costs the same whenever reclaim comes to it. One that is partly mapped may be
    split by a shrinker before, so that those go through `lorelab.swap.vmscan` in the order, and in
    the portions, in which `memory.reclaim` takes them.

    MADV_PAGEOUT splits a folio that is partly mapped itself, and reclaims what is mapped
    (`madvise_cold_or_pageout_pte_range()`), so neither `force_split` nor the shrinker sees one.
    """
    order = params.folio_order
    mapped = (1 << order) - params.dropped
    si = swapon(2 * params.folios << order, Variant.V6_12)
    totals = np.zeros(len(UNITS), np.int64)
    plug = np.zeros((2, 1), np.int64)
    elsewhere = params.reclaimer == "elsewhere"
    eager_split = splits_first(params.force_split, order, mapped)
    batched = params.split_batching
    memcg = vmscan.cgroup(params.folios, order, mapped, eager_split, batched, elsewhere)
    if not params.dropped:
        for _ in range(params.folios):
            shrink_folio(si, 0, order, mapped, eager_split, batched, elsewhere, plug, totals)
    elif params.reclaimer == "madvise":
        for _ in range(params.folios):
            unmap_folio(order, mapped, batched, elsewhere, totals)
            for _ in range(mapped):
                shrink_folio(si, 0, 0, 1, False, batched, elsewhere, plug, totals)
    else:
        for _ in range(params.requests):
            pages = (params.folios << order) // params.requests
            if not vmscan.memory_reclaim(si, memcg, pages, plug, totals):
                break
    found = dict(zip(UNITS, map(int, totals), strict=True))
    found["shrinker_splits"] = int(memcg.state[vmscan.SHRINKER_SPLITS])
    return {name: found[name] for name in COUNTED}


def swapout(params: Swapout) -> pd.DataFrame:
    """`swap/swapout` on the model: totals of the whole run as step 0."""
    return counters.table(
        "swap/swapout",
        label(Variant.V6_12),
        "model",
        {name: (COUNTED[name], [value]) for name, value in count(params).items()},
        first=0,
    )

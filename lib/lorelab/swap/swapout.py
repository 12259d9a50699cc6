"""One process, each of its folios reclaimed once: what `shrink_folio_list()` does to a folio.

The mechanism is that of `lorelab.swap.usemem`, on 6.12 and with its switches. Here nobody races
for the folios, and the device has room for all, so that the kernel's counters are the model's,
with two exceptions (see `count`).
"""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.params import label
from lorelab.swap.model import swapon
from lorelab.swap.params import Swapout, Variant
from lorelab.swap.usemem import UNITS, shrink_folio, splits_first, unmap_folio

COUNTED = (
    "swapped",
    "invalidations",
    "flushes",
    "splits",
    "slot_allocations",
    "fallbacks",
    "bios",
)
"""Of the counters of `swap/usemem`, those that a kernel gives."""


def count(params: Swapout) -> dict[str, int]:
    """Run the model; counters by name, `COUNTED` of `UNITS`.

    MADV_PAGEOUT itself splits a folio that is partly mapped, and reclaims what is mapped
    (`madvise_cold_or_pageout_pte_range()`), so `force_split` never sees one.

    Left out, both of partly mapped folios: the shrinker of the deferred split queue, which splits
    them beside reclaim (the kernel half keeps it away as far as it can: it clears accessed bits and
    reclaims a folio at a time); and that the kernel gives a slot to some unmapped tails only, where
    the model gives one to all. Neither slot nor tail is written.
    """
    order = params.folio_order
    mapped = (1 << order) - params.dropped
    si = swapon(2 * params.folios << order, Variant.V6_12)
    totals = np.zeros(len(UNITS), np.int64)
    plug = np.zeros((2, 1), np.int64)
    elsewhere = params.reclaimer == "elsewhere"
    eager_split = splits_first(params.force_split, order, mapped)
    batched = params.split_batching
    for _ in range(params.folios):
        if params.reclaimer == "madvise" and params.dropped:
            unmap_folio(order, mapped, batched, elsewhere, totals)
            for _ in range(mapped):
                shrink_folio(si, 0, 0, 1, False, batched, elsewhere, plug, totals)
        else:
            shrink_folio(si, 0, order, mapped, eager_split, batched, elsewhere, plug, totals)
    return {name: int(totals[list(UNITS).index(name)]) for name in COUNTED}


def swapout(params: Swapout) -> pd.DataFrame:
    """`swap/swapout` on the model: totals of the whole run as step 0."""
    return counters.table(
        "swap/swapout",
        label(Variant.V6_12),
        "model",
        {name: (UNITS[name], [value]) for name, value in count(params).items()},
        first=0,
    )

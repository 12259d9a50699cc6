"""`swap/swapout`: each folio of one process reclaimed once, whole, split or partly mapped.

The mechanism is `lorelab.swap.model.reclaim`, on 6.12 and with its switches. Here nobody
races for the folios, and the device has room for all, so that the kernel's counters are the
model's.
"""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.params import label
from lorelab.swap.model import vmscan
from lorelab.swap.model.reclaim import COUNTS, PLUG, UNITS, Folio, shrink_folio, unmap_folio
from lorelab.swap.model.state import swapon
from lorelab.swap.params import KERNEL, Swapout
from lorelab.swap.workload.swapout import COUNTED, NAME
from lorelab.swap.workload.usemem import splits_first


def count(params: Swapout) -> dict[str, int]:
    """Run the model; counters by name, as `COUNTED` has them.

    A whole folio costs the same whenever reclaim comes to it. One that is partly mapped may be
    split by a shrinker before, so that those go through `lorelab.swap.model.vmscan` in the
    order, and in the portions, in which `memory.reclaim` takes them.

    MADV_PAGEOUT splits a folio that is partly mapped itself, and reclaims what is mapped
    (`madvise_cold_or_pageout_pte_range()`), so neither `force_split` nor the shrinker sees one.
    """
    order = params.folio_order
    mapped = (1 << order) - params.dropped
    si = swapon(2 * params.folios << order, KERNEL)
    counted, plug = np.zeros(1, COUNTS), np.zeros(1, PLUG)
    elsewhere = params.reclaimer == "elsewhere"
    eager_split = splits_first(params.force_split, order, mapped)
    folio = Folio(order, mapped, eager_split, params.split_batching)
    memcg = vmscan.cgroup(params.folios, folio, elsewhere)
    if not params.dropped:
        for _ in range(params.folios):
            shrink_folio(si, 0, folio, elsewhere, plug, counted)
    elif params.reclaimer == "madvise":
        page = Folio(0, 1, False, params.split_batching)
        for _ in range(params.folios):
            unmap_folio(folio, elsewhere, counted)
            for _ in range(mapped):
                shrink_folio(si, 0, page, elsewhere, plug, counted)
    else:
        for _ in range(params.requests):
            pages = (params.folios << order) // params.requests
            if not vmscan.memory_reclaim(si, memcg, pages, plug, counted):
                break
    sums = {name: int(counted[name][0]) for name in COUNTED if name in UNITS}
    return sums | {"shrinker_splits": int(memcg.state["shrinker_splits"][0])}


def simulate(params: Swapout) -> pd.DataFrame:
    """Run the model: totals of the whole run as step 0."""
    counted = {name: (COUNTED[name], [value]) for name, value in count(params).items()}
    return counters.table(NAME, label(KERNEL), "model", counted, first=0)

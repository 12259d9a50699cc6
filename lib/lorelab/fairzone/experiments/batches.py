"""Do batches run out together, and what does it cost when they do not?"""

import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.experiments.tiobench import UNITS
from lorelab.fairzone.model.zones import COUNTS
from lorelab.fairzone.params import Batches
from lorelab.fairzone.workload.machine import names
from lorelab.fairzone.workload.stream import run
from lorelab.params import label


def simulate(params: Batches) -> pd.DataFrame:
    """Counters over the allocations that follow once memory is full; one step, 0.

    Returns
    -------
    DataFrame
        See `lorelab.counters`: `allocated_ZONE` in pages, what `COUNTS` names, and `deferred`, the
        pages that CPUs have not folded into the counters at the end.
    """
    mm, counts, allocated = run(
        params, params.kswapd_rate, params.percent, params.threads, params.turn
    )
    counters: dict[str, tuple[str, object]] = {}
    for z, name in enumerate(names(params)):
        counters[f"allocated_{name.lower()}"] = ("pages", [allocated[z]])
    for n, name in enumerate(COUNTS):
        counters[name] = (UNITS.get(name, name), [counts[n]])
    counters["deferred"] = ("pages", [abs(mm.node.percpu).sum()])
    return table("fairzone/batches", label(params.variant), "model", counters, first=0)

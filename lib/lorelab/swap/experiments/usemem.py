"""`swap/usemem`: where a swap-out spends its invalidations, waits, slots and writes."""

import pandas as pd

from lorelab import counters
from lorelab.errors import RunFailed
from lorelab.params import label
from lorelab.progress import track
from lorelab.swap.model.reclaim import UNITS
from lorelab.swap.model.state import swapon
from lorelab.swap.params import Usemem
from lorelab.swap.workload.usemem import PAGES_PER_MIB, finish, run, start, whole_folio

NAME = "swap/usemem"


def count(params: Usemem) -> dict[str, int]:
    """Run the model; counters by name, in the order and units of `UNITS`.

    Raises
    ------
    RunFailed
        The device is too small.
    """
    si = swapon(
        params.swap_mib * PAGES_PER_MIB,
        params.variant,
        cpus=params.cpus,
        slot_cache=params.slot_cache,
    )
    machine, folio = start(params), whole_folio(params)
    folios = int(machine.cpus["left"].sum())
    parts = (folios * part // 100 for part in track(range(1, 101), NAME))
    if not (all(run(si, machine, folio, until) for until in parts) and finish(si, machine, folio)):
        raise RunFailed(
            f"{NAME}: the device gave no slot after {machine.count['swapped'][0]} of "
            f"{params.swap_mib * PAGES_PER_MIB} pages were swapped; raise swap_mib"
        )
    sums = {name: int(machine.count[name][0]) for name in UNITS}
    resident = (sums["faults"] << params.folio_order) - sums["swapped"]
    return sums | {"resident": resident, "scanned": int(si.scanned.sum())}


def simulate(params: Usemem) -> pd.DataFrame:
    """Run the model: totals of the whole run as step 0."""
    counted = {name: (UNITS[name], [value]) for name, value in count(params).items()}
    return counters.table(NAME, label(params.variant), "model", counted, first=0)

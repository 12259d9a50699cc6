"""`swap/usemem`: where a swap-out spends its invalidations, waits, slots and writes."""

from typing import Any

import pandas as pd

from lorelab import counters
from lorelab.errors import RunFailed
from lorelab.params import label
from lorelab.progress import track
from lorelab.swap.model.state import swapon
from lorelab.swap.params import Usemem, Variant
from lorelab.swap.workload.usemem import PAGES_PER_MIB, UNITS, finish, run, start, whole_folio

NAME = "swap/usemem"
PATHS = {
    "4K": {"variant": Variant.V6_6, "folio_order": 0},
    "64K split, up to 6.7": {"variant": Variant.V6_6},
    "64K split, from 6.8": {"variant": Variant.V6_6, "split_batching": True},
    "64K whole": {"variant": Variant.V3},
    "2M whole": {"variant": Variant.V3, "folio_order": 9},
}
"""Ways of a swap-out, as parameters that are not the defaults."""


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
    found = {name: int(machine.count[name][0]) for name in UNITS}
    resident = (found["faults"] << params.folio_order) - found["swapped"]
    return found | {"resident": resident, "scanned": int(si.scanned.sum())}


def simulate(params: Usemem) -> pd.DataFrame:
    """Run the model: totals of the whole run as step 0."""
    counted = {name: (UNITS[name], [value]) for name, value in count(params).items()}
    return counters.table(NAME, label(params.variant), "model", counted, first=0)


def per_64k(params: Usemem, paths: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Run the model on several paths: counters for each 64 KiB swapped out.

    Parameters
    ----------
    params : Usemem
    paths : dict
        Changes of `params` by the name of their row.

    Returns
    -------
    DataFrame
        A row a path, a column for each of `UNITS`.
    """
    counted = {path: count(params.model_copy(update=changes)) for path, changes in paths.items()}
    per_page = pd.DataFrame(counted).T
    return 16 * per_page.div(per_page["swapped"], axis="index")

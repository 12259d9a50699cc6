"""`swap/swapout` on a real kernel: each folio of a process reclaimed once."""

from collections.abc import Iterable

import pandas as pd

from lorelab.counters import table
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.numerics import PAGE
from lorelab.params import label
from lorelab.swap.kernel import boot
from lorelab.swap.model.reclaim import UNITS
from lorelab.swap.params import KERNEL, ForceSplit, Swapout
from lorelab.swap.workload.swapout import COUNTED, NAME
from lorelab.swap.workload.usemem import PAGES_PER_MIB


def _machine(params: Swapout) -> bool:
    return bool(reclaim(params).switches)


def _request(batch: list[Swapout]) -> Request:
    runs = [reclaim(params) for params in batch]
    return boot.ram_disk(boot.Rounds(runs, swap_mib(runs), rounds=1))


def _counters(params: Swapout, measured: Measured, run: int) -> pd.DataFrame:
    """Totals, `COUNTED` of `lorelab.swap.experiments.swapout`."""
    [row] = boot.rounds_of(measured, run)
    columns = {name: (unit, [value]) for name, (unit, value) in counted(row, COUNTED).items()}
    return table(NAME, label(KERNEL), "kernel", columns, first=0)


def reclaim(params: Swapout) -> boot.Reclaim:
    """What the guest is told to do."""
    size = (params.folios << params.folio_order) * PAGE // params.requests
    how = {
        "elsewhere": f"reclaim {size} {params.requests}",
        "own": f"own {size} {params.requests}",
        "madvise": "pageout",
    }
    steps = ["touch", how[params.reclaimer]]
    if params.dropped:
        steps[1:1] = [f"drop {params.dropped}", "age"]
    return boot.Reclaim(
        switches=switches(params.force_split, params.folio_order, params.split_batching),
        processes=1,
        mib=(params.folios << params.folio_order) // PAGES_PER_MIB,
        order=params.folio_order,
        limit_mib=None,
        steps=steps,
    )


def swap_mib(runs: list[boot.Reclaim]) -> int:
    """Size of a RAM disk with room to spare for any of the runs."""
    return max(2 * run.mib for run in runs)


def switches(force_split: ForceSplit, order: int, split_batching: bool) -> dict[str, str]:
    """Switches of lib/kernel/swap/patches for folios of an order, and their choice."""
    turned = {}
    if force_split != ForceSplit.PARTIALLY_MAPPED:
        turned["swap/force_split"] = label(force_split)
    if order and not split_batching:
        turned["swap/split_nobatch"] = "on"
    return turned


def counted(row: dict[str, int], names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Unit and value of the model's counters `names`, out of what the guest's program counts."""
    values = {
        "swapped": row["swapped"],
        "invalidations": row["alone"] + row["deferred"] + row["huge"],
        "deferred": row["deferred"],
        "flushes": row["alone"] + row["batches"] + row["huge"],
        "splits": row["split"],
        "slot_allocations": row["slots"] - row["swpout_fallback"],
        "fallbacks": row["swpout_fallback"],
        "bios": row["bios"],
        "shrinker_splits": row["shrinker_splits"],
    }
    return {name: ((UNITS | COUNTED)[name], values[name]) for name in names}


measure = Measurement(NAME, _request, _counters, machine=_machine)

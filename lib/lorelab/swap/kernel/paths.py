"""`swap/paths` on a real kernel: the patched one, which counts what serves its allocations."""

from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.params import label
from lorelab.swap.experiments.paths import NAME, ORDERS
from lorelab.swap.kernel import allocator_test, boot
from lorelab.swap.params import AllocatorTest, check_paths

PLACES = ("current", "free", "nonfull", "frag", "steal")


def measure(wanted: list[AllocatorTest], lab: Lab) -> list[Record]:
    """Run the same as `swap/allocator-test` on a kernel with lib/kernel/swap/patches.

    Parameters
    ----------
    wanted, lab
        As for `lorelab.swap.kernel.allocator_test.measure`.

    Returns
    -------
    list of Record
        As asked: totals of the run by path and order (see `lorelab.swap.experiments.paths`).

    Raises
    ------
    BadInput, RunFailed
        As there; BadInput also for a device without clusters.
    """
    for params in wanted:
        check(params, lab)
    return by_boot(wanted, lambda params: params.cpus, lambda runs: _measure(runs, lab))


def _measure(wanted: list[AllocatorTest], lab: Lab) -> list[Record]:
    runs = [boot.Run(params, counted(params)) for params in wanted]
    measured = boot.zram(boot.Runs(runs), lab)
    return [
        measured.record(NAME, params, totals(params, boot.rows_of(measured, n)), n + 1)
        for n, params in enumerate(wanted)
    ]


def check(params: AllocatorTest, lab: Lab) -> None:
    """Raise BadInput for what no kernel can follow, or has no paths."""
    allocator_test.check(params, lab)
    check_paths(params)


def counted(params: AllocatorTest) -> dict[str, str]:
    """Switches of a run on the patched kernel that counts its paths."""
    return {**allocator_test.turned(params, True), "swap/count": "on"}


def totals(params: AllocatorTest, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Counters of a run out of its rows."""
    [said] = (row["counters"] for row in rows if "counters" in row)
    counters = {}
    for order in ORDERS:
        for name in (*PLACES, "fail"):
            counters[f"{name}_{order}"] = ("allocations", [said[f"{name} {order}"]])
        for name, unit in (("visited", "clusters"), ("scanned", "slots")):
            counters[f"{name}_{order}"] = (unit, [said[f"{name} {order}"]])
    return table(NAME, label(params.variant), "kernel", counters, first=0)

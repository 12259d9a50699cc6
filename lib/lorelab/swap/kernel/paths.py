"""`swap/paths` on a real kernel: the patched one, which counts what serves its allocations."""

from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.params import label
from lorelab.swap.kernel import allocator_test, boot
from lorelab.swap.params import AllocatorTest, check_paths
from lorelab.swap.workload.paths import NAME, ORDERS

PLACES = ("current", "free", "nonfull", "frag", "steal")


def _request(batch: list[AllocatorTest]) -> Request:
    return boot.zram(boot.Runs([boot.Run(params, counted(params)) for params in batch]))


def _counters(params: AllocatorTest, measured: Measured, run: int) -> pd.DataFrame:
    return totals(params, boot.rows_of(measured, run))


def check(params: AllocatorTest, options: RunOptions) -> None:
    """Raise BadInput for what no kernel can follow, or has no paths."""
    allocator_test.check(params, options)
    check_paths(params)


def counted(params: AllocatorTest) -> dict[str, str]:
    """Switches of a run on the patched kernel that counts its paths."""
    return {**allocator_test.turned(params, True), "swap/count": "on"}


def totals(params: AllocatorTest, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Totals of a run by path and order (see `lorelab.swap.experiments.paths`), out of its rows."""
    [sums] = (row["counters"] for row in rows if "counters" in row)
    counters = {}
    for order in ORDERS:
        for name in (*PLACES, "fail"):
            counters[f"{name}_{order}"] = ("allocations", [sums[f"{name} {order}"]])
        for name, unit in (("visited", "clusters"), ("scanned", "slots")):
            counters[f"{name}_{order}"] = (unit, [sums[f"{name} {order}"]])
    return table(NAME, label(params.variant), "kernel", counters, first=0)


measure = Measurement(NAME, _request, _counters, machine=lambda params: params.cpus, check=check)

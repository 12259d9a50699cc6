"""`swap/probed` on a real kernel: probes that see what `swap/paths` takes a patch for."""

from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.lab import probes
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import label
from lorelab.swap.kernel import allocator_test, boot, paths
from lorelab.swap.params import AllocatorTest
from lorelab.swap.workload.paths import ORDERS

NAME = "swap/probed"

PROBES = ("alloc", "reuse")


def _request(batch: list[AllocatorTest]) -> Request:
    [params] = batch
    patched = bool(allocator_test.switches(params))
    run = boot.Run(params, allocator_test.turned(params, patched))
    return boot.zram(boot.Runs([run], allocator_test.zswap_once(params), probes=PROBES))


def _counters(params: AllocatorTest, measured: Measured, run: int) -> pd.DataFrame:
    """Counters and histograms as `lorelab.swap.experiments.probed.simulate` has them.

    Raises
    ------
    RunFailed
        A probe missed something.
    """
    probes.check_whole(NAME, measured.probes)
    return _both(label(params.variant), measured.probes)


def _both(variant: str, frames: list[dict[str, Any]]) -> pd.DataFrame:
    rows = probes.counters(NAME, variant, frames)
    rows["counter"] = rows["counter"].str.replace(r".*\.(by_)?", "", regex=True)
    scalars = rows.loc[rows["step"] == 0].set_index("counter")["value"]
    totals = {}
    for order in ORDERS:
        for name in (*paths.PLACES, "failed", "visited", "scanned"):
            unit = {"visited": "clusters", "scanned": "slots"}.get(name, "allocations")
            counter = f"{name}_{order}".replace("failed", "fail")
            totals[counter] = (unit, [int(scalars.get(f"{name}_{order}", 0))])
    parts = [table(NAME, variant, "kernel", totals, first=0)]
    for order in ORDERS:
        for name in ("read", "swapouts"):
            parts.append(rows[rows["counter"] == f"{name}_{order}"].sort_values("step"))
    return pd.concat(parts, ignore_index=True)


measure = Measurement(NAME, _request, _counters, check=paths.check)

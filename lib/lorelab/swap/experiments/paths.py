"""`swap/paths`: which clusters serve the allocations of `swap/allocator-test`."""

import pandas as pd

from lorelab import counters
from lorelab.params import label
from lorelab.swap.model.state import (
    CURRENT,
    FAIL,
    FROM_FRAG,
    FROM_FREE,
    FROM_NONFULL,
    PATHS,
    STEAL,
    Swap,
)
from lorelab.swap.params import AllocatorTest, check_paths
from lorelab.swap.workload.allocator_test import run
from lorelab.swap.workload.paths import NAME, ORDERS


def simulate(params: AllocatorTest) -> pd.DataFrame:
    """Run the test on the model, and add up what served it.

    Returns
    -------
    DataFrame
        For `ORDERS`, totals of the run with its warm-up: `current_0` and so on, allocations that
        the device served from there, those that it failed; `visited_0`, clusters searched; and
        `scanned_0`, slots looked at for a free range.

    Raises
    ------
    BadInput
        The device has no clusters.
    """
    check_paths(params)
    columns = totals(run(params, NAME).si)
    return counters.table(NAME, label(params.variant), "model", columns, first=0)


def totals(si: Swap) -> dict[str, tuple[str, list[int]]]:
    """Counters of `swap/paths`, as `lorelab.counters.table` takes them."""
    columns = {}
    for order in ORDERS:
        for path in (CURRENT, FROM_FREE, FROM_NONFULL, FROM_FRAG, STEAL, FAIL):
            count = [int(si.path[path, order])]
            columns[f"{PATHS[path]}_{order}"] = ("allocations", count)
        columns[f"visited_{order}"] = ("clusters", [int(si.visited[order])])
        columns[f"scanned_{order}"] = ("slots", [int(si.scanned[order])])
    return columns

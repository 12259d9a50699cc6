"""`swap/probed`: what probes on an unmodified kernel see of `swap/allocator-test`."""

import pandas as pd

from lorelab import counters
from lorelab.params import label
from lorelab.swap.experiments.paths import totals
from lorelab.swap.params import AllocatorTest, check_paths
from lorelab.swap.workload.allocator_test import run
from lorelab.swap.workload.paths import ORDERS

NAME = "swap/probed"


def simulate(params: AllocatorTest) -> pd.DataFrame:
    """Run the test on the model, and count what the probes count.

    Returns
    -------
    DataFrame
        The counters of `swap/paths`, and for each order two histograms (see `lorelab.counters`):
        `read_0`, calls of get_swap_pages() by slots of swap_map read, and `swapouts_0`, slots
        taken again by the swap-outs since they were last taken.

    Raises
    ------
    BadInput
        The device has no clusters.
    """
    check_paths(params)
    variant = label(params.variant)
    ran = run(params, NAME)
    parts = [counters.table(NAME, variant, "model", totals(ran.si), first=0)]
    for order in ORDERS:
        for counter, unit, counts in (
            ("read", "calls", ran.seen.read),
            ("swapouts", "slots", ran.seen.waits),
        ):
            buckets = counts[order].astype(int).tolist()
            parts.append(
                counters.histogram(NAME, variant, "model", f"{counter}_{order}", unit, buckets)
            )
    return pd.concat(parts, ignore_index=True)

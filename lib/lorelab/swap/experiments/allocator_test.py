"""`swap/allocator-test`: the kernel's own test of the slot allocator, iteration by iteration."""

from typing import Any

import pandas as pd

from lorelab import counters
from lorelab.params import label
from lorelab.swap.params import AllocatorTest
from lorelab.swap.workload.allocator_test import run

NAME = "swap/allocator-test"
OPTIONS = {"-a": "-a", "-a -s": "-a -s", "no option": "", "-s": "-s"}
"""The tool's sets of options, in the order in which runs were published."""


def simulate(params: AllocatorTest) -> pd.DataFrame:
    """Run the test on the model.

    Returns
    -------
    DataFrame
        Counters `swpout` and `swpout_fallback`, in folios, per iteration.
    """
    found = run(params, NAME).iterations.astype([("swpout", "i8"), ("swpout_fallback", "i8")])
    counted = {name: ("folios", found[name]) for name in found.dtype.names}
    return counters.table(NAME, label(params.variant), "model", counted)


def by_iteration(params: AllocatorTest, **changes: Any) -> pd.DataFrame:
    """Run the model with some parameters changed: a row an iteration, a column a counter."""
    found = simulate(params.model_copy(update=changes))
    return found.pivot_table(index="step", columns="counter", values="value", aggfunc="sum")


def fallback_rates(params: AllocatorTest, runs: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Share of the 64 KiB folios of a run that were split.

    Parameters
    ----------
    params : AllocatorTest
    runs : dict
        Changes of `params` by the name of their row.

    Returns
    -------
    DataFrame
        In per cent; a column for each of `OPTIONS`.
    """

    def rate(**changes: Any) -> float:
        total = by_iteration(params, **changes).sum()
        return 100 * total["swpout_fallback"] / total.sum()

    return pd.DataFrame(
        {
            name: {row: rate(**changes, options=options) for row, changes in runs.items()}
            for name, options in OPTIONS.items()
        }
    )

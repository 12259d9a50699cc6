"""The one table that every run gives, whether of a model or of a kernel."""

import numpy as np
import pandas as pd

COLUMNS = ["design", "experiment", "variant", "source", "step", "counter", "unit", "value"]
"""`source` is thread, model or kernel; `step` is the iteration from 1, 0 for a whole run.

Of a histogram `step` is a bucket's lowest value; empty buckets are left out.
"""


def table(
    name: str, variant: str, source: str, counters: dict[str, tuple[str, object]], first: int = 1
) -> pd.DataFrame:
    """Lay out counters as one tidy table.

    Parameters
    ----------
    name : str
        Experiment as `design/experiment`.
    variant : str
        Label of the variant that ran.
    source : str
        `thread`, `model` or `kernel`.
    counters : dict
        Counter name to `(unit, values)`; `values` is a sequence with one entry a step.
    first : int
        Number of the first step: 1, or 0 for totals of a whole run.

    Returns
    -------
    DataFrame
        Columns as in `COLUMNS`, ordered by counter as given, then by step.

    Examples
    --------
    >>> table("swap/tiny", "v6.12", "model", {"failed": ("allocations", [0, 3])}).iloc[:, 2:]
      variant source  step counter         unit  value
    0   v6.12  model     1  failed  allocations      0
    1   v6.12  model     2  failed  allocations      3
    """
    design, experiment = name.split("/")
    values = [np.asarray(values) for _, values in counters.values()]
    steps = [len(each) for each in values]
    # Columns at a time: a frame for each counter costs a millisecond, and a run may have hundreds.
    return pd.DataFrame(
        {
            "design": design,
            "experiment": experiment,
            "variant": variant,
            "source": source,
            "step": np.concatenate([np.arange(first, first + n) for n in steps]),
            "counter": pd.array([*counters], "str").repeat(steps),
            "unit": pd.array([unit for unit, _ in counters.values()], "str").repeat(steps),
            "value": np.concatenate(values),
        },
        columns=COLUMNS,
    )


def histogram(
    name: str, variant: str, source: str, counter: str, unit: str, buckets: list[int]
) -> pd.DataFrame:
    """Lay out a histogram as one tidy table.

    Parameters
    ----------
    name, variant, source
        As for `table`.
    counter, unit : str
    buckets : list of int
        What is in bucket 0, the values 0, and in bucket n from 1, the values of n bits: 1, 2 and 3,
        4 to 7, 8 to 15, ...

    Returns
    -------
    DataFrame
        Columns as in `COLUMNS`.

    Examples
    --------
    >>> waits = histogram("vmalock/tiny", "v6.12", "kernel", "wait", "ns", [5, 0, 0, 2])
    >>> waits[["step", "counter", "value"]]  # five of 0, and two of 4 to 7
       step counter  value
    0     0    wait      5
    1     4    wait      2
    """
    laid = table(name, variant, source, {counter: (unit, buckets)}, first=0)
    laid = laid[laid["value"] > 0].reset_index(drop=True)
    laid["step"] = [1 << n >> 1 for n in laid["step"]]
    return laid

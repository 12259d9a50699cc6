"""The one table that every run gives, whether of a model or of a kernel."""

import pandas as pd

COLUMNS = ["design", "experiment", "variant", "source", "step", "counter", "unit", "value"]
"""`source` is thread, model or kernel; `step` is the iteration from 1, 0 for a whole run."""


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
    """
    design, experiment = name.split("/")
    parts = [
        pd.DataFrame(
            {
                "design": design,
                "experiment": experiment,
                "variant": variant,
                "source": source,
                "step": range(first, first + len(values)),
                "counter": counter,
                "unit": unit,
                "value": values,
            },
            columns=COLUMNS,
        )
        for counter, (unit, values) in counters.items()
    ]
    return pd.concat(parts, ignore_index=True)

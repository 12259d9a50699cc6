"""Counters that a run measured, step by step; those that it did not are named, and not compared.

Over `dummy` no reader says what is wrong, and a function that the compiler inlined has no calls
that a probe could count.
"""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from lorelab.judging.agreement import Agreement
from lorelab.judging.agreement import equal as every_counter
from lorelab.lab.records import Record
from lorelab.params import Params


def equal(model: pd.DataFrame, kernel: pd.DataFrame) -> Agreement:
    """Each step of what the kernel measured has to be in the model, and equal.

    Parameters
    ----------
    model, kernel : DataFrame
        Counters (see `lorelab.counters`).

    Returns
    -------
    Agreement
        As `lorelab.judging.agreement.equal`, of the counters that the kernel has.
    """
    measured = set(kernel["counter"])
    found = every_counter(model[model["counter"].isin(measured)], kernel)
    missing = [name for name in model["counter"].unique() if name not in measured]
    if not missing:
        return found
    return replace(found, method=f"{found.method}; not measured: {', '.join(missing)}")


def with_model(simulate: Callable[[Params], pd.DataFrame]) -> Callable[[Params, Record], Agreement]:
    """The `agree` of a question whose model is `simulate`: `equal` of the two."""

    def agree(params: Params, record: Record) -> Agreement:
        """Compare counter by counter."""
        return equal(simulate(params), record.counters)

    return agree

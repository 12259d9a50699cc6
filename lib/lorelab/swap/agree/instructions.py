"""`swap/instructions`: repeats, which interrupts keep from being the same, against those before.

There is no model of it.
"""

import pandas as pd

from lorelab.agreement import Agreement, by_range, intervals, quotient
from lorelab.lab.records import Record


def again(recorded: Record, measured: Record) -> Agreement:
    """Compare the range of the recorded repeats, a page, with that of the new ones."""
    return by_range(intervals(recorded.counters, measured.counters, "pages"))


def more(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """How many per cent more instructions one kernel takes than another.

    Parameters
    ----------
    before, after : DataFrame
        Counters of as many pages on both kernels.

    Returns
    -------
    DataFrame
        By counter, `low`, `estimate` and `high` as `lorelab.agreement.quotient` has them.
    """

    def repeats(side: pd.DataFrame, name: str) -> list[float]:
        return side.loc[side["counter"] == name, "value"].tolist()

    rows = {
        name: quotient(repeats(before, name), repeats(after, name))
        for name in ("swapout", "swapin")
    }
    return 100 * (pd.DataFrame(rows, index=["low", "estimate", "high"]).T - 1)

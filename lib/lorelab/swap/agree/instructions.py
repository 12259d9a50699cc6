"""`swap/instructions`: repeats, which interrupts keep from being the same, against those before.

There is no model of it.
"""

import pandas as pd

from lorelab.agreement import Agreement, anew
from lorelab.equivalence import quotient
from lorelab.lab.records import Record
from lorelab.swap.params import Instructions


def again(params: Instructions, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean of the recorded repeats, a page, with that of the new ones."""
    return anew(recorded.counters, measured.counters, "pages")


def more(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """How many per cent more instructions one kernel takes than another.

    Parameters
    ----------
    before, after : DataFrame
        Counters of as many pages on both kernels.

    Returns
    -------
    DataFrame
        By counter, `low`, `estimate` and `high` as `lorelab.equivalence.quotient` has them.
    """

    def repeats(side: pd.DataFrame, name: str) -> list[float]:
        return side.loc[side["counter"] == name, "value"].tolist()

    rows = {
        name: quotient(repeats(before, name), repeats(after, name))
        for name in ("swapout", "swapin")
    }
    return 100 * (pd.DataFrame(rows, index=["low", "estimate", "high"]).T - 1)

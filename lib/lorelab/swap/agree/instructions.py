"""`swap/instructions`: repeats, which interrupts keep from being the same, against those before.

There is no model of it.
"""

import pandas as pd

from lorelab.judging.agreement import Agreement, compare_runs
from lorelab.judging.equivalence import ratio
from lorelab.lab.records import Record
from lorelab.swap.params import Instructions


def agree_with_record(params: Instructions, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean of the recorded repeats, a page, with that of the new ones."""
    return compare_runs(recorded.counters, measured.counters, "pages")


def more(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """How many per cent more instructions one kernel takes than another.

    Parameters
    ----------
    before, after : DataFrame
        Counters of as many pages on both kernels.

    Returns
    -------
    DataFrame
        By counter, `estimate`, `low` and `high` (`lorelab.judging.equivalence.ratio`).
    """

    def repeats(side: pd.DataFrame, name: str) -> list[float]:
        return side.loc[side["counter"] == name, "value"].tolist()

    rows = {
        name: ratio(repeats(before, name), repeats(after, name)) for name in ("swapout", "swapin")
    }
    return 100 * (pd.DataFrame(rows, index=["estimate", "low", "high"]).T - 1)

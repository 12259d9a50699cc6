"""Counters of `gso/traced`."""

import pandas as pd

from lorelab.gso.params import Traffic
from lorelab.gso.workload import totals
from lorelab.params import label

UNITS = {
    "completed": "packets",
    "copied_after_all": "packets",
    "completions": "calls",
    "completions_that_say_copied": "calls",
    "copies_by_skb_segment": "calls",
    "copies_by_others": "calls",
    "copied_bytes": "bytes",
}


def table(params: Traffic, values: dict[str, int], source: str) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel: those that it has."""
    return totals("gso/traced", label(params.variant), UNITS, values, source)

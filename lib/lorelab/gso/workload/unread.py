"""Counters of `gso/unread`."""

import pandas as pd

from lorelab import counters
from lorelab.gso.params import Unread

UNITS = {
    "taken": "sends",
    "told": "sends",
    "copied": "sends",
    "refused": "sends",
    "left": "namespaces",
    "pinned": "pages",
    "read": "packets",
    "left_read": "namespaces",
    "pinned_read": "pages",
}


def table(params: Unread, values: dict[str, int], source: str) -> pd.DataFrame:
    """Counters of a run; nobody is told of a send that copies."""
    silent = () if params.zerocopy else ("told", "copied")
    named = {name: (UNITS[name], [values[name]]) for name in UNITS if name not in silent}
    return counters.table("gso/unread", params.receiver, source, named, first=0)

"""Counters of `gso/traffic`."""

import pandas as pd

from lorelab import counters
from lorelab.gso.params import Traffic
from lorelab.params import label

UNITS = {
    "told": "sends",
    "copied": "sends",
    "sent": "packets",
    "wrong": "packets",
    "tap_wrong": "packets",
    "copied_bytes": "bytes",
    "copied_by_send": "bytes",
    "lines": "lines",
    "truesize": "bytes",
}


def table(params: Traffic, counted: dict[str, int], source: str) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel: those that it has."""
    columns = {name: (UNITS.get(name, "calls"), [value]) for name, value in counted.items()}
    return counters.table("gso/traffic", label(params.variant), source, columns, first=0)

"""Counters of `gso/tcp`."""

import pandas as pd

from lorelab.gso.params import Tcp
from lorelab.gso.workload import totals
from lorelab.params import label

UNITS = {
    "told": "sends",
    "read_bytes": "bytes",
    "copies": "streams",
    "corrupted": "streams",
    "complaints": "complaints",
}


def table(params: Tcp, values: dict[str, int], source: str) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel: those that it has."""
    return totals("gso/tcp", label(params.variant), UNITS, values, source)

"""Counters of `gso/tcp`."""

import pandas as pd

from lorelab import counters
from lorelab.gso.params import Tcp
from lorelab.params import label

UNITS = {
    "told": "sends",
    "read_bytes": "bytes",
    "copies": "streams",
    "corrupted": "streams",
    "complaints": "complaints",
}


def table(params: Tcp, found: dict[str, int], source: str) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel: those that it has."""
    named = {name: (unit, [found[name]]) for name, unit in UNITS.items() if name in found}
    return counters.table("gso/tcp", label(params.variant), source, named, first=0)

"""Counters of `gso/vhost`."""

import pandas as pd

from lorelab.gso.params import Vhost
from lorelab.gso.workload import totals

UNITS = {
    "told": "packets",
    "sent": "packets",
    "wrong": "packets",
    "segmentations": "calls",
    "copies": "calls",
    "copied_bytes": "bytes",
    "completions": "calls",
    "completions_copied": "calls",
    "waiting": "processes",
}


def table(params: Vhost, values: dict[str, int], source: str) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel: those that it has."""
    variant = "refcnt" if params.refcnt else "upstream"
    return totals("gso/vhost", variant, UNITS, values, source)

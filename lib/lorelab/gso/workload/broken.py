"""Counters of `gso/broken`."""

import pandas as pd

from lorelab import counters
from lorelab.gso.params import Broken
from lorelab.params import label


def table(params: Broken, steps: dict[str, tuple[str, list[int]]], source: str) -> pd.DataFrame:
    """Counters of a run, whether of the model or of a kernel."""
    return counters.table("gso/broken", label(params.variant), source, steps, first=0)

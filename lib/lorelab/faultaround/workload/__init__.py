"""What model and kernel have in common: the pages that are read, and the counters of each fault."""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.faultaround.params import Faults

COUNTERS = {
    "page": "page", "start": "page", "end": "page", "mapped": "pages", "lines": "cache lines"
}  # fmt: skip
"""Of each fault: the page that was read, the window around it, the pages that it mapped, and the
cache lines that their page-table entries stand in."""


def table(params: Faults, source: str, faults: np.ndarray) -> pd.DataFrame:
    """Counters of a run, of an array with a row for each fault; without fault-around no window."""
    columns = zip(COUNTERS.items(), faults.astype(np.int64).T, strict=True)
    kept = {
        name: (unit, values)
        for (name, unit), values in columns
        if params.order or name not in ("start", "end")
    }
    return counters.table("faultaround/faults", "v6.12", source, kept)


def reads(params: Faults) -> np.ndarray:
    """Numbers of the pages that are read, in order; each is read once."""
    pages = np.arange(0, params.pages, params.stride, dtype=np.uint64)
    if params.access == "random":
        return np.random.Generator(np.random.PCG64(params.seed)).permutation(pages)
    return pages[::-1].copy() if params.access == "backwards" else pages


def cached(params: Faults) -> np.ndarray:
    """Whether each page of the file is in the page cache before the first read."""
    every = params.missing or params.pages + 1
    return np.arange(1, params.pages + 1) % every != 0

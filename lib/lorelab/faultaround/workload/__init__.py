"""What model and kernel have in common: the pages that are read, and the counters of each fault."""

import numpy as np

from lorelab.faultaround.params import Faults

COUNTERS = {"page": "page", "mapped": "pages", "lines": "cache lines"}
"""Of each fault: the page that was read, the pages that it mapped, and the cache lines that their
page-table entries stand in."""


def reads(params: Faults) -> np.ndarray:
    """Numbers of the pages that are read, in order; each is read once."""
    pages = np.arange(0, params.pages, params.stride, dtype=np.uint64)
    if params.access == "random":
        return np.random.Generator(np.random.PCG64(params.seed)).permutation(pages)
    return pages[::-1].copy() if params.access == "backwards" else pages


def cached(params: Faults) -> np.ndarray:
    """Whether each page of the file is in the page cache before the first read."""
    there = np.ones(params.pages, np.bool_)
    if params.missing:
        there[params.missing - 1 :: params.missing] = False
    return there

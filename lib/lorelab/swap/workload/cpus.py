"""Repeats of `swap/cpus`, and its counters."""

import pandas as pd

from lorelab.counters import table
from lorelab.params import label
from lorelab.swap.params import KERNEL, AllocatorTest, Cpus

NAME = "swap/cpus"

REPEATS = 6
"""Of model and kernel: six span the median with 97 % (`lorelab.judging.rows.intervals`)."""


def without_moves(params: Cpus) -> AllocatorTest:
    """One repeat, without its moves."""
    return AllocatorTest(large_swapin=False, **params.model_dump(exclude={"moves"}))


def totals(
    swpout: int, swpout_fallback: int, migrations: int, paths: dict[str, tuple[str, list[int]]]
) -> dict[str, tuple[str, list[int]]]:
    """Counters of one repeat, as `lorelab.counters.table` takes them; `paths` of `swap/paths`."""
    return {
        "folios": ("folios", [swpout + swpout_fallback]),
        "swpout": ("folios", [swpout]),
        "swpout_fallback": ("folios", [swpout_fallback]),
        "migrations": ("moves", [migrations]),
        **paths,
    }


def in_steps(source: str, repeats: list[dict[str, tuple[str, list[int]]]]) -> pd.DataFrame:
    """Lay out `totals` of all repeats, one step each."""
    counted = {
        name: (unit, [value for repeat in repeats for value in repeat[name][1]])
        for name, (unit, _) in repeats[0].items()
    }
    return table(NAME, label(KERNEL), source, counted)

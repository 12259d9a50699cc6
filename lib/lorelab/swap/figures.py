"""Figures of the swap-out thread and of runs published after it, and what follows from them.

They stand in data/threads/swap.csv, each with its place in the thread.
"""

from functools import partial

import pandas as pd

from lorelab.judging import threads

DESIGN = "swap"


figure = partial(threads.figure, DESIGN)
"""Value of one printed figure, by its row in data/threads/swap.csv."""


def spread() -> float:
    """Largest standard deviation that the author gives for this benchmark, in per cent."""
    return figure("v4-stdev-high")


def later(size: str) -> dict[str, float]:
    """Gain of the series over the baseline of the same size in each later table, as a ratio."""
    gains = {}
    for version in ("v3", "v4", "v5"):
        base, series = (figure(f"{version}-{size}-{column}") for column in ("base", "series"))
        gains[version] = round((100 + series) / (100 + base), 4)
    return gains


def published(prefix: str) -> pd.DataFrame:
    """A published run: index the iteration, columns `swpout` and `swpout_fallback`."""
    rows = threads.figures(DESIGN)
    rows = rows[rows.index.str.match(rf"{prefix}-\d")]
    rows = rows.assign(iteration=rows["iteration"].astype(int))
    return rows.pivot_table(index="iteration", columns="quantity", values="value")


def pairs(run: pd.DataFrame) -> str:
    """`swpout/fallback` of each iteration."""
    both = zip(run["swpout"], run["swpout_fallback"], strict=True)
    return " ".join(f"{int(a)}/{int(b)}" for a, b in both)

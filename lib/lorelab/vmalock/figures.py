"""Figures of the cover letter, and the arithmetic that they allow.

The shares of cycles are printed to one digit, so each stands for an interval of 0.1 points. Whether
the two rows of the table count some cycles twice is not said; `saving` works out either reading.
"""

from functools import partial

import pandas as pd

from lorelab.judging import threads

PARTS = ("maple", "main", "optimisations")
ROUNDING = 0.05
"""Half a unit of the last digit of a share that is printed to one digit [% of cycles]."""


figure = partial(threads.figure, "vmalock")
"""Value of one printed figure, by its row in data/threads/vmalock.csv."""


def starting(prefix: str) -> pd.DataFrame:
    """Rows of data/threads/vmalock.csv whose id starts so, in the order of the message."""
    rows = threads.figures("vmalock")
    return rows[rows.index.str.startswith(prefix)]


def shares() -> pd.DataFrame:
    """The four shares of cycles, as printed.

    Returns
    -------
    DataFrame
        A row for `find` (finding, locking and unlocking the VMA) and one for `mmap`
        (mmap_read_lock and mmap_read_unlock); columns `base`, `series` and `saved` [% of all
        cycles], and `saved_share`, of the row's own cycles [%]. The series' share of `mmap` is
        printed as an upper bound.
    """
    rows = {
        row: {part: figure(f"{row}-{part}") for part in ("base", "series")}
        for row in ("find", "mmap")
    }
    table = pd.DataFrame(rows).T
    table["saved"] = (table["base"] - table["series"]).round(3)
    table["saved_share"] = (100 * table["saved"] / table["base"]).round(1)
    return table


def saving() -> dict[str, tuple[float, float]]:
    """Least and greatest saving that the shares allow [% of all cycles], for either reading.

    `disjoint`: no cycle is in both rows, so that the savings add up. `nested`: what the read path
    takes of mmap_lock is part of finding and locking the VMA, so that the first row has it all.
    """
    saved = figure("find-base") - figure("find-series")
    find = (saved - 2 * ROUNDING, saved + 2 * ROUNDING)
    # what the series leaves of mmap_lock is printed as a bound, and may be nothing
    base = figure("mmap-base")
    mmap = (base - ROUNDING - figure("mmap-series"), base + ROUNDING)
    return {
        "disjoint": (round(find[0] + mmap[0], 2), round(find[1] + mmap[1], 2)),
        "nested": (round(find[0], 2), round(find[1], 2)),
    }


def parts() -> dict[str, range]:
    """Patches of each part of the series, as the letter gives them."""
    return {
        part: range(int(figure(f"part-{part}-first")), int(figure(f"part-{part}-last")) + 1)
        for part in PARTS
    }

"""The printed figures of the fair-zone thread, and what follows from them by arithmetic alone."""

from functools import partial

import numpy as np
import pandas as pd

from lorelab.judging import threads

OPERATIONS = {
    "seqread": "sequential read",
    "randread": "random read",
    "seqwrite": "sequential write",
    "randwrite": "random write",
}
THREADS = (1, 2, 4, 8, 16)
HALF = 0.005
"""Half a unit of the last digit: all means and percentages are printed with two decimals."""


figure = partial(threads.figure, "fairzone")
"""Value of one printed figure, by its row in data/threads/fairzone.csv."""


def tiobench() -> pd.DataFrame:
    """The table of the patch, one row an operation and number of threads.

    Returns
    -------
    DataFrame
        `operation`, `threads`; `baseline` and `v1`, means in MB/s; `percent`, the gain printed
        beside them; `low` and `high`, the gains in per cent between which the rounded means leave
        it; `hits`, the part of the reads that would have to come from the cache, at no cost, if
        nothing else made the gain.
    """
    tables = []
    for operation in OPERATIONS:
        table = gains(operation, "baseline", "v1").reset_index()
        table.insert(0, "operation", operation)
        tables.append(table.rename(columns={"old": "baseline", "new": "v1"}))
    return pd.concat(tables, ignore_index=True)


def gains(series: str, old: str, new: str) -> pd.DataFrame:
    """Means of two kernels by number of threads, and the gain printed beside the second.

    Parameters
    ----------
    series, old, new : str
        Rows `SERIES-THREADS-OLD` and `SERIES-THREADS-NEW`.

    Returns
    -------
    DataFrame
        Indexed by `threads`: `old` and `new`, means in MB/s; `percent`, nan where none is printed
        or it is over another kernel than `old`; `low`, `high` and `hits` as in `tiobench`.
    """
    rows = threads.figures("fairzone")
    names = [[f"{series}-{number}-{kernel}" for number in THREADS] for kernel in (old, new)]
    before, after = (rows.loc[ids, "value"].to_numpy() for ids in names)
    percent = pd.to_numeric(rows.loc[names[1], "percent"]).to_numpy(float)
    if pd.to_numeric(rows.loc[names[0], "percent"]).notna().any():  # over what came before `old`
        percent = np.full(len(THREADS), np.nan)
    table = pd.DataFrame(
        {"old": before, "new": after, "percent": percent}, index=pd.Index(THREADS, name="threads")
    )
    low = 100 * ((table["new"] - HALF) / (table["old"] + HALF) - 1)
    high = 100 * ((table["new"] + HALF) / (table["old"] - HALF) - 1)
    return table.assign(low=low, high=high, hits=hit_fraction(table["old"], table["new"]))


def writes(series: str, kernel: str) -> dict[int, float]:
    """Sequential writes of a kernel in MB/s, by number of threads; empty where none are printed.

    Parameters
    ----------
    series, kernel : str
        As for `gains`: the writes of `seqread` are rows `seqwrite`.
    """
    values = threads.figures("fairzone")["value"]
    rows = {n: f"{series.replace('seqread', 'seqwrite')}-{n}-{kernel}" for n in THREADS}
    return {n: values[row] for n, row in rows.items() if row in values.index}


def follows(table: pd.DataFrame | pd.Series) -> bool:
    """Whether each gain that is printed lies where its rounded means leave it."""
    outside = (table["percent"] < table["low"] - HALF) | (table["percent"] > table["high"] + HALF)
    return not np.any(outside)


def printed(table: pd.DataFrame) -> pd.Series:
    """Gains in per cent as printed; where none is, what the printed means make."""
    return table["percent"].fillna(100 * (table["new"] / table["old"] - 1))


def hit_fraction(old: float | pd.Series, new: float | pd.Series) -> float | pd.Series:
    """Part h of the reads served from the cache at no cost: new = old / (1 - h)."""
    return 1 - old / new


def speedup(hits: float) -> float:
    """Gain in per cent if the part `hits` of the reads costs nothing: 1 / (1 - h) - 1."""
    return 100 * (1 / (1 - hits) - 1)


def geometric_means() -> pd.Series:
    """Mean gain of each operation in per cent, over the numbers of threads."""
    table = tiobench()
    ratio = np.log(table["v1"] / table["baseline"])
    return 100 * (np.exp(ratio.groupby(table["operation"], sort=False).mean()) - 1)


def shares() -> pd.DataFrame:
    """DMA32's part of what was allocated or scanned in the messages that followed.

    Returns
    -------
    DataFrame
        `kernel`, `of` (allocations or velocity), `share`, and `size`, DMA32's part of the managed
        pages where the message that gives it means the same machine, else nan.
    """
    sized = figure("managed-dma32") / (figure("managed-dma32") + figure("managed-normal"))
    pairs = [
        ("june18-{}-allocs-vanilla", "3.16-rc1", "allocations, data in memory", np.nan),
        ("june18-{}-allocs-fairzone", "18 June", "allocations, data in memory", np.nan),
        ("june18-{}-allocs-3.0", "3.0", "allocations, data in memory", np.nan),
        ("june27-{}-allocs-fairzone", "25 June, kswapd without reserves", "allocations", sized),
        ("big-velocity-{}-3.0", "3.0", "velocity", np.nan),
        ("big-velocity-{}-rc1", "3.16-rc1", "velocity", np.nan),
        ("big-velocity-{}-bigbatches", "batch of managed / 4", "velocity", np.nan),
        ("v4r8-velocity-{}-rc1", "3.16-rc1", "velocity", np.nan),
        ("v4r8-velocity-{}-series", "v4r8", "velocity", np.nan),
        ("v4r8-velocity-{}-classzone", "v4r8, class zone kept", "velocity", np.nan),
    ]
    rows = []
    for row, kernel, of, size in pairs:
        low, high = (figure(row.format(zone)) for zone in ("dma32", "normal"))
        rows.append((kernel, of, low / (low + high), size))
    return pd.DataFrame(rows, columns=["kernel", "of", "share", "size"])

"""What the questions of `answers.ipynb` need beside the experiments: programs, exact chances."""

import math

import numpy as np
import pandas as pd

from lorelab.damon.pages import views
from lorelab.damon.params import ALONE, Monitoring, Speeds
from lorelab.damon.workload import masim
from lorelab.numerics import PAGE

HOUR_MS = 3_600_000
PAGES_A_MIB = 2**20 // PAGE


def program(sizes: dict[str, int], *accesses: masim.Access, ms: int = HOUR_MS) -> masim.Config:
    """A program of one phase."""
    return masim.Config(sizes, (masim.Phase("steady", ms, accesses),))


def alternating(sizes: dict[str, int], ms: int, total_ms: int) -> masim.Config:
    """A program that touches its regions in turn, `ms` each, for `total_ms`."""
    names = list(sizes) * (total_ms // ms // len(sizes) + 1)
    phases = [
        masim.Phase(f"{n} {name}", ms, (masim.Access(name, False, PAGE, 1),))
        for n, name in enumerate(names)
    ]
    return masim.Config(sizes, tuple(phases))


def binomial(samples: int, p: float) -> np.ndarray:
    """Chance of each count from 0 to `samples`; (samples + 1,) float64."""
    return np.array(
        [math.comb(samples, k) * p**k * (1 - p) ** (samples - k) for k in range(samples + 1)]
    )


def apart(samples: int, p: float, threshold: int, most: int | None = None) -> float:
    """Chance that two independent counts of the same rate differ by more than the threshold.

    If `most` is given, of two counts that are no higher.
    """
    chance = binomial(samples, p)[: (samples if most is None else most) + 1]
    chance = chance / chance.sum()
    k = np.arange(len(chance))
    return float((np.outer(chance, chance) * (abs(k[:, None] - k) > threshold)).sum())


def addresses(config: masim.Config, name: str) -> tuple[int, int]:
    """First address of a region of the program, and the one after its last."""
    at = masim.VDSO[0]
    for region, size in config.regions.items():
        at -= -(-(size + masim.MALLOC_HEADER) // PAGE) * PAGE
        if region == name:
            return at, at + size
    raise KeyError(name)


def counts(
    params: Monitoring,
    windows: int,
    config: masim.Config,
    name: str,
    speeds: Speeds = ALONE,
) -> pd.Series:
    """Mean count over the bytes of one region of the program, by window as reported."""
    rows = views.history(params, windows, config, speeds)
    rows = rows[rows["stage"] == "reported"].assign(start=rows["low"], end=rows["high"])
    span = addresses(config, name)
    return rows.groupby("window")[["start", "end", "nr_accesses"]].apply(mean_count, *span)


def mean_count(rows: pd.DataFrame | np.ndarray, low: int, high: int) -> float:
    """Mean count over the bytes from `low` to `high`, by one report of all regions."""
    # Offsets from the region fit a float; addresses do not.
    start, end = (
        (rows[name].astype(np.int64) - low).clip(0, high - low) for name in ("start", "end")
    )
    return float(((end - start) * rows["nr_accesses"]).sum() / (high - low))


def regions_within(windows: list[np.ndarray], low: int, high: int) -> pd.DataFrame:
    """Regions of reports that lie within `low` to `high`: `window`, `size`, `nr_accesses`, `age`.

    Parameters
    ----------
    windows : list of (n,) SNAPSHOT array
        A report each, as `lorelab.damon.kernel.follow.Inputs` has them.
    """
    parts = []
    for number, rows in enumerate(windows, 1):
        mine = rows[(rows["start"] >= low) & (rows["end"] <= high)]
        size = (mine["end"] - mine["start"]).astype(float)
        part = {"size": size, "nr_accesses": mine["nr_accesses"], "age": mine["age"]}
        parts.append(pd.DataFrame(part).astype({"nr_accesses": int}).assign(window=number))
    return pd.concat(parts, ignore_index=True)


def rate_errors(reports: pd.DataFrame, truth: pd.DataFrame, samples: int) -> pd.Series:
    """Error of the rates reported, a mean over bytes, in windows of one range accessed.

    Parameters
    ----------
    reports, truth : DataFrame
        As `lorelab.damon.pages.kernel_views.reports()` and `accesses()` give them.
    samples : int
        Of a window: the count of what is accessed all the time.

    Returns
    -------
    Series
        By the window's end (s), without the windows in which another range came in use.
    """
    errors = {}
    for (begin, end), rows in reports.groupby(["begin", "end"]):
        within = truth[(truth["begin"] <= begin) & (truth["end"] >= end)]
        if len(within):
            low, high = int(within["low"].iloc[0]), int(within["high"].iloc[0])
            start, stop = (
                (rows[name].astype(np.int64) - low).clip(0, high - low) for name in ("low", "high")
            )
            size, hot = (rows["high"] - rows["low"]).astype(float), (stop - start).astype(float)
            rate = rows["nr_accesses"] / samples
            errors[end] = (hot * (1 - rate) + (size - hot) * rate).sum() / size.sum()
    return pd.Series(errors)

"""Counters of `damon/accuracy`: how far a run was from the truth, in a handful of figures."""

from itertools import pairwise

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon.model.memory import PAGE_SIZE
from lorelab.damon.params import Accuracy, Masim, Speeds, took
from lorelab.damon.workload.truth import Observation, whole
from lorelab.params import label

BUCKETS = np.unique(2 ** (np.arange(160) / 4) // 1).astype(np.int64)
"""Lowest sizes of `regions_by_size`, in pages: four to an octave."""

DISTRIBUTIONS = {
    "windows_by_sampled": "windows",
    "windows_by_regions": "windows",
    "regions_by_size": "regions",
    "regions_by_count": "regions",
    "regions_by_age": "regions",
}
"""What `distributions()` counts, and by what: a window's regions as they are sampled, and as they
are reported, merged by then; pages, accesses and age of a region reported."""


def distributions(params: Masim, observation: Observation) -> dict[str, pd.Series]:
    """Distributions of what is reported, over the windows that `observed()` looks at.

    Returns
    -------
    dict of Series
        By the names of `DISTRIBUTIONS`, how many there are, by value; of sizes by the lowest of a
        bucket.
    """
    windows = [window for _, window in whole(observation)]
    regions = np.concatenate([window.regions for window in windows])
    pages = ((regions["end"] - regions["start"]) // PAGE_SIZE).astype(np.int64)
    values = (
        [window.checks // params.samples for window in windows],
        [len(window.regions) for window in windows],
        BUCKETS[np.searchsorted(BUCKETS, pages, side="right") - 1],
        regions["nr_accesses"].astype(np.int64),
        regions["age"].astype(np.int64),
    )
    return {
        name: pd.Series(each).value_counts().sort_index()
        for name, each in zip(DISTRIBUTIONS, values, strict=True)
    }


def distribution_counters(
    counted: list[dict[str, pd.Series]], params: Accuracy, source: str
) -> pd.DataFrame:
    """Counters of `damon/accuracy` for the `distributions()` of all runs; a step a value."""
    parts = []
    for name, unit in DISTRIBUTIONS.items():
        total = pd.concat([run[name] for run in counted]).groupby(level=0).sum()
        found = {name: (unit, total.to_list())}
        part = counters.table("damon/accuracy", label(params.variant), source, found)
        parts.append(part.assign(step=total.index))
    return pd.concat(parts, ignore_index=True)


def lags(seen: pd.DataFrame, changes: list[float], allowed: float) -> list[int]:
    """Windows from each change of phase until the hot set is right to within a share of itself.

    The window in which the change falls is the first; a phase in which that never comes about
    counts all of its windows.
    """
    right = (seen["misplaced"] <= allowed * seen["hot"]).to_numpy()
    edges = np.searchsorted(seen["seconds"], [*changes, np.inf], side="right")
    found = []
    for first, last in pairwise(edges):
        if first < last:
            phase = right[first:last]
            found.append(int(phase.argmax()) + 1 if phase.any() else len(phase))
    return found


def figures(
    seen: pd.DataFrame, changes: list[float], params: Accuracy, speeds: Speeds
) -> dict[str, tuple[str, float]]:
    """Figures of `damon/accuracy`, with their units, for windows as `observe()` gives them.

    Parameters
    ----------
    changes : list of float
        When each phase but the first began, in seconds.
    speeds : Speeds
        What an access of the program, and a check and a sleep of kdamond took.
    """
    late = lags(seen, changes, params.allowed_percent / 100)
    values = {
        "runs": ("runs", 1),
        "windows": ("windows", len(seen)),
        "rate_error": ("share", seen["error"].mean()),
        "misplaced": ("bytes", seen["misplaced"].mean()),
        "hot_seen": ("share", seen["hot_seen"].sum() / max(seen["hot"].sum(), 1.0)),
        "lag_mean": ("windows", float(np.mean(late)) if late else 0.0),
        "lag_max": ("windows", max(late, default=0)),
        "checks_per_second": ("checks/s", seen["checks"].sum() / seen["took"].sum()),
        "regions_mean": ("regions", seen["regions"].mean()),
        "regions_p50": ("regions", seen["regions"].median()),
        "regions_max": ("regions", seen["regions"].max()),
        "outside_mean": ("regions", seen["outside"].mean()),
    } | took(speeds, ("access", "check", "sleep"))
    for percentile in (0, 25, 50, 75, 100):
        for name in ("wss", "true_wss"):
            value = float(np.percentile(seen[name], percentile))
            values[f"{name}_p{percentile}"] = ("bytes", value)
    return values


def accuracy_counters(
    runs: list[dict[str, tuple[str, float]]], params: Accuracy, source: str
) -> pd.DataFrame:
    """Counters of `damon/accuracy` for the `figures()` of each run."""
    steps = {name: (unit, [run[name][1] for run in runs]) for name, (unit, _) in runs[0].items()}
    return counters.table("damon/accuracy", label(params.variant), source, steps)

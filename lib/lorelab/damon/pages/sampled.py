"""Hardware that samples accesses against the accessed bit: the hot memory that each finds."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from lorelab.damon.experiments import masim
from lorelab.damon.model import reports
from lorelab.damon.model.alternatives import NULLS, Watched
from lorelab.damon.model.memory import Pages
from lorelab.damon.params import ALONE, Accuracy, Variant, runs
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.damon.workload.truth import HOT
from lorelab.numerics import PAGE

BITS = {
    "5 ms": {"sample_us": 5_000},
    "50 ms": {"sample_us": 50_000},
    "100 ms": {"sample_us": 100_000},
    "5 ms, TLB of 4,096 pages": {"sample_us": 5_000, "tlb": 4096},
}
"""Settings of kdamond that checks accessed bits; windows are of 100 ms."""
UNITS = {
    "500/s, 50 ms": {"rate": 500, "sample_us": 50_000},
    "1,000/s, 50 ms": {"rate": 1_000, "sample_us": 50_000},
    "5,003/s, 50 ms": {"rate": 5_003, "sample_us": 50_000},
    "5,003/s, 5 ms": {"rate": 5_003, "sample_us": 5_000},
    "50,000/s, 5 ms": {"rate": 50_000, "sample_us": 5_000},
}
"""Samples per second and sampling intervals; 5,003 is the RFC's `sample_freq` for PEBS."""
FAULTS = {
    "half lost": {"loss": 0.5},
    "half of the intervals lost": {"stall": 0.5},
    "skid 1 MiB": {"skid": 1 << 20},
    "skid 10 MiB": {"skid": 10 << 20},
}
"""What may be wrong with the samples of a unit."""


def compared(programs: list[str], repeats: int, seed: int = 1) -> pd.DataFrame:
    """Both ways to learn of accesses, and reports that take no monitor, on programs.

    Returns
    -------
    DataFrame
        By `way` and `setting`, in columns by program and figure, means over the runs: `found`,
        the share of the hot memory found (`share_found`), and `error`, that of the rate, in per
        cent; `per second`, pages checked or reports that arrived.
    """
    unit = UNITS["5,003/s, 50 ms"]
    ways = (
        {("accessed bit", name): (_bits, setting) for name, setting in BITS.items()}
        | {("samples", name): (_units, setting) for name, setting in UNITS.items()}
        | {("5,003/s, 50 ms", name): (_units, unit | fault) for name, fault in FAULTS.items()}
        | {("no monitor", name): (_null, {"name": name}) for name in NULLS}
    )
    rows = [
        {"way": way, "setting": setting, "program": program, **_figures(one, watch, settings)}
        for (way, setting), (watch, settings) in ways.items()
        for program in programs
        for one in runs(Accuracy(workload=program, variant=Variant.V7_3, runs=repeats, seed=seed))
    ]
    keys = ["way", "setting"]
    means = pd.DataFrame(rows).pivot_table(index=keys, columns="program", sort=False)
    return means.swaplevel(axis=1).sort_index(axis=1)


def _figures(params: Accuracy, watch: Callable, settings: dict) -> dict[str, float]:
    own = {name: settings[name] for name in ("sample_us", "tlb") if name in settings}
    params = params.model_copy(update=own)
    speeds = ALONE._replace(sleep_us=params.sample_us)
    pages = memory(params, configuration(params), speeds, truth=True)
    shares: list[float] = []
    windows = _noted(watch(params, pages, settings), pages, shares)
    table = masim.compare_windows(params, pages, windows)
    return {
        "found": 100 * float(np.mean(shares)),
        "error": 100 * table["error"].mean(),
        "per second": table["checks"].sum() / table["took"].sum(),
    }


def _bits(params: Accuracy, pages: Pages, settings: dict) -> Iterator[Watched]:
    return masim.monitored(params, context(params, pages), pages)


def _units(params: Accuracy, pages: Pages, settings: dict) -> Iterator[Watched]:
    faults = {name: settings[name] for name in ("skid", "loss", "stall") if name in settings}
    period = round(1e9 / ALONE.access_ns / settings["rate"])
    hardware = reports.new_hardware(period, seed=params.seed, **faults)
    return reports.reported(context(params, pages), pages, hardware)


def _null(params: Accuracy, pages: Pages, settings: dict) -> Iterator[Watched]:
    return NULLS[settings["name"]](pages, params.samples, params.sample_us)


def _noted(windows: Iterator[Watched], pages: Pages, shares: list[float]) -> Iterator[Watched]:
    # The truth of a window is there until the window is compared with it.
    base = int(pages.info["base"][0])
    for window in windows:
        hot = np.cumsum(pages.truth)[:-1] >= HOT * window.samples
        if hot.any():
            edges = [window.regions[name].astype(np.int64) - base for name in ("start", "end")]
            low, high = (edge // PAGE for edge in edges)
            shares.append(share_found(low, high, window.regions["nr_accesses"], hot))
        yield window


def share_found(low: np.ndarray, high: np.ndarray, counts: np.ndarray, hot: np.ndarray) -> float:
    """Share of the hot pages in as many pages of the regions with the highest counts.

    So a scheme with a quota takes them: only the order of the counts matters. Of regions with
    equal counts of which not all are taken, each gives the same part.

    Parameters
    ----------
    low, high : (n,) int64 arrays
        First page of each region, and the one after its last; some may lie outside of `hot`.
    counts : (n,) array
    hot : (pages,) bool array
        At least one is.

    Examples
    --------
    >>> hot = np.array([True, True, False, False])
    >>> share_found(np.array([0, 1]), np.array([1, 4]), np.array([20, 3]), hot)
    0.6666666666666666
    """
    before = np.concatenate([[0], np.cumsum(hot)])
    inside = before[np.clip(high, 0, len(hot))] - before[np.clip(low, 0, len(hot))]
    _, rank = np.unique(-counts.astype(np.int64), return_inverse=True)
    sizes, hot_bytes = (np.bincount(rank, weights=each) for each in (high - low, inside))
    part = np.clip((before[-1] - np.cumsum(sizes) + sizes) / sizes, 0, 1)
    return float((hot_bytes * part).sum() / before[-1])

"""`damon/masim` and `damon/accuracy`: a masim program watched by each variant, and the truth.

The truth of a page in a window is the share of its sampling intervals in which the program
touched it; the estimate is the count of its region over the samples of a window. Both come from
one run, so the comparison is window by window and page by page.
"""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon.experiments.truth import OBSERVED, outside, weigh
from lorelab.damon.model.alternatives import BIN_PAGES, ideal_window, scan_window
from lorelab.damon.model.core import kdamond_window
from lorelab.damon.model.state import SNAPSHOT, U
from lorelab.damon.params import Masim, Variant
from lorelab.damon.workload import masim
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.params import label
from lorelab.progress import track


def _as_regions(counts: np.ndarray, base: int, pages_each: int) -> np.ndarray:
    rows = np.zeros(len(counts), SNAPSHOT)
    rows["start"] = base + np.arange(len(counts), dtype=U) * U(pages_each * 4096)
    rows["end"] = rows["start"] + U(pages_each * 4096)
    rows["nr_accesses"] = counts
    return rows


def observe(params: Masim) -> pd.DataFrame:
    """Run a program to its end under one variant.

    Returns
    -------
    DataFrame
        A row a window, columns `OBSERVED`: bytes, but `error` a share of all bytes monitored,
        `seconds` the time when the window ended, `took` its length, `outside` regions that have
        nothing of the program's.
    """
    config = configuration(params)
    pages = memory(params, config, truth=True)
    samples = params.aggr_us // params.sample_us
    base, nr = int(pages.info["base"][0]), len(pages.truth) - 1
    if params.variant == Variant.PAGE_SCAN:
        counts = np.zeros(nr, np.uint32)
    elif params.variant == Variant.IDEAL:
        counts, last = np.zeros((2, nr // int(BIN_PAGES)), np.uint32)
        due = 0
    else:
        ctx = context(params, pages)
    low = int(pages.patterns["start"].min())
    high = int((pages.patterns["start"] + pages.patterns["sz"]).max())
    rows = []
    out = np.zeros(6)
    end_ns = int(masim.seconds(config) * 1e9)
    before, seconds = 0, 0.0
    for _ in _until(pages, end_ns):
        took = samples
        if params.variant == Variant.PAGE_SCAN:
            scan_window(pages, counts, U(samples), U(params.sample_us), U(params.check_ns))
            trace, n, checks = _as_regions(counts, base, 1), nr, nr * samples
        elif params.variant == Variant.IDEAL:
            checks, due = ideal_window(pages, counts, last, U(samples), U(params.sample_us), U(due))
            trace, n = _as_regions(counts, base, int(BIN_PAGES)), len(counts)
        else:
            passed = int(ctx.info["passed_sample_intervals"][0])
            n = kdamond_window(ctx, pages, U(params.check_ns))
            trace, took = ctx.trace, int(ctx.info["passed_sample_intervals"][0]) - passed
            checks, before = int(ctx.info["checks"][0]) - before, int(ctx.info["checks"][0])
        weigh(trace, n, float(samples), pages.truth, float(took), U(base), out)
        total = float((trace[:n]["end"] - trace[:n]["start"]).sum())
        error = out[2] / total
        length, seconds = pages.info["now"][0] / 1e9 - seconds, pages.info["now"][0] / 1e9
        beside = outside(trace[:n], low, high)
        rows.append((n, checks, out[0], out[1], error, *out[3:], seconds, length, beside))
    return pd.DataFrame(rows, columns=OBSERVED)


def _until(pages, end_ns: int):
    # Windows have no fixed length in time, so the bar counts tenths of the program's seconds.
    tenths = track(range(max(end_ns // 100_000_000, 1)), "monitoring")
    for tenth in tenths:
        while int(pages.info["now"][0]) <= min(tenth * 100_000_000, end_ns):
            yield


def simulate(params: Masim) -> pd.DataFrame:
    """Simulate `damon/masim`.

    Returns
    -------
    DataFrame
        Per window: regions, checks, working set as monitored and in truth, rate error, bytes on
        the wrong side of "hot", bytes hot in truth and the share of those that was seen, in
        bytes, and when the window ended; once, what an access, a check and a sleep took.
    """
    speeds = params.access_ns, params.check_ns, params.sample_us
    return masim_counters(observe(params), params, "model", *speeds)


def masim_counters(
    seen: pd.DataFrame,
    params: Masim,
    source: str,
    access_ns: float,
    check_ns: float,
    sleep_us: float,
) -> pd.DataFrame:
    """Counters of `damon/masim` for windows as `observe()` gives them.

    Parameters
    ----------
    access_ns, check_ns, sleep_us : float
        What an access of the program, and a check and a sleep of kdamond took.
    """
    return counters.table(
        "damon/masim",
        label(params.variant),
        source,
        {
            "nr_regions": ("regions", seen["regions"]),
            "outside": ("regions", seen["outside"]),
            "checks": ("checks", seen["checks"]),
            "wss": ("bytes", seen["wss"]),
            "true_wss": ("bytes", seen["true_wss"]),
            "rate_error": ("share", seen["error"]),
            "misplaced": ("bytes", seen["misplaced"]),
            "hot": ("bytes", seen["hot"]),
            "hot_seen": ("bytes", seen["hot_seen"]),
            "end": ("s", seen["seconds"]),
            "access": ("ns", [access_ns]),
            "check": ("ns", [check_ns]),
            "sleep": ("us", [sleep_us]),
        },
    )

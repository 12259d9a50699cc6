"""`damon/masim`: a masim program watched by each variant, and the truth.

The truth of a page in a window is the share of its sampling intervals in which the program
touched it; the estimate is the count of its region over the samples of a window. Both come from
one run, so the comparison is window by window and page by page.
"""

from collections.abc import Iterator

import pandas as pd

from lorelab.damon.model.alternatives import WINDOWS, Watched
from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.model.memory import Pages
from lorelab.damon.model.state import Damon
from lorelab.damon.params import ALONE, Masim, Speeds
from lorelab.damon.workload import masim
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.damon.workload.truth import Observed, masim_counters, outside, weigh
from lorelab.numerics import U
from lorelab.progress import track


def simulate(params: Masim, speeds: Speeds = ALONE) -> pd.DataFrame:
    """Simulate `damon/masim`.

    Returns
    -------
    DataFrame
        Per window: regions, checks, working set as monitored and in truth, rate error, bytes on
        the wrong side of "hot", bytes hot in truth and the share of those that was seen, in
        bytes, and when the window ended; once, what an access, a check and a sleep took.
    """
    speeds = speeds._replace(sleep_us=params.sample_us)
    return masim_counters(observe(params, speeds), params, "model", speeds)


def observe(params: Masim, speeds: Speeds = ALONE) -> pd.DataFrame:
    """Run a program to its end under one variant.

    Returns
    -------
    DataFrame
        A row a window, columns as `Observed`.
    """
    pages = memory(params, configuration(params), speeds, truth=True)
    if params.variant.traits.regions:
        windows = monitored(params, context(params, pages), pages)
    else:
        windows = WINDOWS[params.variant](pages, params.samples, params.sample_us)
    return compare_windows(params, pages, windows)


def compare_windows(params: Masim, pages: Pages, windows: Iterator[Watched]) -> pd.DataFrame:
    """Hold what `windows` report of a program's memory against the truth; as `observe()`."""
    base = pages.info["base"][0]
    low = int(pages.patterns["start"].min())
    high = int((pages.patterns["start"] + pages.patterns["sz"]).max())
    rows, before = [], 0.0
    end_ns = int(masim.seconds(configuration(params)) * 1e9)
    for _, window in zip(_until(pages, end_ns), windows, strict=False):
        regions = window.regions
        counts = float(params.samples), float(window.samples)
        seen = weigh(regions, counts[0], pages.truth, counts[1], U(base))
        seconds = float(pages.info["now"][0] / 1e9)
        rows.append(
            Observed.of(
                seen,
                regions=regions,
                checks=window.checks,
                seconds=seconds,
                took=seconds - before,
                outside=outside(regions, low, high),
            )
        )
        before = seconds
    return pd.DataFrame(rows, columns=Observed._fields)


def monitored(params: Masim, ctx: Damon, pages: Pages) -> Iterator[Watched]:
    """Windows of kdamond, for as long as somebody asks for one."""
    checks = passed = 0
    while True:
        n = kdamond_window(ctx, pages)
        now = int(ctx.info["checks"][0]), int(ctx.info["passed_sample_intervals"][0])
        yield Watched(ctx.trace[:n], now[0] - checks, now[1] - passed)
        checks, passed = now


def _until(pages: Pages, end_ns: int) -> Iterator[None]:
    # Windows have no fixed length in time, so the bar counts tenths of the program's seconds.
    tenths = track(range(max(end_ns // 100_000_000, 1)), "monitoring")
    for tenth in tenths:
        while int(pages.info["now"][0]) <= min(tenth * 100_000_000, end_ns):
            yield

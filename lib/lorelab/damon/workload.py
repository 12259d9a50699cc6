"""`damon/masim` and `damon/accuracy`: a masim program watched by each variant, and the truth.

The truth of a page in a window is the share of its sampling intervals in which the program
touched it; the estimate is the count of its region over the samples of a window. Both come from
one run, so the comparison is window by window and page by page.
"""

from itertools import pairwise

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon import masim as language
from lorelab.damon.accessed import pages_prepare, seen
from lorelab.damon.model import kdamond_window
from lorelab.damon.pages import PAGE_SIZE, rand
from lorelab.damon.params import Accuracy, Masim, Variant
from lorelab.damon.program import account_truth, play
from lorelab.damon.setting import configuration, context, memory
from lorelab.damon.state import ONE, SNAPSHOT, ZERO, U, njit
from lorelab.params import label
from lorelab.progress import track

HOT = 0.5
"""Share of the samples from which on a page or region counts as hot."""
PERIOD = U(10_007)
"""Accesses between two that ideal hardware reports; a prime, so that no stride keeps step."""
BIN_PAGES = U(512)
OBSERVED = [
    "regions",
    "checks",
    "wss",
    "true_wss",
    "error",
    "misplaced",
    "hot",
    "hot_seen",
    "seconds",
    "took",
    "outside",
]


@njit
def scan_window(pages, counts, samples, sample_us, check_ns):
    """Check every page in every interval of a window (page idle tracking).

    Parameters
    ----------
    counts : (pages,) uint32 array
        Receives how often each page was found touched.
    """
    info = pages.info[0]
    counts[:] = 0
    for _ in range(samples):
        pages_prepare(pages)
        play(pages, sample_us * U(1000))
        account_truth(pages)
        for page in range(U(len(counts))):
            at = info.base + page * PAGE_SIZE
            if seen(info, pages.patterns, at, at + PAGE_SIZE):
                counts[page] += 1
        play(pages, U(len(counts)) * check_ns)


@njit
def ideal_window(pages, counts, last, samples, sample_us, due):
    """Let hardware report every `PERIOD`-th access; counts intervals with a report, by 2 MiB.

    Parameters
    ----------
    counts, last : (pages / 512,) uint32 arrays
        Receive the counts; and the interval, from 1, of the last report.

    Returns
    -------
    reports, due : uint64
        Reports made, and accesses until the next one, to be handed in for the next window.
    """
    info = pages.info[0]
    reports = ZERO
    counts[:] = 0
    last[:] = 0
    for interval in range(samples):
        pages_prepare(pages)
        play(pages, sample_us * U(1000))
        account_truth(pages)
        for k in range(info.lowest, info.highest):
            p = pages.patterns[k]
            while due < p.n:
                offset = (p.first + due) % p.around * p.stride
                if p.random:
                    offset = rand(info) * p.sz >> U(32)
                place = (p.start + offset - info.base) // PAGE_SIZE // BIN_PAGES
                if last[place] != interval + ONE:
                    last[place] = interval + ONE
                    counts[place] += 1
                reports += ONE
                due += PERIOD
            due -= p.n
    return reports, due


@njit
def weigh(trace, n, full, truth, samples, base, out):
    """Hold the regions of a window against the truth.

    Parameters
    ----------
    trace : SNAPSHOT array
        Its first `n` rows are the regions.
    full : float
        Count of a region that is always accessed.
    truth : (pages + 1,) float64 array
        Differences, as `account_truth()` leaves them; zeroed for the next window.
    samples : float
        Intervals that went into `truth`.
    out : (6,) float64 array
        Receives estimated and true working set, the sum over bytes of |estimate - truth|, bytes
        that only one of the two calls hot, bytes that are hot in truth, and the estimate's sum
        over those.
    """
    out[:] = 0.0
    nr = U(len(truth)) - ONE
    running = 0.0
    for k in range(n):
        rate = min(trace[k].nr_accesses / full, 1.0)
        size = float(trace[k].end - trace[k].start)
        if rate > 0.0:
            out[0] += size
        low, high = max(trace[k].start, base), max(trace[k].end, base)
        page = (low - base) // PAGE_SIZE
        stop = min(page + (high - low + PAGE_SIZE - ONE) // PAGE_SIZE, nr)
        inside = 0.0
        while page < stop:
            running += truth[page]
            # Pages up to the next difference are all alike.
            following = page + ONE
            while following < stop and truth[following] == 0.0:
                following += ONE
            alike = 4096.0 * float(following - page)
            page = following
            true = min(max(running / samples, 0.0), 1.0)
            out[1] += alike if true > 1e-9 else 0.0
            out[2] += abs(rate - true) * alike
            out[3] += alike if (rate >= HOT) != (true >= HOT) else 0.0
            if true >= HOT:
                out[4] += alike
                out[5] += alike * rate
            inside += alike
        out[2] += (size - inside) * rate
        out[3] += size - inside if rate >= HOT else 0.0
    truth[:] = 0.0


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
    end_ns = int(language.seconds(config) * 1e9)
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


def outside(trace: np.ndarray, low: int, high: int) -> int:
    """Count the regions that have no byte of [low, high), the program's own regions."""
    return int(((trace["end"] <= U(low)) | (trace["start"] >= U(high))).sum())


def _until(pages, end_ns: int):
    # Windows have no fixed length in time, so the bar counts tenths of the program's seconds.
    tenths = track(range(max(end_ns // 100_000_000, 1)), "monitoring")
    for tenth in tenths:
        while int(pages.info["now"][0]) <= min(tenth * 100_000_000, end_ns):
            yield


def masim(params: Masim) -> pd.DataFrame:
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


def accuracy(params: Accuracy) -> pd.DataFrame:
    """Simulate `damon/accuracy`: how far each run was from the truth, in a handful of figures.

    Returns
    -------
    DataFrame
        A step a run, with seeds from `seed` on.
    """
    ends = np.cumsum([phase.ms / 1000 for phase in configuration(params).phases])
    speeds = params.access_ns, params.check_ns, params.sample_us
    runs = []
    for n in range(params.runs):
        seen = observe(params.model_copy(update={"seed": params.seed + n}))
        runs.append(figures(seen, ends[:-1].tolist(), params, *speeds))
    return accuracy_counters(runs, params, "model")


def figures(
    seen: pd.DataFrame,
    changes: list[float],
    params: Accuracy,
    access_ns: float,
    check_ns: float,
    sleep_us: float,
) -> dict[str, tuple[str, float]]:
    """Figures of `damon/accuracy`, with their units, for windows as `observe()` gives them.

    Parameters
    ----------
    changes : list of float
        When each phase but the first began, in seconds.
    access_ns, check_ns, sleep_us : float
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
        "access": ("ns", access_ns),
        "check": ("ns", check_ns),
        "sleep": ("us", sleep_us),
    }
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

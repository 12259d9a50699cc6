"""What a check costs in numba, C and plain Python; an hour of 1 TiB; a recording of 100 MB.

That the three report the same regions is checked in every window.
"""

import tempfile
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

from bench.compare import apart, same_rows
from bench.damon import implementations

REPEATS = 7
TRACES = {
    "half of the samples hit": (10, 1000, 300, 0.5),
    "one in 20 hits": (10, 1000, 100, 0.05),
    "1,000 regions that stay": (1000, 1000, 60, 0.5),
}
"""Bounds of the regions, windows, and the chance that a check hits."""
PYTHON_SHARE = 20
"""Plain Python runs that part of the windows: it takes 100 times as long."""
HOURS = {
    "one half touched, default bounds": ("halves", 10),
    "a page in 50 touched, default bounds": ("random", 10),
    "one half touched, at least 1,000 regions": ("halves", 1000),
}
BAR_C, BAR_PYTHON, BAR_HOUR, BAR_GIB, BAR_READ = 0.8, 100, 30, 1, 5


def speed() -> Table:
    """Nanoseconds a check, with all that kdamond does beside, the best of interleaved runs."""
    table = Table(
        title=f"kdamond of 6.12 over 1 TiB, ns a check with its share of the window's work "
        f"(bars: {BAR_C} of C, {BAR_PYTHON} times Python)"
    )
    for column in ("checks", "regions", "C -O3", "numba", "Python", "of C", "times Python"):
        table.add_column(column, justify="left" if column == "checks" else "right")
    library = implementations.load_c()
    for name, (least, most, windows, rate) in track(TRACES.items(), "speed", transient=True):
        given = implementations.history(least, most, windows, rate, seed=1)
        few = given._replace(windows=max(windows // PYTHON_SHARE, 3))
        implementations.run_numba(few)  # compiles
        best = dict.fromkeys(("c", "numba", "python"), np.inf)
        for _ in range(REPEATS):
            expected, seconds, checks = implementations.run_c(library, given)
            best["c"] = min(best["c"], seconds / checks)
            found, seconds, checks = implementations.run_numba(given)
            best["numba"] = min(best["numba"], seconds / checks)
            same_rows(name, "numba", expected, found)
        for _ in range(2):
            found, seconds, checks = implementations.run_python(few)
            best["python"] = min(best["python"], seconds / checks)
            same_rows(name, "plain Python", expected, found)
        table.add_row(
            name,
            f"{len(expected) / windows:.0f}",
            *(f"{one * 1e9:,.1f}" for one in best.values()),
            f"{best['c'] / best['numba']:.2f}",
            f"{best['python'] / best['numba']:.0f}",
        )
    return table


def hour() -> Table:
    """An hour of monitoring 1 TiB, each kind in a process of its own."""
    table = Table(
        title=f"An hour of 1 TiB (bars: {BAR_HOUR} s, {BAR_GIB} GiB)",
    )
    for column in ("program", "regions", "checks", "s", "ns a check", "peak memory"):
        table.add_column(column, justify="left" if column == "program" else "right")
    for name, (kind, least) in track(HOURS.items(), "hour", transient=True):
        row = apart("bench.damon.hour", kind, str(least))
        table.add_row(
            name,
            f"{row['regions']:,.0f}",
            f"{row['checks']:,}",
            f"{row['seconds']:.1f}",
            f"{row['seconds'] / row['checks'] * 1e9:.1f}",
            f"{row['peak_mib']:,.0f} MiB",
        )
    return table


def reading() -> Table:
    """A recording of 100 MB, written in one process and read in another."""
    table = Table(title=f"Reading a recording (bar: 100 MB in {BAR_READ} s)")
    for column in ("format", "MB", "regions", "s", "peak memory"):
        table.add_column(column, justify="left" if column == "format" else "right")
    with tempfile.TemporaryDirectory() as folder:
        for kind in track(("json", "perf"), "reading", transient=True):
            file = str(Path(folder, kind))
            apart("bench.damon.reading", kind, file)
            row = apart("bench.damon.reading", kind, file)
            table.add_row(
                {"json": "damo's JSON", "perf": "perf script"}[kind],
                f"{row['mb']:.0f}",
                f"{row['regions']:,}",
                f"{row['seconds']:.1f}",
                f"{row['peak_mib']:,.0f} MiB",
            )
    return table

"""What an allocation costs in numba, C and plain Python, and on devices of any size.

That the three give the same offsets is checked on every event.
"""

import math

import numpy as np
from rich.progress import track
from rich.table import Table

from bench.compare import apart, counted
from bench.swap import implementations
from bench.swap.events import churn
from lorelab.errors import RunFailed

REPEATS = 7
ALLOCATIONS = 300_000
PYTHON_REPEATS = 3
"""Plain Python runs all the events too, but takes 100 times as long."""

PAGES = 16384
TRACES = {
    "mixed orders, 4 CPUs, 85 % full": (4, {0: 0.55, 2: 0.2, 4: 0.24, 9: 0.01}, 0.85),
    "small orders, 4 CPUs, overfull": (4, {0: 0.55, 2: 0.2, 4: 0.25}, 1.2),
    "order 4, 1 CPU, 85 % full": (1, {4: 1.0}, 0.85),
    "order 0, 4 CPUs, 85 % full": (4, {0: 1.0}, 0.85),
}
SIZES = {
    "v6.12": (64, 1024, 16 * 1024, 1024 * 1024),
    "v6.10": (64, 1024, 16 * 1024),
    "ryan-scan": (64, 1024, 16 * 1024),
}
BAR_C, BAR_PYTHON, BAR_MIB = 0.8, 100, 2048


def speed() -> Table:
    """Nanoseconds an allocation with its free, on the same events, the best of interleaved runs."""
    table = Table(
        title=f"6.12 on a device of {PAGES >> 8} MiB, ns an allocation and its free "
        f"(bars: {BAR_C} of C, {BAR_PYTHON} times Python)"
    )
    for column in ("events", "failed", "C -O3", "numba", "Python", "of C", "times Python"):
        table.add_column(column, justify="left" if column == "events" else "right")
    library = implementations.load_c()
    for name, (cpus, weights, full) in track(TRACES.items(), "speed", transient=True):
        events = churn(PAGES, ALLOCATIONS, cpus, weights, full, seed=1)
        implementations.run_numba(PAGES, cpus, events[:1])  # compiles
        best = {"c": np.inf, "numba": np.inf, "python": np.inf}
        for repeat in range(REPEATS):
            offsets, seconds = implementations.run_c(library, PAGES, cpus, events)
            best["c"] = min(best["c"], seconds)
            found, seconds = implementations.run_numba(PAGES, cpus, events)
            best["numba"] = min(best["numba"], seconds)
            same(name, "numba", offsets, found)
            if repeat < PYTHON_REPEATS:
                found, seconds = implementations.run_python(PAGES, cpus, events)
                best["python"] = min(best["python"], seconds)
                same(name, "plain Python", offsets, found)
        ns = {which: seconds / ALLOCATIONS * 1e9 for which, seconds in best.items()}
        table.add_row(
            name,
            f"{100 * (offsets == 0).mean():.1f} %",
            *(f"{value:,.1f}" for value in ns.values()),
            f"{ns['c'] / ns['numba']:.2f}",
            f"{ns['python'] / ns['numba']:.0f}",
        )
    return table


def same(trace: str, which: str, expected: np.ndarray, found: np.ndarray) -> None:
    """Raise when an implementation gave another offset than C."""
    if not np.array_equal(expected, found):
        n = int(np.flatnonzero(expected != found)[0])
        raise RunFailed(
            f"{trace}: allocation {n} is offset {expected[n]} in C, {found[n]} in {which}"
        )


def size() -> Table:
    """Cost an allocation on swap/mixed by size of the device, each in processes of its own."""
    table = Table(
        title="swap/mixed after one turnover, an allocation and its free: the allocator alone, "
        f"then ns with the load's own work (bar: 1 TiB in {BAR_MIB} MiB)"
    )
    columns = ("slots read", "clusters read", "instructions", "ns", "ns, load too", "peak memory")
    for column in ("variant", "device", *columns):
        table.add_column(column, justify="left" if column == "variant" else "right")
    jobs = [(variant, mib) for variant, sizes in SIZES.items() for mib in sizes]
    for variant, mib in track(jobs, "size", transient=True):
        whole = apart("bench.swap.size", variant, str(mib))
        alone = counted("bench.swap.replay", variant, str(mib))
        instructions = alone["instructions"] / alone["allocations"]
        table.add_row(
            variant,
            f"{mib >> 10:,} GiB" if mib >= 1024 else f"{mib} MiB",
            f"{whole['slots']:.1f}",
            f"{whole['clusters']:.3f}",
            "not counted" if math.isnan(instructions) else f"{instructions:,.0f}",
            f"{alone['ns']:,.0f}",
            f"{whole['ns']:,.0f}",
            f"{whole['peak_mib']:,.0f} MiB",
        )
    return table

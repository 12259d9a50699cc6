"""`damon/overhead`: what monitoring costs, from 64 MiB to 1 TiB of address space.

The program touches every second of `parts` equal parts of its memory, one after the other, as
masim does: with two parts one is touched all the time, with many each only now and then. With
`touched_mib` it touches that much and no more, for memory that no machine here has. What
brings DAMON to its upper bound of regions is `min_regions`. kdamond's share of a CPU
is its work over the time that passed, with `check_ns` of work for each region and sample; the
work lengthens the interval that it is done in, so the share can't pass 1.
"""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.params import ALONE, Overhead, Speeds, Variant
from lorelab.damon.workload.overhead import program
from lorelab.damon.workload.setup import context, memory
from lorelab.params import label
from lorelab.progress import track


def page_scan(params: Overhead, speeds: Speeds) -> dict[str, tuple[str, list[float]]]:
    """Cost of looking at every page every interval: exact, so nothing has to run."""
    pages = params.mib << 8
    period_us = params.sample_us + pages * speeds.check_ns / 1000
    return {
        "nr_regions_mean": ("regions", [float(pages)]),
        "nr_regions_max": ("regions", [float(pages)]),
        "checks_per_second": ("checks/s", [pages * 1e6 / period_us]),
        "cpu": ("share", [pages * speeds.check_ns / 1000 / period_us]),
        "windows_per_second": ("windows/s", [1e6 / period_us * params.sample_us / params.aggr_us]),
        "locks_per_second": ("locks/s", [2 * pages * 1e6 / period_us]),
    }


def simulate(params: Overhead, speeds: Speeds = ALONE) -> pd.DataFrame:
    """Simulate `damon/overhead`.

    Returns
    -------
    DataFrame
        Totals of the run: regions, checks, kdamond's share of a CPU, windows, and times that
        mmap_read_lock() is taken, twice a check.
    """
    cost = page_scan if params.variant == Variant.PAGE_SCAN else _run
    return counters.table(
        "damon/overhead", label(params.variant), "model", cost(params, speeds), first=0
    )


def _run(params: Overhead, speeds: Speeds) -> dict[str, tuple[str, list[float]]]:
    pages = memory(params, program(params), speeds)
    ctx = context(params, pages)
    regions = []
    for second in track(range(params.seconds), "monitoring"):
        while ctx.info["now"][0] < (second + 1) * 1_000_000:
            regions.append(kdamond_window(ctx, pages))
    took = float(ctx.info["now"][0]) / 1e6
    checks = float(ctx.info["checks"][0])
    return {
        "nr_regions_mean": ("regions", [float(np.mean(regions))]),
        "nr_regions_max": ("regions", [float(np.max(regions))]),
        "checks_per_second": ("checks/s", [checks / took]),
        "cpu": ("share", [float(ctx.info["work_ns"][0]) / 1e9 / took]),
        "windows_per_second": ("windows/s", [len(regions) / took]),
        "locks_per_second": ("locks/s", [2 * checks / took]),
    }

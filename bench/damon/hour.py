"""An hour of monitoring 1 TiB on the model, in a process of its own: time and memory.

    python -m bench.damon.hour halves|random [LEAST]

prints a JSON object: seconds of processor time, checks, mean number of regions, and the peak
resident set in MiB. `halves` is touched in one half, all the time; `random` everywhere, a page in
50 each interval, so that no two regions are alike and their number goes to its upper bound.
"""

import json
import resource
import sys
from time import process_time

from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.pages import studies
from lorelab.damon.params import Overhead, Speeds
from lorelab.damon.workload.masim import Access
from lorelab.damon.workload.overhead import halves
from lorelab.damon.workload.setup import context, memory

SECONDS, MIB = 3600, 1 << 20


def measured(kind: str, least: int) -> dict[str, float]:
    """Monitor a program for an hour of its time, at the default settings but for `least`."""
    params = Overhead(
        mib=MIB,
        min_regions=least,
    )
    config = halves(MIB, 2, SECONDS)
    if kind == "random":
        config = studies.program({"all": MIB << 20}, Access("all", True, 64, 1))
    pages = memory(params, config, Speeds(access_ns=10 if kind == "halves" else 1))
    ctx = context(params, pages)
    kdamond_window(ctx, pages)  # compiles
    regions = windows = 0
    start = process_time()
    while int(ctx.info["now"][0]) < SECONDS * 1_000_000:
        regions += kdamond_window(ctx, pages)
        windows += 1
    return {
        "seconds": process_time() - start,
        "checks": int(ctx.info["checks"][0]),
        "regions": regions / windows,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    json.dump(measured(sys.argv[1], int(sys.argv[2])), sys.stdout)

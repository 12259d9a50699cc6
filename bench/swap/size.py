"""One run of swap/mixed on a device of a given size, in a process of its own: cost and memory.

    python -m bench.swap.size VARIANT MIB

prints a JSON object: nanoseconds, slots and clusters read an allocation, and the peak resident
set in MiB.
"""

import json
import resource
import sys
from time import process_time

from lorelab.numerics import U
from lorelab.params import parse
from lorelab.swap.experiments import mixed
from lorelab.swap.params import Mixed
from lorelab.swap.workload import load

TIMED = 1_000_000
"""Folios swapped out while the clock runs, each with a folio freed."""


def measured(variant: str, device_mib: int) -> dict[str, float]:
    """Fill a device, turn it over once, and time the next turnover; again with other seeds.

    Small devices take as many seeds as make up `TIMED` folios, so that all sizes are measured at
    the same age.
    """
    given = {"variant": variant, "device_mib": device_mib, "steps": 1, "turnovers": 1}
    small = parse(Mixed, given | {"device_mib": 2})
    load.run(*load.start(small), U(1), True)  # compiles

    timed = allocations = slots = clusters = seed = 0
    seconds = 0.0
    while timed < TIMED:
        params = parse(Mixed, given | {"seed": seed})
        si, tasks = load.start(params)
        filling, turnover = mixed.windows(params)
        load.run(si, tasks, U(filling), True)
        load.run(si, tasks, U(turnover), False)
        before = int(tasks.swpout.sum()), int(si.scanned.sum()), int(si.visited.sum())
        folios = min(turnover, TIMED - timed)
        start = process_time()
        load.run(si, tasks, U(folios), False)
        seconds += process_time() - start
        allocations += int(tasks.swpout.sum()) - before[0]
        slots += int(si.scanned.sum()) - before[1]
        clusters += int(si.visited.sum()) - before[2]
        timed += folios
        seed += 1
    return {
        "ns": seconds / allocations * 1e9,
        "slots": slots / allocations,
        "clusters": clusters / allocations,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    json.dump(measured(sys.argv[1], int(sys.argv[2])), sys.stdout)

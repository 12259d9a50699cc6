"""One run of swap/mixed on a device of a given size, in a process of its own: cost and memory.

    python -m bench.size VARIANT MIB

prints a JSON object: nanoseconds, slots and clusters read an allocation, and the peak resident
set in MiB.
"""

import json
import resource
import sys
from time import process_time

from lorelab.params import parse
from lorelab.swap import mixed
from lorelab.swap.clusters import U
from lorelab.swap.params import Mixed

TIMED = 1_000_000
"""Folios swapped out, each with a folio freed, after filling and one turnover."""


def measured(variant: str, device_mib: int) -> dict[str, float]:
    """Fill the device, turn it over once, and time what follows."""
    small = parse(Mixed, {"variant": variant, "device_mib": 2, "steps": 1})
    mixed.run(*mixed.start(small), U(1), True)  # compiles

    params = parse(
        Mixed, {"variant": variant, "device_mib": device_mib, "steps": 1, "turnovers": 1}
    )
    si, load = mixed.start(params)
    for step, folios in enumerate(mixed.windows(params)):
        mixed.run(si, load, U(folios), step == 0)
    before = int(load.swpout.sum()), int(si.scanned.sum()), int(si.visited.sum())
    start = process_time()
    mixed.run(si, load, U(TIMED), False)
    seconds = process_time() - start
    after = int(load.swpout.sum()), int(si.scanned.sum()), int(si.visited.sum())
    allocations, slots, clusters = (b - a for a, b in zip(before, after, strict=True))
    return {
        "ns": seconds / allocations * 1e9,
        "slots": slots / allocations,
        "clusters": clusters / allocations,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    json.dump(measured(sys.argv[1], int(sys.argv[2])), sys.stdout)

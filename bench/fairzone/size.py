"""A file of 128 GiB written and read on a machine of 64 GiB, in a process of its own.

    python -m bench.fairzone.size VARIANT

prints a JSON object: seconds of the processor, hits of the reads in per cent, and the peak resident
set in MiB.
"""

import json
import resource
import sys
from time import process_time

from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.pages import simulated
from lorelab.fairzone.params import Tiobench
from lorelab.params import parse


def measured(variant: str, mib: int = 65536) -> dict[str, float]:
    """Run `fairzone/tiobench` with data of twice the memory, one window a phase."""
    params = parse(Tiobench, {"variant": variant, "mib": mib, "steps": 1})
    tiobench.run(params.model_copy(update={"mib": 256, "min_free_kib": 4096}))  # compiles
    begun = process_time()
    phases = simulated.summary(tiobench.run(params)).set_index("phase")
    return {
        "seconds": process_time() - begun,
        "hits": 100 * float(phases.loc["read", "hits"]),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    json.dump(measured(sys.argv[1]), sys.stdout)

"""`damon/masim` on a real kernel."""

from lorelab.damon.experiments.masim import masim_counters
from lorelab.damon.experiments.truth import observed
from lorelab.damon.kernel.boot import speeds, told, watched
from lorelab.damon.params import Masim
from lorelab.lab.records import Record
from lorelab.lab.run import Lab


def measure(wanted: list[Masim], lab: Lab | None = None) -> list[Record]:
    """Run `damon/masim` on a kernel, with the counters of the model."""
    runs, measured = watched(wanted, lab)
    found = []
    for number, (params, run) in enumerate(zip(wanted, runs, strict=True), 1):
        took = speeds(params, run)
        counters = masim_counters(observed(params, told(run), took), params, "kernel", took)
        found.append(measured.record("damon/masim", params, counters, number))
    return found

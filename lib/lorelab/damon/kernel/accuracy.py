"""`damon/accuracy` on a real kernel: several runs of a program in one boot."""

import pandas as pd

from lorelab.damon.experiments.accuracy import (
    accuracy_counters,
    distribution_counters,
    distributions,
    figures,
)
from lorelab.damon.experiments.truth import changes, observed
from lorelab.damon.kernel.boot import speeds, told, watched
from lorelab.damon.params import Accuracy
from lorelab.lab.records import Record
from lorelab.lab.run import Lab


def measure(wanted: list[Accuracy], lab: Lab | None = None) -> list[Record]:
    """Run `damon/accuracy` on a kernel, with the counters of the model.

    And the distributions of what is reported, over all runs
    (`lorelab.damon.experiments.accuracy.distributions`).
    """
    each = [
        params.model_copy(update={"seed": params.seed + n})
        for params in wanted
        for n in range(params.runs)
    ]
    runs, measured = watched(each, lab)
    found, at = [], 0
    for params in wanted:
        mine, said = runs[at : at + params.runs], []
        for run in mine:
            access, check, sleep = speeds(params, run)
            seen = observed(params, told(run), access, check)
            late = changes(params, told(run))
            said.append(figures(seen, late, params, access, check, sleep))
        counted = [distributions(params, told(run)) for run in mine]
        parts = (
            accuracy_counters(said, params, "kernel"),
            distribution_counters(counted, params, "kernel"),
        )
        counters = pd.concat(parts)
        found.append(measured.record("damon/accuracy", params, counters, at + 1))
        at += params.runs
    return found

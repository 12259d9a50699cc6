"""`damon/accuracy` on a real kernel: several runs of a program in one boot."""

import pandas as pd

from lorelab.damon.experiments.accuracy import (
    accuracy_counters,
    distribution_counters,
    distributions,
    figures,
)
from lorelab.damon.experiments.truth import changes, observed
from lorelab.damon.kernel.boot import Run, dealt, speeds, told, watched
from lorelab.damon.params import Accuracy, runs
from lorelab.lab.records import Record
from lorelab.lab.run import Lab


def measure(wanted: list[Accuracy], lab: Lab | None = None) -> list[Record]:
    """Run `damon/accuracy` on a kernel, with the counters of the model.

    And the distributions of what is reported, over all runs
    (`lorelab.damon.experiments.accuracy.distributions`).
    """
    played, measured = watched([one for params in wanted for one in runs(params)], lab)
    found, number = [], 1
    for params, mine in zip(wanted, dealt(wanted, played), strict=True):
        parts = (
            accuracy_counters([_figures(params, run) for run in mine], params, "kernel"),
            distribution_counters(
                [distributions(params, told(run)) for run in mine], params, "kernel"
            ),
        )
        found.append(measured.record("damon/accuracy", params, pd.concat(parts), number))
        number += params.runs
    return found


def _figures(params: Accuracy, run: Run) -> dict[str, tuple[str, float]]:
    took = speeds(params, run)
    seen = observed(params, told(run), took)
    return figures(seen, changes(params, told(run)), params, took)

"""`damon/accuracy` on a real kernel: several runs of a program in one boot."""

import pandas as pd

from lorelab.damon.kernel.boot import (
    Run,
    check_program,
    logged,
    observation,
    speeds,
    takes_patches,
    watched,
)
from lorelab.damon.params import Accuracy, runs
from lorelab.damon.workload.accuracy import (
    accuracy_counters,
    distribution_counters,
    distributions,
    figures,
)
from lorelab.damon.workload.truth import changes, observed
from lorelab.lab.run import Measured, Measurement, Request, RunOptions


def _check(params: Accuracy, options: RunOptions) -> None:
    for one in runs(params):
        check_program(one)


def _request(batch: list[Accuracy]) -> Request:
    return watched([one for params in batch for one in runs(params)])


def _counters(params: Accuracy, measured: Measured, run: int) -> pd.DataFrame:
    """The model's, and the distributions of what is reported, over all runs (`distributions`)."""
    mine = logged(runs(params), measured, run)
    figures_of = accuracy_counters([_figures(params, one) for one in mine], params, "kernel")
    spread = [distributions(params, observation(one)) for one in mine]
    return pd.concat([figures_of, distribution_counters(spread, params, "kernel")])


def _figures(params: Accuracy, run: Run) -> dict[str, tuple[str, float]]:
    took = speeds(params, run)
    windows = observed(params, observation(run), took)
    return figures(windows, changes(params, observation(run)), params, took)


measure = Measurement(
    "damon/accuracy",
    _request,
    _counters,
    machine=takes_patches,
    check=_check,
    repeats=lambda params: params.runs,
)

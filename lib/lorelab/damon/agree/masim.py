"""`damon/masim`: sums over the windows of a run, on either side."""

import pandas as pd

from lorelab import counters
from lorelab.damon.agree.runs import (
    NOT_COMPARED,
    RUNS,
    compare_runs,
    guest_speeds,
    intervals,
    judged,
    modelled,
    seeded,
    with_other_seeds,
)
from lorelab.damon.params import Masim
from lorelab.damon.workload.truth import masim_counters
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record


def agree(params: Masim, record: Record) -> Agreement:
    """Judge sums over the windows of a run, for each window, by their means over runs."""
    return judged(compared(params, record), "by means over runs of sums per window")


def agree_with_record(params: Masim, recorded: Record, measured: Record) -> Agreement:
    """Compare a run's sums, for each window, with those of the recorded runs of any seed."""
    sides = totals(with_other_seeds("damon/masim", params, recorded)), totals([measured.counters])
    return compare_runs(*sides, "windows")


def compared(params: Masim, measured: Record) -> pd.DataFrame:
    """Means over the windows of a run, for the kernel's runs of any seed, and for the model's."""
    return intervals(*runs(params, measured), "windows")


def runs(params: Masim, measured: Record) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Runs of `damon/masim`, of the model at the kernel's speeds and of the kernel.

    Parameters
    ----------
    measured : Record
        A run of the kernel. If it is the recorded one, those with other seeds come with it.

    Returns
    -------
    model, kernel : DataFrame
        As `totals()`.
    """
    kernels = with_other_seeds("damon/masim", params, measured)
    like = guest_speeds(params, pd.concat(kernels))
    like = like._replace(sleep_us=params.sample_us)
    tables = [modelled(seeded(params, params.seed + n), like) for n in range(2 * RUNS)]
    models = [masim_counters(one, params, "model", like) for one in tables]
    return totals(models), totals(kernels)


def totals(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Sums of the counters of `damon/masim` over the windows of each run, and the windows.

    Returns
    -------
    DataFrame
        Counters, a step a run.
    """
    parts = []
    for step, run in enumerate(runs, 1):
        windows = run[~run["counter"].isin(NOT_COMPARED)]
        key = [name for name in counters.COLUMNS if name not in ("step", "value")]
        sums = windows.groupby(key, sort=False)["value"].sum().reset_index()
        number = sums.iloc[:1].assign(counter="windows", unit="windows", value=run["step"].max())
        parts.append(pd.concat([number, sums]).assign(step=step))
    return pd.concat(parts, ignore_index=True)

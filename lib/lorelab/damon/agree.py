"""Model against kernel where both draw random numbers of their own: runs against runs.

The kernel says how long an access of the program, and a check and a sleep of kdamond took on its
machine, which has one CPU. The model runs with those, several times, and its runs and the kernel's
have to overlap (`lorelab.agreement.intervals`).
"""

import numpy as np
import pandas as pd

from lorelab import agreement, counters
from lorelab.damon import follow, workload
from lorelab.damon import overhead as cost
from lorelab.damon.params import Accuracy, Masim, Monitoring, Overhead
from lorelab.errors import BadInput
from lorelab.lab import records
from lorelab.lab.records import Record

RUNS = 12
"""Of the model. By chance alone, the ranges of 3 runs of the kernel and these are apart once in
228 times for each counter, those of 6 once in 9,282 times (2 over the ways to choose 3 or 6 of
15 or 18)."""
WITHIN = 0.05
"""Share by which the mean of runs may differ from a single run."""
NAME = "damon/masim"
SPEEDS = ("access", "check", "sleep")
OWN_TRUTH = ("rate_error", "misplaced", "end")
"""Left out: the kernel's truth is a chance for all pages of a region, the model's the pages."""


def masim(params: Masim, measured: Record) -> pd.DataFrame:
    """Means over the windows of a run, for the kernel's runs of any seed, and for the model's."""
    return _intervals(*runs(params, measured), "windows")


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
    kernels = [measured.counters]
    kept = records.load(NAME, params)
    if kept and kept.provenance == measured.provenance:
        every = records.recorded(NAME, Masim)
        alike = [one for one in every if _seeded(one, params.seed) == params]
        kernels = [records.load(NAME, one).counters for one in alike]
    alike = _alike(params, pd.concat(kernels))
    models = [workload.masim(_seeded(alike, alike.seed + n)) for n in range(RUNS)]
    return totals(models), totals(kernels)


def accuracy(params: Accuracy, measured: Record) -> pd.DataFrame:
    """Figures of the kernel's runs against those of the model's."""
    alike = _alike(params, measured.counters).model_copy(update={"runs": RUNS})
    return _intervals(workload.accuracy(alike), measured.counters, "runs")


def overhead(params: Overhead, measured: Record) -> pd.DataFrame:
    """One run of the kernel against the mean of the model's, which takes a check's cost from it."""
    kernel = measured.counters.set_index("counter")["value"]
    if "instructions_per_check" not in kernel:
        raise BadInput("the recorded run does not say what a check costs; measure again: --live")
    alike = params.model_copy(update={"check_ns": round(kernel["instructions_per_check"])})
    models = [cost.overhead(_seeded(alike, alike.seed + n)) for n in range(RUNS)]
    mean = pd.concat(models).groupby(["counter", "unit"], sort=False)["value"].mean()
    table = mean.rename("model").reset_index()
    table["kernel"] = table["counter"].map(kernel)
    table["ratio"] = table["model"] / table["kernel"]
    return table.assign(agrees=(table["ratio"] - 1).abs() <= WITHIN)


def followed(params: Masim, measured: Record) -> pd.DataFrame:
    """Windows in which every region of model and kernel is the same in start, end, count, age."""
    found = follow.followed(params, follow.unpack(measured.counters, params)).windows
    row = ("windows", "windows", len(found), found["equal"].sum(), bool(found["equal"].all()))
    return pd.DataFrame([row], columns=["counter", "unit", "kernel", "equal", "agrees"])


def totals(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Sums of the counters of `damon/masim` over the windows of each run, and the windows.

    Returns
    -------
    DataFrame
        Counters, a step a run.
    """
    parts = []
    for step, run in enumerate(runs, 1):
        windows = run[~run["counter"].isin((*SPEEDS, *OWN_TRUTH))]
        key = [name for name in counters.COLUMNS if name not in ("step", "value")]
        sums = windows.groupby(key, sort=False)["value"].sum().reset_index()
        number = sums.iloc[:1].assign(counter="windows", unit="windows", value=run["step"].max())
        parts.append(pd.concat([number, sums]).assign(step=step))
    return pd.concat(parts, ignore_index=True)


def _seeded(params: Monitoring, seed: int) -> Monitoring:
    return params.model_copy(update={"seed": seed})


def _alike(params: Masim, kernel: pd.DataFrame) -> Masim:
    took = kernel.groupby("counter")["value"].mean()
    names = {"access_ns": "access", "check_ns": "check", "sample_us": "sleep"}
    update = {name: round(took[of]) for name, of in names.items()}
    update["cpus"] = 1
    update["aggr_us"] = update["sample_us"] * (params.aggr_us // params.sample_us)
    return params.model_copy(update=update)


def _intervals(model: pd.DataFrame, kernel: pd.DataFrame, per: str) -> pd.DataFrame:
    table = agreement.intervals(model, kernel, per)
    table = table[~table["counter"].isin((*SPEEDS, *OWN_TRUTH))].reset_index(drop=True)
    return table.assign(ratio=table["model"] / table["mean"].replace(0, np.nan))

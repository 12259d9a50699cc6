"""Model against kernel where both draw random numbers of their own: runs against runs.

The kernel says how long an access of the program, and a check and a sleep of kdamond took on its
machine, which has one CPU. The model runs with those, several times, and the means of its runs and
the kernel's are compared (`lorelab.judging.rows.intervals`). Both are held against what the program
says (`lorelab.damon.workload.truth`).
"""

import numpy as np
import pandas as pd

from lorelab.damon.model.kdamond import kdamond_window
from lorelab.damon.params import ALONE, TOOK, Masim, Monitoring, Speeds
from lorelab.damon.workload import masim
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.damon.workload.truth import Observation, Window, observed
from lorelab.judging import agreement, rows
from lorelab.judging.agreement import Agreement, AgreementVerdict
from lorelab.lab import records
from lorelab.lab.records import Record
from lorelab.params import seeded

RUNS = 12
"""Of the model, at least; most records have 3 or 6 of the kernel, whose scatter weighs more."""
WITHIN = 0.05
"""Share by which means may differ, and up to which distributions may be apart."""

TICK_US = 1000
"""CONFIG_HZ of lib/kernel/common/lab.config."""
ON_ONE_CPU = Speeds(cpus=1, tick_us=TICK_US)
"""The kernel's machine. The program is always ready to run there, so kdamond waits for a tick, most
often, and a sample takes a whole number of them: of the recorded windows, 8 ms up to 32 checks a
sample, 9 from 34 and 10 from 46, for sleeps of `sample_us` and checks of 0.09 ms. Where a sample
takes less of the CPU than the wait was, kdamond has some next ones at once
(`lorelab.damon.model.scheduler.slept`)."""
SAMPLE_CHECKS = 3
"""Checks that cost as much as the part of a sample that is none, as a whole number: in
`damon/overhead` 99 and 998 regions leave 7,362 instructions for it, and in `damon/accuracy` a
check, with the probe that counts it, is some 2,700 (85 us at 32 ns)."""
NOT_COMPARED = (*TOOK, "end")
"""Input of the model, and when windows ended."""


def with_other_seeds(name: str, params: Masim, measured: Record) -> list[pd.DataFrame]:
    """Counters of a kernel's run, with those of other seeds if it is the recorded one."""
    before = records.load(name, params)
    if not before or before.provenance != measured.provenance:
        return [measured.counters]
    every = records.recorded(name, type(params))
    same = [one for one in every if seeded(one, params.seed) == params]
    return [records.load(name, one).counters for one in same]


def guest_speeds(params: Monitoring, kernel: pd.DataFrame) -> Speeds:
    """The machine of a kernel's runs, of which `kernel` has the counters.

    Where these say how many checks a sample had, its work that is none of them is kept apart.
    """
    took = kernel.groupby("counter")["value"].mean()
    speeds = ON_ONE_CPU._replace(access_ns=round(took["access"]), check_ns=round(took["check"]))
    if checks := _checks_a_sample(params, took):
        check_ns = round(took["check"] * checks / (checks + SAMPLE_CHECKS))
        speeds = speeds._replace(check_ns=check_ns, sample_ns=SAMPLE_CHECKS * check_ns)
    return speeds


def _checks_a_sample(params: Monitoring, took: pd.Series) -> float:
    if "checks" in took:
        return took["checks"] / params.samples
    if "checks_per_second" in took:
        # A sample is a sleep and its checks.
        per_ns = took["checks_per_second"] / 1e9
        return per_ns * took["sleep"] * 1000 / (1 - per_ns * took["check"])
    return 0.0


def modelled(params: Masim, speeds: Speeds = ALONE) -> pd.DataFrame:
    """Run a program to its end on the model, and hold it against what it says (`observed()`)."""
    observation = simulated(params, speeds)
    return observed(
        params, observation, speeds._replace(check_ns=check_took(params, speeds, observation))
    )


def check_took(params: Masim, speeds: Speeds, observation: Observation) -> float:
    """What a check took in the model (ns), as a kernel's run has it: all work by its checks."""
    checks = sum(window.checks for window in observation.windows)
    return speeds.check_ns + speeds.sample_ns * len(observation.windows) * params.samples / checks


def simulated(params: Masim, speeds: Speeds = ALONE) -> Observation:
    """What a program says and DAMON reports of it, in the model."""
    config = configuration(params)
    pages = memory(params, config, speeds, turns=True)
    ctx = context(params, pages)
    windows, before = [], 0
    while int(pages.info["phase"][0]) < len(pages.phases):
        n = kdamond_window(ctx, pages)
        checks = int(ctx.info["checks"][0])
        windows.append(Window(int(pages.info["now"][0]), checks - before, ctx.trace[:n].copy()))
        before = checks
    starts = masim.starts(config)
    regions = [(starts[name], size) for name, size in config.regions.items()]
    ended = int(pages.info["phase_began"][0])
    truth = pages.turns[: int(pages.info["changes"][0]) + 1]
    return Observation(np.array(regions, np.uint64), truth, ended, windows)


def intervals(model: pd.DataFrame, kernel: pd.DataFrame, per: str) -> pd.DataFrame:
    """As `lorelab.judging.rows.intervals()`, of what is compared, with `model/kernel`."""
    sides = (side[~side["counter"].isin(NOT_COMPARED)] for side in (model, kernel))
    table = rows.intervals(*sides, per)
    table["model/kernel"] = table["model"] / table["kernel"].replace(0, np.nan)
    return table


def compare_runs(before: pd.DataFrame, after: pd.DataFrame, per: str | None = None) -> Agreement:
    """As `lorelab.judging.agreement.compare_runs()`, but for `NOT_COMPARED`."""
    sides = (side[~side["counter"].isin(NOT_COMPARED)] for side in (before, after))
    return agreement.compare_runs(*sides, per)


def judged(table: pd.DataFrame, how: str, inputs: tuple[str, ...] = ()) -> Agreement:
    """Judge rows, and say how many came to what.

    Parameters
    ----------
    table : DataFrame
        A row a counter, as `Agreement.of()` takes them.
    how : str
        When counters agree.
    inputs : tuple of str
        Counters that follow from the model's input; shown, not judged.

    Raises
    ------
    ValueError
        No counter has a name of `inputs`.
    """
    reached = agreement.verdicts(table[~table["counter"].isin(inputs)])
    method = (
        f"{how}; of {len(reached)} counters {reached.count(AgreementVerdict.FAILED)} fail, "
        f"{reached.count(AgreementVerdict.PASSED)} pass (a deviation of "
        f"{agreement.EQUIVALENCE_MARGIN:.0%} would be detected at 95 %) and "
        f"{reached.count(AgreementVerdict.UNDECIDED)} are undecided"
    )
    return Agreement.of(table, method, dict.fromkeys(inputs, agreement.INPUT))

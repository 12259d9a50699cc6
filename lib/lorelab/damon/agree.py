"""Model against kernel where both draw random numbers of their own: runs against runs.

The kernel says how long an access of the program, and a check and a sleep of kdamond took on its
machine, which has one CPU. The model runs with those, several times, and its runs and the kernel's
have to overlap (`lorelab.agreement.intervals`). Both are held against what the program says
(`lorelab.damon.told`).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab import agreement, counters
from lorelab.damon import follow, operations, told, workload
from lorelab.damon import hotspot as search
from lorelab.damon import overhead as cost
from lorelab.damon.params import Accuracy, Hotspot, Masim, Monitoring, Overhead, Schemes
from lorelab.errors import BadInput
from lorelab.lab import records
from lorelab.lab.records import Record

RUNS = 12
"""Of the model. By chance alone, the ranges of 3 runs of the kernel and these are apart once in
228 times for each counter, those of 6 once in 9,282 times (2 over the ways to choose 3 or 6 of
15 or 18)."""
WITHIN = 0.05
"""Share by which means may differ, and up to which distributions may be apart."""
DRAWS = 500
"""Of runs of the model, to say how far apart they are by chance."""
TICK_US = 1000
"""CONFIG_HZ of lib/kernel/config/lab.config."""
ON_ONE_CPU = {"cpus": 1, "tick_us": TICK_US}
"""The kernel's machine. The program is always ready to run there, so kdamond waits for a tick, most
often, and a sample takes a whole number of them: of the recorded windows, 8 ms up to 32 checks a
sample, 9 from 34 and 10 from 46, for sleeps of `sample_us` and checks of 0.09 ms. Where a sample
takes less of the CPU than the wait was, kdamond has some next ones at once
(`lorelab.damon.program.slept`)."""
SAMPLE_CHECKS = 2
"""Checks that cost as much as the part of a sample that is none: in `damon/overhead` 99 and 998
regions leave 5,670 instructions for it, and in `damon/accuracy` a check, with the probe that counts
it, is some 2,700 (85 us at 32 ns)."""
SPEEDS = ("access", "check", "sleep", "page", "collapse", "lead")
NOT_COMPARED = (*SPEEDS, "end")
"""What the model is told, and when windows ended."""


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
    kernels = _recorded("damon/masim", params, measured)
    like = alike(params, pd.concat(kernels))
    speeds = like.access_ns, like.check_ns, like.sample_us
    # Some 230 figures of 3 runs of the kernel are compared, and with 12 runs of the model one would
    # be apart by chance; with 24 one in 1,462 is.
    seen = [told.modelled(_seeded(like, like.seed + n)) for n in range(2 * RUNS)]
    models = [workload.masim_counters(one, like, "model", *speeds) for one in seen]
    return totals(models), totals(kernels)


class Sides(NamedTuple):
    """Runs of the kernel, and twice as many of the model on a machine like the kernel's."""

    kernel: pd.DataFrame
    """Figures of `damon/accuracy`, a step a run."""
    model: pd.DataFrame
    kernel_counted: dict[str, pd.Series]
    """As `lorelab.damon.told.distributions()`, of all runs; empty where none is recorded."""
    model_counted: list[dict[str, pd.Series]]
    """The same of each run."""


def sides(params: Accuracy, measured: Record) -> Sides:
    """What runs of `damon/accuracy` came to on the kernel, and come to in the model.

    Parameters
    ----------
    measured : Record
        Runs of the kernel. If they are the recorded ones, those with other seeds come with them.
    """
    kernels = _recorded("damon/accuracy", params, measured)
    kernel = _joined([one[~one["counter"].isin(told.DISTRIBUTIONS)] for one in kernels])
    like = alike(params, kernel)
    runs = [_seeded(like, like.seed + n) for n in range(max(RUNS, 2 * kernel["step"].max()))]
    said = [told.simulated(one) for one in runs]
    found = [told.model_figures(*pair) for pair in zip(runs, said, strict=True)]
    counted = pd.concat([one[one["counter"].isin(told.DISTRIBUTIONS)] for one in kernels])
    total = counted.groupby(["counter", "step"])["value"].sum()
    return Sides(
        kernel,
        workload.accuracy_counters(found, like, "model"),
        {name: total[name] for name in told.DISTRIBUTIONS if name in total},
        [told.distributions(params, one) for one in said],
    )


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    # As if all runs were of one record.
    found, before = [], 0
    for part in parts:
        found.append(part.assign(step=part["step"] + before))
        before += part["step"].max()
    return pd.concat(found, ignore_index=True)


def accuracy(params: Accuracy, measured: Record) -> pd.DataFrame:
    """Figures of the kernel's runs, and distributions of what it reports, against the model's.

    Returns
    -------
    DataFrame
        Figures as `lorelab.agreement.intervals()`, with the `ratio` of the means, and `least` and
        `most`, between which it is with 95 % confidence (`agreement.ratio_interval`; none with
        fewer than 12 runs, of which the bootstrap would promise too much, or where a mean is 0).
        They agree where the ranges meet, and nothing shows that the two are more than 5 % apart;
        `within` says where it is shown that they are not.

        Then what `lorelab.damon.told.distributions()` counts: `distance` is the largest one of the
        two (Kolmogorov and Smirnov's), `chance` what 95 % of as many runs of the model stay below.
        They agree up to the larger one of 5 % and that, and are `within` up to 5 %.
    """
    return weighed(sides(params, measured))


def weighed(both: Sides) -> pd.DataFrame:
    """What `accuracy()` says of two sides that are there."""
    table = _intervals(both.model, both.kernel, "runs")
    factors = [_factor(both.kernel, both.model, counter) for counter in table["counter"]]
    table["least"], table["most"] = zip(*factors, strict=True)
    apart = (table["least"] > 1 + WITHIN) | (table["most"] < 1 - WITHIN)
    table["agrees"] &= ~apart
    table["within"] = (table["least"] >= 1 - WITHIN) & (table["most"] <= 1 + WITHIN)
    repeats = int(both.kernel["step"].max())
    rows = []
    for name, kernel in both.kernel_counted.items():
        row = {"counter": name, "unit": told.DISTRIBUTIONS[name], "repeats": repeats}
        rows.append(row | _distance(kernel, [one[name] for one in both.model_counted], repeats))
    return pd.concat([table, pd.DataFrame(rows)], ignore_index=True)


def cumulative(both: Sides) -> pd.DataFrame:
    """The distributions that `accuracy()` compares.

    Returns
    -------
    DataFrame
        `counter` (of `told.DISTRIBUTIONS`), `value`, `side` (kernel, model), and the `share` of
        all that is up to the value.
    """
    parts = []
    for name, kernel in both.kernel_counted.items():
        model = pd.concat([one[name] for one in both.model_counted]).groupby(level=0).sum()
        counted = pd.DataFrame({"kernel": kernel, "model": model}).fillna(0).cumsum()
        share = (counted / counted.iloc[-1]).rename_axis("value").reset_index()
        parts.append(share.melt("value", var_name="side", value_name="share").assign(counter=name))
    return pd.concat(parts, ignore_index=True)


def _distance(kernel: pd.Series, model: list[pd.Series], repeats: int) -> dict[str, float | bool]:
    runs = pd.DataFrame([kernel, *model]).fillna(0).sort_index(axis=1).to_numpy()
    theirs, mine = runs[0], runs[1:]
    distance = agreement.distance(theirs, mine.sum(axis=0))
    random = np.random.default_rng(0)
    by_chance = []
    for _ in range(DRAWS):
        drawn = np.zeros(len(mine), bool)
        drawn[random.permutation(len(mine))[:repeats]] = True
        by_chance.append(agreement.distance(mine[drawn].sum(axis=0), mine[~drawn].sum(axis=0)))
    chance = float(np.quantile(by_chance, 0.95))
    within = bool(distance <= WITHIN)
    agrees = bool(distance <= max(WITHIN, chance))
    return {"distance": distance, "chance": chance, "agrees": agrees, "within": within}


def overhead(params: Overhead, measured: Record) -> pd.DataFrame:
    """One run of the kernel against the mean of the model's, which takes a check's cost from it."""
    kernel = measured.counters.set_index("counter")["value"]
    if "instructions_per_check" not in kernel:
        raise BadInput("the recorded run does not say what a check costs; measure again: --live")
    took = {"check_ns": round(kernel["instructions_per_check"])}
    like = params.model_copy(update=took | ON_ONE_CPU)
    models = [cost.overhead(_seeded(like, like.seed + n)) for n in range(RUNS)]
    mean = pd.concat(models).groupby(["counter", "unit"], sort=False)["value"].mean()
    table = mean.rename("model").reset_index()
    table["kernel"] = table["counter"].map(kernel)
    table["ratio"] = table["model"] / table["kernel"]
    return table.assign(agrees=(table["ratio"] - 1).abs() <= WITHIN)


def hotspot(params: Hotspot, measured: Record) -> pd.DataFrame:
    """Runs of the kernel against twice as many of the model's; and what has to be exact.

    Returns
    -------
    DataFrame
        `kernel` and `model` are medians, `low` and `high` the quotients, kernel over model, that
        the runs leave open (`agreement.quotient`): they agree unless that leaves 1 out. Windows
        must all be cut as the last count of all kdamonds says, and pages out of reach of 32 bits
        drawn with `rand64` only.
    """
    like = at_speed(params, measured).model_copy(update={"runs": 2 * params.runs})
    kernel = measured.counters.groupby("counter")["value"]
    model = search.hotspot(like).groupby("counter")["value"]
    rows = []
    for counter, unit in (("wait", "windows"), ("nr_regions", "regions")):
        runs, simulated = (list(side.get_group(counter)) for side in (kernel, model))
        low, _, high = agreement.quotient(simulated, runs)
        medians = float(np.median(runs)), float(np.median(simulated))
        rows.append((counter, unit, *medians, low, high, low <= 1 <= high))
    total = kernel.sum()
    exact = float(total["as_shared"]), float(total["told"])
    rows.append(("as_shared", "windows", *exact, np.nan, np.nan, exact[0] == exact[1]))
    reached = params.rand64 and total["wide"] > 0
    drawn = float(total["out_of_reach"])
    rows.append(("out_of_reach", "draws", drawn, np.nan, np.nan, np.nan, (drawn > 0) == reached))
    names = ["counter", "unit", "kernel", "model", "low", "high", "agrees"]
    return pd.DataFrame(rows, columns=names)


def at_speed(params: Hotspot, measured: Record) -> Hotspot:
    """The same on the machine of a kernel's runs.

    There another kdamond works while the first one sleeps, which makes that sleep longer, and an
    access by as much.
    """
    like = alike(params, measured.counters)
    if params.kdamonds == 1:
        return like
    sleeps = measured.counters.loc[measured.counters["counter"] == "sleep", "value"]
    # A tick too long at most, and half of one in the mean.
    sample_us = round(sleeps.mean()) - TICK_US // 2
    aggr_us = sample_us * (params.aggr_us // params.sample_us)
    return like.model_copy(update={"sample_us": sample_us, "aggr_us": aggr_us})


def schemes(params: Schemes, measured: Record) -> pd.DataFrame:
    """Totals of the kernel's runs against those of the model's.

    They agree where the ranges of the runs meet, or the means are within 5 %: the kernel's count
    some pages of the process' own, the model's do not. Where a record does not say how long
    monitoring led the program, the model begins with it.
    """
    took = measured.counters.groupby("counter")["value"].mean()
    if "collapse" not in took:
        raise BadInput("the recorded run does not say what things took; measure again: --live")
    names = {"access_ns": "access", "check_ns": "check", "page_ns": "page"}
    names |= {"collapse_ns": "collapse", "lead_us": "lead"}
    update = {name: round(took[of]) for name, of in names.items() if of in took}
    alike = params.model_copy(update=update | {"cpus": 1, "runs": RUNS})
    found = _intervals(operations.schemes(alike), measured.counters, "runs")
    return found.assign(agrees=found["agrees"] | ((found["ratio"] - 1).abs() <= WITHIN))


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
        windows = run[~run["counter"].isin(NOT_COMPARED)]
        key = [name for name in counters.COLUMNS if name not in ("step", "value")]
        sums = windows.groupby(key, sort=False)["value"].sum().reset_index()
        number = sums.iloc[:1].assign(counter="windows", unit="windows", value=run["step"].max())
        parts.append(pd.concat([number, sums]).assign(step=step))
    return pd.concat(parts, ignore_index=True)


def _recorded(name: str, params: Masim, measured: Record) -> list[pd.DataFrame]:
    # The kernel's counters, with those of other seeds where what is measured is the recorded run.
    kept = records.load(name, params)
    if not kept or kept.provenance != measured.provenance:
        return [measured.counters]
    every = records.recorded(name, type(params))
    same = [one for one in every if _seeded(one, params.seed) == params]
    return [records.load(name, one).counters for one in same]


def _seeded(params: Monitoring, seed: int) -> Monitoring:
    return params.model_copy(update={"seed": seed})


def alike(params: Monitoring, kernel: pd.DataFrame) -> Monitoring:
    """`params` on the machine of a kernel's runs, of which `kernel` has the counters.

    Where these say how many checks a sample had, its work that is none of them is kept apart.
    """
    took = kernel.groupby("counter")["value"].mean()
    names = {"access_ns": "access", "check_ns": "check"}
    update = {name: round(took[of]) for name, of in names.items()}
    if checks := _checks_a_sample(params, took):
        update["check_ns"] = round(took["check"] * checks / (checks + SAMPLE_CHECKS))
        update["sample_ns"] = SAMPLE_CHECKS * update["check_ns"]
    return params.model_copy(update=update | ON_ONE_CPU)


def _checks_a_sample(params: Monitoring, took: pd.Series) -> float:
    if "checks" in took:
        return took["checks"] / (params.aggr_us // params.sample_us)
    if "checks_per_second" in took:
        # A sample is a sleep and its checks.
        per_ns = took["checks_per_second"] / 1e9
        return per_ns * took["sleep"] * 1000 / (1 - per_ns * took["check"])
    return 0.0


def _intervals(model: pd.DataFrame, kernel: pd.DataFrame, per: str) -> pd.DataFrame:
    table = agreement.intervals(model, kernel, per)
    table = table[~table["counter"].isin(NOT_COMPARED)].reset_index(drop=True)
    return table.assign(ratio=table["model"] / table["mean"].replace(0, np.nan))


def _factor(before: pd.DataFrame, after: pd.DataFrame, counter: str) -> tuple[float, float]:
    runs = [side.loc[side["counter"] == counter, "value"] for side in (before, after)]
    if min(map(len, runs)) < RUNS or min(one.mean() for one in runs) <= 0:
        return np.nan, np.nan
    return agreement.ratio_interval(*runs)

"""`damon/accuracy`: figures of runs, and distributions of what is reported, on either side."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon.agree.runs import (
    RUNS,
    WITHIN,
    check_took,
    compare_runs,
    guest_speeds,
    intervals,
    judged,
    seeded,
    simulated,
    with_other_seeds,
)
from lorelab.damon.params import Accuracy, Speeds
from lorelab.damon.workload import truth
from lorelab.damon.workload.accuracy import (
    DISTRIBUTIONS,
    accuracy_counters,
    distributions,
    figures,
)
from lorelab.judging import equivalence
from lorelab.judging.agreement import Agreement
from lorelab.judging.rows import ONE_SIDED, is_one_sided
from lorelab.lab.records import Record

DRAWS = 500
"""Of runs of the model, to say how far apart they are by chance."""


class Sides(NamedTuple):
    """Runs of the kernel, and twice as many of the model on a machine like the kernel's."""

    kernel: pd.DataFrame
    """Figures of `damon/accuracy`, a step a run."""
    model: pd.DataFrame
    kernel_counted: dict[str, pd.Series]
    """As `workload.accuracy.distributions()`, of all runs; empty where none is recorded."""
    model_counted: list[dict[str, pd.Series]]
    """The same of each run."""


def sides(params: Accuracy, measured: Record) -> Sides:
    """What runs of `damon/accuracy` came to on the kernel, and come to in the model.

    Parameters
    ----------
    measured : Record
        Runs of the kernel. If they are the recorded ones, those with other seeds come with them.
    """
    kernels = with_other_seeds("damon/accuracy", params, measured)
    kernel = _joined(kernels)
    like = guest_speeds(params, kernel)
    number = max(RUNS, 2 * kernel["step"].max())
    each = [seeded(params, params.seed + n) for n in range(number)]
    observations = [simulated(one, like) for one in each]
    modelled = [model_figures(params, like, one) for one in observations]
    counted = pd.concat([one[one["counter"].isin(DISTRIBUTIONS)] for one in kernels])
    total = counted.groupby(["counter", "step"])["value"].sum()
    return Sides(
        kernel,
        accuracy_counters(modelled, params, "model"),
        {name: total[name] for name in DISTRIBUTIONS if name in total},
        [distributions(params, one) for one in observations],
    )


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    # The figures, as if all runs were of one record.
    tables, before = [], 0
    for part in parts:
        part = part[~part["counter"].isin(DISTRIBUTIONS)]
        tables.append(part.assign(step=part["step"] + before))
        before += part["step"].max()
    return pd.concat(tables, ignore_index=True)


def agree(params: Accuracy, record: Record) -> Agreement:
    """Judge figures and distributions as `compared()` says."""
    how = f"criterion: means within {WITHIN:.0%}, distributions equal but for chance"
    return judged(compared(params, record), how)


def agree_with_record(params: Accuracy, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean figures of the recorded runs with those of the new ones.

    What is counted of all runs together, the distributions, has no spread to judge it by: how far
    they are apart by chance only the model's runs say, and `agree` holds them against these.
    """
    kernels = with_other_seeds("damon/accuracy", params, recorded)
    return compare_runs(_joined(kernels), _joined([measured.counters]), "runs")


def compared(params: Accuracy, measured: Record) -> pd.DataFrame:
    """Figures of the kernel's runs, and distributions of what it reports, against the model's.

    Returns
    -------
    DataFrame
        Figures as `lorelab.judging.rows.intervals()`, with `model/kernel` of the means, and `low`
        and `high`, between which it is with 95 % confidence (`equivalence.ratio`). They agree where
        that function says so, and nothing shows them more than 5 % apart; `within` says where it is
        shown that they are not.

        Then what `lorelab.damon.workload.accuracy.distributions()` counts: `distance` is the
        largest one of the two (Kolmogorov and Smirnov's), `chance` what 95 % of as many runs of the
        model stay below. They agree up to the larger one of 5 % and that, and are `within` up to 5
        %.
    """
    return compare_sides(sides(params, measured))


def compare_sides(both: Sides) -> pd.DataFrame:
    """What `compared()` says of two sides that are there, the model's of another variant, too."""
    [variant] = both.kernel["variant"].unique()
    table = intervals(both.model.assign(variant=variant), both.kernel, "runs")
    bounds = [_bounds(both, counter) for counter in table["counter"]]
    table["low"], table["high"] = zip(*bounds, strict=True)
    apart = (table["low"] > 1 + WITHIN) | (table["high"] < 1 - WITHIN)
    table["agrees"] &= ~apart
    table["within"] = (table["low"] >= 1 - WITHIN) & (table["high"] <= 1 + WITHIN)
    repeats = int(both.kernel["step"].max())
    rows = []
    for name, kernel in both.kernel_counted.items():
        row = {"counter": name, "unit": DISTRIBUTIONS[name], "runs": repeats}
        rows.append(row | _distance(kernel, [one[name] for one in both.model_counted], repeats))
    return pd.concat([table, pd.DataFrame(rows)], ignore_index=True)


def cumulative(both: Sides) -> pd.DataFrame:
    """The distributions that `compared()` compares.

    Returns
    -------
    DataFrame
        `counter` (of `DISTRIBUTIONS`), `value`, `side` (kernel, model), and the `share` of
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
    distance = equivalence.ks_statistic(theirs, mine.sum(axis=0))
    random = np.random.default_rng(0)
    by_chance = []
    for _ in range(DRAWS):
        drawn = np.zeros(len(mine), bool)
        drawn[random.permutation(len(mine))[:repeats]] = True
        by_chance.append(
            equivalence.ks_statistic(mine[drawn].sum(axis=0), mine[~drawn].sum(axis=0))
        )
    chance = float(np.quantile(by_chance, 0.95))
    within = bool(distance <= WITHIN)
    agrees = bool(distance <= max(WITHIN, chance))
    row = {"distance": distance, "chance": chance, "agrees": agrees, "within": within}
    return row | {"detectable": max(WITHIN, chance)}


def _bounds(both: Sides, counter: str) -> tuple[float, float]:
    runs = [side.loc[side["counter"] == counter, "value"] for side in (both.kernel, both.model)]
    interval = ONE_SIDED if is_one_sided(runs) else equivalence.ratio(*runs)
    return interval.low, interval.high


def model_figures(
    params: Accuracy, speeds: Speeds, observation: truth.Observation
) -> dict[str, tuple[str, float]]:
    """Figures of `damon/accuracy` for one run of the model, by what its program says."""
    speeds = speeds._replace(check_ns=check_took(params, speeds, observation))
    windows = truth.observed(params, observation, speeds)
    worked_us = windows["checks"].sum() * speeds.check_ns / 1e3
    sleep_us = (windows["took"].sum() * 1e6 - worked_us) / (len(windows) * params.samples)
    return figures(
        windows, truth.changes(params, observation), params, speeds._replace(sleep_us=sleep_us)
    )

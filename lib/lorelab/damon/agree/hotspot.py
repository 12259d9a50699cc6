"""`damon/hotspot`: how long runs took on either side, and what has to be exact."""

import numpy as np
import pandas as pd

from lorelab.damon.agree.runs import TICK_US, compare_runs, guest_speeds, judged
from lorelab.damon.experiments import hotspot
from lorelab.damon.params import Hotspot, Speeds
from lorelab.judging import equivalence
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record

DRAWN = {"wait": "windows", "nr_regions": "regions"}
"""Counters that the kernel's random numbers decide, and their units."""


def agree(params: Hotspot, record: Record) -> Agreement:
    """Judge waits by their factor, regions by their means, and what has to be exact."""
    how = "the runs leave open that waits and regions are the same, and what is exact is"
    return judged(compared(params, record), how)


def agree_with_record(params: Hotspot, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean of the recorded runs with that of the new ones, and what has to be exact."""
    sides = (one.counters[one.counters["counter"].isin(DRAWN)] for one in (recorded, measured))
    judged = compare_runs(*sides)
    exact = _exact(params, measured).assign(detectable=0.0)
    table = pd.concat([judged.table, exact], ignore_index=True)
    right = f"{exact['agrees'].sum()} of {len(exact)} that have to be exact are"
    return Agreement.of(table, f"{judged.method}; {right}")


def compared(params: Hotspot, measured: Record) -> pd.DataFrame:
    """Runs of the kernel against twice as many of the model's; and what has to be exact.

    Returns
    -------
    DataFrame
        `kernel` and `model` are medians of the waits and means of the regions, `low` and `high` the
        quotients, kernel over model, that the runs leave open
        (`equivalence.hodges_lehmann_ratio` and `equivalence.ratio`): they agree unless that leaves
        1 out. Windows must all be cut as the last count of all kdamonds says, and pages out of
        reach of 32 bits drawn with `rand64` only.
    """
    like, speeds = at_speed(params, measured)
    twice = like.model_copy(update={"runs": 2 * params.runs})
    kernel = measured.counters.groupby("counter")["value"]
    model = hotspot.simulate(twice, speeds).groupby("counter")["value"]
    rows = []
    for counter, unit in DRAWN.items():
        runs, simulated = (list(side.get_group(counter)) for side in (kernel, model))
        if counter == "wait":  # up to the run's end
            low, _, high = equivalence.hodges_lehmann_ratio(simulated, runs)
            middle = np.median
        else:
            _, low, high = equivalence.ratio(simulated, runs)
            middle = np.mean
        both = float(middle(runs)), float(middle(simulated))
        rows.append((counter, unit, *both, low, high, low <= 1 <= high))
    names = ["counter", "unit", "kernel", "model", "low", "high", "agrees"]
    drawn = pd.DataFrame(rows, columns=names)
    table = pd.concat([drawn, _exact(params, measured)], ignore_index=True)
    detectable = np.maximum(table["high"] - 1, 1 - table["low"])
    return table.assign(detectable=detectable.fillna(0.0))


def _exact(params: Hotspot, measured: Record) -> pd.DataFrame:
    total = measured.counters.groupby("counter")["value"].sum()
    shared, told, drawn = (float(total[name]) for name in ("as_shared", "told", "out_of_reach"))
    reached = params.rand64 and total["wide"] > 0
    rows = [
        ("as_shared", "windows", shared, told, shared == told),
        ("out_of_reach", "draws", drawn, np.nan, bool((drawn > 0) == reached)),
    ]
    return pd.DataFrame(rows, columns=["counter", "unit", "kernel", "model", "agrees"])


def at_speed(params: Hotspot, measured: Record) -> tuple[Hotspot, Speeds]:
    """The same for the model on the machine of a kernel's runs.

    There another kdamond works while the first one sleeps, which makes that sleep longer, and an
    access by as much.
    """
    like = guest_speeds(params, measured.counters)
    if params.kdamonds == 1:
        return params, like
    sleeps = measured.counters.loc[measured.counters["counter"] == "sleep", "value"]
    # A tick too long at most, and half of one in the mean.
    sample_us = round(sleeps.mean()) - TICK_US // 2
    longer = {"sample_us": sample_us, "aggr_us": sample_us * params.samples}
    return params.model_copy(update=longer), like

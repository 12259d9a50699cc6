"""`fairzone/reread`: the free-running model against repeated runs of a kernel.

The model is given what the guest's zones are, and how many of their pages are free and on the lists
of the CPU when a run begins; when each zone is low, when kswapd wakes and what it frees follow in
both by themselves. A run of the model stands beside each of the kernel.

fio takes pages for itself as it starts. Their number is given: what the kernel allocates in a phase
beyond what the model does without them. Which zones they come from follows in the model.
"""

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.errors import NoModel
from lorelab.fairzone.experiments import reread
from lorelab.fairzone.model.zones import Node
from lorelab.fairzone.params import Reread
from lorelab.fairzone.workload.reread import NAME, pages_of, plan
from lorelab.judging.agreement import Agreement, by_means, compare_runs
from lorelab.lab.records import Record

WITHIN = 0.05
EACH = ("passes", "resets")
"""Counters that are judged by allocated page."""
AHEAD = 2 * reread.READAHEAD
"""Pages that a kernel may read beyond the end, two windows: so few hits are none."""
BUSY = 0.1
"""Pages allocated for each page read or written. A phase that takes fewer finds its data cached,
and what it allocates is the kernel's own: its hits alone are judged."""


def node_of(params: Reread, counters: pd.DataFrame, step: int) -> Node:
    """The zones of the guest as they were when a run began."""
    first = counters[counters["step"] == step].set_index("counter")["value"]
    known = {
        what: [int(first[f"zone_0_{zone}_{what}"]) for zone in reread.ZONES]
        for what in ("managed", "free", "min", "low", "high", "reserve", "pcp_count")
    }
    reserves = np.zeros((len(reread.ZONES), len(reread.ZONES)), np.int64)
    reserves[:, -1] = known["reserve"]
    marks = list(zip(known["min"], known["low"], known["high"], strict=True))
    node = reread.node_of(params, known["managed"], known["free"], marks, reserves)
    node.zone["pcp_count"] = known["pcp_count"]
    return node


def played(params: Reread, counters: pd.DataFrame, step: int) -> pd.DataFrame:
    """The model's run beside one of the kernel's.

    Parameters
    ----------
    params : Reread
    counters : DataFrame
        Of the kernel, as `lorelab.fairzone.kernel.reread` lays them out.
    step : int
        Its run.
    """
    alone = reread.play(params, node_of(params, counters, step))
    if params.program == "stream":
        return alone
    own = allocated(counters[counters["step"] == step]) - allocated(alone)
    return reread.play(params, node_of(params, counters, step), own.clip(lower=0).to_dict())


def allocated(counters: pd.DataFrame) -> pd.Series:
    """Pages allocated in each phase, of all zones and runs."""
    rows = counters[counters["counter"].str.contains(r"_allocated_0_\w+$")]
    phases = rows["counter"].str.replace(r"_allocated_0_\w+$", "", regex=True)
    return rows["value"].astype("int64").groupby(phases).sum()


def busy(params: Reread, counters: pd.DataFrame) -> list[str]:
    """Phases of a kernel's runs whose allocations are judged: they take pages for their data."""
    taken = allocated(counters) / counters["step"].nunique()
    phases = plan(params, pages_of(params))
    return [phase for phase, _, _, much in phases if taken[phase] > BUSY * much]


def rates(params: Reread, counters: pd.DataFrame, source: str, of: list[str]) -> pd.DataFrame:
    """What is judged: the hits of each phase that reads; of phases `of`, what is allocated.

    That is the zones' parts, and passes and resets a page.

    Returns
    -------
    DataFrame
        See `lorelab.counters`; as many steps as `counters` has.
    """
    wide = counters.pivot_table(index="step", columns="counter", values="value")
    columns: dict[str, tuple[str, object]] = {}
    for phase, writes, _, much in plan(params, pages_of(params)):
        if not writes:
            hits = wide[f"{phase}_hits"]
            share = hits.where(hits > AHEAD, 0) / much
            columns[f"{phase}_hits"] = ("of the pages", share.tolist())
        if phase not in of:
            continue
        taken = {zone: wide[f"{phase}_allocated_0_{zone}"] for zone in reread.ZONES}
        every = sum(taken.values())
        for zone, pages in taken.items():
            columns[f"{phase}_part_{zone}"] = ("of the allocations", (pages / every).tolist())
        for name in EACH:
            if f"{phase}_{name}" in wide:
                each = wide[f"{phase}_{name}"] / every
                columns[f"{phase}_{name}"] = (f"{name} / page", each.tolist())
    return table(NAME, params.mode, source, columns)


def agree_with_record(params: Reread, recorded: Record, measured: Record) -> Agreement:
    """By means over the repeats, recorded and new; a deviation of 5 % would have to be refused."""
    of = busy(params, recorded.counters)
    sides = [rates(params, one.counters, "kernel", of) for one in (recorded, measured)]
    return compare_runs(*sides, within=WITHIN)


def agree(params: Reread, record: Record) -> Agreement:
    """By means over the repeats; a deviation of 5 % would have to be refused."""
    if params.memory_cgroups:
        raise NoModel("memory_cgroups=true: the model has no lengths of lists that are old")
    runs = [
        played(params, record.counters, step).assign(step=step)
        for step in range(1, record.counters["step"].max() + 1)
    ]
    model = pd.concat(runs, ignore_index=True)
    of = busy(params, record.counters)
    sides = rates(params, model, "model", of), rates(params, record.counters, "kernel", of)
    return by_means(*sides, within=WITHIN)

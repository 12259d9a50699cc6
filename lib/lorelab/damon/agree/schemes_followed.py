"""Schemes region for region: the model given the kernel's numbers and checks, and its clock.

As `lorelab.damon.agree.follow`, with schemes. Which regions a scheme is tried on, where a quota
cuts them, whose age starts anew, and when a charge window ends follows from the same log and the
jiffies in it. What a tried page-out did to the pages shows in later checks, which are given; what
DAMOS counts as applied follows from the mappings, for madvise() fails where one is missing
(-ENOMEM) and, paging out, where one has no pages of its own (-EINVAL, can_madv_lru_vma()).
"""

import numpy as np
import pandas as pd

from lorelab.damon.agree import follow
from lorelab.damon.agree.runs import judged
from lorelab.damon.kernel.schemes_followed import SchemesInputs, unpack
from lorelab.damon.model import replay
from lorelab.damon.model.damos import FREE_MEM_RATE, PAGEOUT
from lorelab.damon.model.state import GOAL
from lorelab.damon.params import FollowedSchemes as Schemes
from lorelab.damon.workload.schemes import BUILTIN, STATISTICS, parse
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record
from lorelab.numerics import PAGE


def followed(params: Schemes, inputs: SchemesInputs) -> pd.DataFrame:
    """Run the model on what the kernel was given, and compare each window.

    Returns
    -------
    DataFrame
        A row a window: `nr_regions`; `equal`, whether all regions are the same; of each scheme
        regions and bytes tried so far, by the model (`nr_tried0`, `sz_tried0`) and the kernel
        (`kernel_nr_tried0`, ...); and `reported`, whether the model's statistics are those that
        the kernel reported in the end; `rested`, whether schemes rested at the same looks.

    Raises
    ------
    ValueError
        The model asks for more numbers or checks than there are.
    """
    table = parse(BUILTIN.get(params.schemes, params.schemes), params)
    bare = inputs.bare if (table["action"] == PAGEOUT).any() else []
    mapped = [(0, *pair) for pair in inputs.log.mappings if pair not in bare]
    for scheme, marks in zip(table, inputs.watermarks, strict=False):
        scheme["wmark_metric"] = FREE_MEM_RATE
        for name, value in marks._asdict().items():
            scheme[name] = value
    goals = [(k, 100, params.goal_percent) for k in range(len(table)) if params.goal_percent]
    goals = np.array(goals, GOAL)
    ctx, pages = follow.begin(params, inputs.log, table, mapped, goals)
    rows, kernels = [], np.zeros((len(table), 2), np.int64)
    every = zip(inputs.log.windows, inputs.jiffies, inputs.looks, strict=True)
    windows = replay.follow_schemes(ctx, pages, every)
    for window, tried in zip(windows, inputs.tried, strict=True):
        for one in tried:
            kernels[one.scheme] += (1, one.pages * PAGE)
        row = {name: getattr(window, name) for name in ("nr_regions", "rested", "equal")}
        for k, s in enumerate(ctx.schemes):
            # What the quota has less than a page left for is counted, and not traced.
            row[f"nr_tried{k}"] = int(s["nr_tried"]) - int(s["nr_refused"])
            row[f"sz_tried{k}"] = int(s["sz_tried"])
            row[f"kernel_nr_tried{k}"], row[f"kernel_sz_tried{k}"] = kernels[k].tolist()
        row["reported"] = _statistics(ctx) == inputs.statistics
        rows.append(row)
    return pd.DataFrame(rows)


def agree(params: Schemes, record: Record) -> Agreement:
    """Every region, trial, look and statistic has to be the same."""
    table = compared(params, record).assign(detectable=0.0)
    return judged(table, "window for window, region for region")


def compared(params: Schemes, measured: Record) -> pd.DataFrame:
    """Follow a record; a row for each thing that has to be the same, and whether it `agrees`."""
    inputs = unpack(measured.counters, params)
    windows = followed(params, inputs)
    rows = [("regions", "windows", len(windows), int(windows["equal"].sum()))]
    for k in range(len(inputs.statistics)):
        for name in ("nr_tried", "sz_tried"):
            same = windows[f"{name}{k}"] == windows[f"kernel_{name}{k}"]
            rows.append((f"scheme{k}_{name}", "windows", len(windows), int(same.sum())))
    if inputs.watermarks:
        rows.append(("rested", "windows", len(windows), int(windows["rested"].sum())))
    rows.append(("statistics", "reports", 1, int(windows["reported"].any())))
    table = pd.DataFrame(rows, columns=["counter", "unit", "compared", "equal"])
    return table.assign(agrees=table["compared"] == table["equal"])


def _statistics(ctx) -> list[dict[str, int]]:
    return [{name: int(s[name]) for name in STATISTICS} for s in ctx.schemes]

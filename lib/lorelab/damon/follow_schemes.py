"""Schemes region for region: the model given the kernel's numbers and checks, and its clock.

As `lorelab.damon.follow`, with schemes. Which regions a scheme is tried on, where a quota cuts
them, whose age starts anew, and when a charge window ends follows from the same log and the
jiffies in it. What a tried page-out did to the pages shows in later checks, which are given; what
DAMOS counts as applied follows from the mappings, for madvise() fails where one is missing
(-ENOMEM) and, paging out, where one has no pages of its own (-EINVAL, can_madv_lru_vma()).

A record is that of `lorelab.damon.follow` and two columns more; its first row has as `checks` the
mappings without pages of their own, as `splits` what became of the program's memory (see
lib/kernel/guest/damon_memory.py), and as `tried` the statistics that the kernel reported of each
scheme some time after the program's end.

    jiffies   clock of the window's last check
    tried     what damon:damos_before_apply said: scheme.start.pages.count.age of each region
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon import follow, kernel, model
from lorelab.damon.kernel_schemes import possible, rules
from lorelab.damon.operations import BUILTIN, STATISTICS, parse
from lorelab.damon.params import Schemes
from lorelab.damon.schemes import HZ, INITIAL_JIFFIES, PAGEOUT
from lorelab.damon.setting import configuration
from lorelab.lab.records import Record

NAME = "damon/schemes-followed"
PAGE = 4096


class Given(NamedTuple):
    """What the model is given beside `follow.Given`, and what schemes did in the kernel."""

    log: follow.Given
    bare: list[tuple[int, int]]  # mappings without pages of their own
    jiffies: list[int]  # a window each
    tried: list[list[tuple[int, ...]]]  # a window each: scheme, start, pages, count, age
    statistics: list[dict[str, int]]  # a scheme each, as the kernel reported them at the end
    memory: dict[str, float]  # of the program, over the run


def measured(wanted: list[Schemes], image: Path | None = None) -> list[Record]:
    """Apply schemes with every random number, check and trial logged, all in one boot."""
    for params in wanted:
        possible(params)
    configs = [configuration(params) for params in wanted]
    asked = [rules(params) for params in wanted]
    runs, source = kernel.boot(wanted, configs, asked, "numbers", image)
    found, last = [], 0
    for number, (params, run) in enumerate(zip(wanted, runs, strict=True), 1):
        provenance = source.provenance(NAME, params.model_dump(mode="json"), number)
        found.append(Record(pack(params, run, last), provenance))
        last = follow.left(params, follow.of(run, last))
    return found


def followed(params: Schemes, given: Given) -> pd.DataFrame:
    """Run the model on what the kernel was given, and compare each window.

    Returns
    -------
    DataFrame
        A row a window: `nr_regions`; `equal`, whether all regions are the same; of each scheme
        regions and bytes tried so far, by the model (`nr_tried0`, `sz_tried0`) and the kernel
        (`kernel_nr_tried0`, ...); and `reported`, whether the model's statistics are those that
        the kernel reported in the end.

    Raises
    ------
    ValueError
        The model asks for more numbers or checks than there are.
    """
    table = parse(BUILTIN.get(params.schemes, params.schemes), params)
    bare = given.bare if (table["action"] == PAGEOUT).any() else []
    mapped = [(0, *pair) for pair in given.log.mappings if pair not in bare]
    ctx, pages = follow.begin(params, given.log, table, mapped)
    rows, kernels = [], np.zeros((len(table), 2), np.int64)
    for regions, jiffies, tried in zip(given.log.windows, given.jiffies, given.tried, strict=True):
        ctx.info["now"] = (jiffies - int(INITIAL_JIFFIES)) * (1_000_000 // int(HZ))
        n = -1
        while n < 0:
            model.kdamond_prepare(ctx, pages)
            n = model.kdamond_check(ctx, pages)
        for scheme, _, size, _, _ in tried:
            kernels[scheme] += (1, size * PAGE)
        row = {"nr_regions": n}
        row["equal"] = n == len(regions) and bool((ctx.trace[:n] == regions).all())
        for k, s in enumerate(ctx.schemes):
            row |= {f"nr_tried{k}": int(s["nr_tried"]), f"sz_tried{k}": int(s["sz_tried"])}
            row[f"kernel_nr_tried{k}"], row[f"kernel_sz_tried{k}"] = kernels[k].tolist()
        row["reported"] = _statistics(ctx) == given.statistics
        rows.append(row)
    starved = int(ctx.info["starved"][0]) + int(pages.info["starved"][0])
    if starved:
        raise ValueError(f"the model asked for {starved} numbers or checks more than were logged")
    return pd.DataFrame(rows)


def weigh(params: Schemes, measured: Record) -> pd.DataFrame:
    """Follow a record; a row for each thing that has to be the same, and whether it `agrees`."""
    given = unpack(measured.counters, params)
    found = followed(params, given)
    rows = [("regions", len(found), int(found["equal"].sum()))]
    for k in range(len(given.statistics)):
        for name in ("nr_tried", "sz_tried"):
            same = found[f"{name}{k}"] == found[f"kernel_{name}{k}"]
            rows.append((f"scheme{k}_{name}", len(found), int(same.sum())))
    table = pd.DataFrame(rows, columns=["counter", "windows", "equal"])
    table["agrees"] = table["windows"] == table["equal"]
    reported = {"counter": "statistics", "windows": 1, "equal": int(found["reported"].any())}
    return pd.concat(
        [table, pd.DataFrame([reported | {"agrees": bool(reported["equal"])}])], ignore_index=True
    )


def pack(params: Schemes, run: kernel.Run, last_nr_regions: int = 0) -> pd.DataFrame:
    """A log as a record."""
    table = follow.pack(params, run, last_nr_regions)
    jiffies, tried = _by_window(run)
    before = int(table["window"].eq(0).sum())
    table["jiffies"] = [0] * before + jiffies
    text = [" ".join(".".join(map(str, one)) for one in window) for window in tried]
    statistics = " ".join(".".join(str(one[name]) for name in STATISTICS) for one in run.schemes)
    table["tried"] = [statistics] + [""] * (before - 1) + text
    table.loc[0, "checks"] = follow.spans(run.bare)
    table.loc[0, "splits"] = " ".join(f"{name}={value}" for name, value in run.memory.items())
    return table


def unpack(table: pd.DataFrame, params: Schemes) -> Given:
    """What a record gives the model."""
    first, windows = table.iloc[0], table[table["window"] > 0]
    text = windows["tried"].astype(str)
    tried = [[tuple(map(int, one.split("."))) for one in line.split()] for line in text]
    statistics = [
        dict(zip(STATISTICS, map(int, one.split(".")), strict=True))
        for one in str(first["tried"]).split()
    ]
    bare = follow.unspanned(str(first["checks"]))
    memory = dict(one.split("=") for one in str(first["splits"]).split())
    return Given(
        follow.unpack(table, params),
        bare,
        windows["jiffies"].tolist(),
        tried,
        statistics,
        {name: float(value) for name, value in memory.items()},
    )


def _by_window(run: kernel.Run) -> tuple[list[int], list[list[tuple[int, ...]]]]:
    log = run.log
    reports = np.flatnonzero(log["kind"] == kernel.AGGREGATED)
    begins = reports[np.append(True, np.diff(log["x"][reports].astype(np.int64)) < 0)]
    jiffies, tried, at = [], [], 0
    for begin in begins:
        part = log[at:begin]
        at = begin
        jiffies.append(int(part["y"][part["kind"] == kernel.CHECK][-1]))
        tried.append(
            [
                (int(e["kind"]) - kernel.TRIED, int(e["x"]), int(e["y"] - e["x"]) // PAGE,
                 int(e["n"]), int(e["age"]))
                for e in part[part["kind"] >= kernel.TRIED]
            ]
        )  # fmt: skip
    return jiffies, tried


def _statistics(ctx) -> list[dict[str, int]]:
    return [{name: int(s[name]) for name in STATISTICS} for s in ctx.schemes]

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

With watermarks there is one more, whose first row has them as they were, a scheme each as
high.mid.low.us:

    free      what each look at them found free, in thousandths, and, after a colon, whether schemes
              rested for it (1) or a sample followed (0); *n for n looks alike

Quota goals are of metric user_input, whose value nobody changes here.
"""

from itertools import groupby, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon import follow, kernel, model
from lorelab.damon.kernel_schemes import CPUS, possible, rules
from lorelab.damon.operations import BUILTIN, STATISTICS, parse
from lorelab.damon.params import FollowedSchemes as Schemes
from lorelab.damon.schemes import FREE_MEM_RATE, HZ, INITIAL_JIFFIES, PAGEOUT
from lorelab.damon.setting import configuration
from lorelab.damon.state import GOAL
from lorelab.lab.records import Record

NAME = "damon/schemes-followed"
PAGE = 4096
WMARK_US = 500_000
"""Between two looks at the watermarks of schemes at rest."""
MARKS = ("high", "mid", "low", "wmark_interval")


class Given(NamedTuple):
    """What the model is given beside `follow.Given`, and what schemes did in the kernel."""

    log: follow.Given
    bare: list[tuple[int, int]]  # mappings without pages of their own
    jiffies: list[int]  # a window each
    tried: list[list[tuple[int, ...]]]  # a window each: scheme, start, pages, count, age
    statistics: list[dict[str, int]]  # a scheme each, as the kernel reported them at the end
    memory: dict[str, float]  # of the program, over the run
    watermarks: list[list[int]]  # a scheme each
    looks: list[list[tuple[int, bool]]]  # a window each: thousandths free, whether schemes rest


def measured(wanted: list[Schemes], image: Path | None = None) -> list[Record]:
    """Apply schemes with every random number, check and trial logged, all in one boot."""
    for params in wanted:
        possible(params)
    configs = [configuration(params) for params in wanted]
    asked = [[rule | driven(params) for rule in rules(params)] for params in wanted]
    runs, source = kernel.boot(wanted, configs, asked, "numbers", image, cpus=CPUS)
    found, last = [], 0
    for number, (params, run) in enumerate(zip(wanted, runs, strict=True), 1):
        provenance = source.provenance(NAME, params.model_dump(mode="json"), number)
        found.append(Record(pack(params, run, last), provenance))
        last = follow.left(params, follow.of(run, last))
    return found


def driven(params: Schemes) -> dict[str, Any]:
    """Goal and watermarks of a scheme as lib/kernel/guest/damon_sysfs.py takes them."""
    found = {"goal": [100, params.goal_percent]} if params.goal_percent else {}
    if params.wmark_high:
        marks = [params.wmark_high, params.wmark_mid, params.wmark_low, WMARK_US]
        found["watermarks"] = marks
    return found


def followed(params: Schemes, given: Given) -> pd.DataFrame:
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
    bare = given.bare if (table["action"] == PAGEOUT).any() else []
    mapped = [(0, *pair) for pair in given.log.mappings if pair not in bare]
    for scheme, marks in zip(table, given.watermarks, strict=False):
        scheme["wmark_metric"] = FREE_MEM_RATE
        for name, value in zip(MARKS, marks, strict=True):
            scheme[name] = value
    goals = [(k, 100, params.goal_percent) for k in range(len(table)) if params.goal_percent]
    goals = np.array(goals, GOAL)
    ctx, pages = follow.begin(params, given.log, table, mapped, goals)
    rows, kernels = [], np.zeros((len(table), 2), np.int64)
    every = zip(given.log.windows, given.jiffies, given.tried, given.looks, strict=True)
    for regions, jiffies, tried, looks in every:
        ctx.info["now"] = (jiffies - int(INITIAL_JIFFIES)) * (1_000_000 // int(HZ))
        n, rested = -1, True
        for free, rests in looks or repeat((0, False)):
            pages.info["free_mem_rate"] = free
            wait = int(model.kdamond_prepare(ctx, pages))
            rested = rested and bool(wait) == rests
            n = n if wait else model.kdamond_check(ctx, pages)
            if n >= 0:
                break
        for scheme, _, size, _, _ in tried:
            kernels[scheme] += (1, size * PAGE)
        row = {"nr_regions": n, "rested": rested}
        row["equal"] = n == len(regions) and bool((ctx.trace[:n] == regions).all())
        for k, s in enumerate(ctx.schemes):
            # What the quota has less than a page left for is counted, and not traced.
            row[f"nr_tried{k}"] = int(s["nr_tried"]) - int(s["nr_refused"])
            row[f"sz_tried{k}"] = int(s["sz_tried"])
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
    if given.watermarks:
        table.loc[len(table)] = ("rested", len(found), int(found["rested"].sum()))
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
    if run.watermarks:
        marks = " ".join(".".join(map(str, one)) for one in run.watermarks)
        table["free"] = [marks] + [""] * (before - 1) + _looks(run)
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
    marks, looks = [], [[] for _ in range(len(windows))]
    if "free" in table:
        marks = [list(map(int, one.split("."))) for one in str(first["free"]).split()]
        looks = [_looked(line) for line in windows["free"].astype(str)]
    return Given(
        follow.unpack(table, params),
        bare,
        windows["jiffies"].tolist(),
        tried,
        statistics,
        {name: float(value) for name, value in memory.items()},
        marks,
        looks,
    )


def _parts(run: kernel.Run) -> list[np.ndarray]:
    # The log of each window, up to its report.
    log = run.log
    reports = np.flatnonzero(log["kind"] == kernel.AGGREGATED)
    begins = reports[np.append(True, np.diff(log["x"][reports].astype(np.int64)) < 0)]
    return [log[at:begin] for at, begin in zip([0, *begins], begins, strict=False)]


def _looks(run: kernel.Run) -> list[str]:
    # What each look of a window found, run by run.
    found = []
    for part in _parts(run):
        looks = part[part["kind"] == kernel.FREE]
        said = [f"{int(e['x']) * 1000 // int(e['y'])}:{int(e['n'] > 0)}" for e in looks]
        found.append(" ".join(f"{one}*{len(list(same))}" for one, same in groupby(said)))
    return found


def _looked(line: str) -> list[tuple[int, bool]]:
    found = []
    for word in line.split():
        look, number = word.split("*")
        free, rests = look.split(":")
        found += [(int(free), rests == "1")] * int(number)
    return found


def _by_window(run: kernel.Run) -> tuple[list[int], list[list[tuple[int, ...]]]]:
    jiffies, tried = [], []
    for part in _parts(run):
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

"""The records of `damon/schemes-followed`: what a kernel drew, checked and tried, by window.

A record is that of `lorelab.damon.kernel.follow` and two columns more; its first row has as
`checks` the mappings without pages of their own, as `splits` what became of the program's memory
(see lib/kernel/damon/guest/memory.py), and as `tried` the statistics that the kernel reported of
each scheme some time after the program's end.

    jiffies   clock of the window's last check
    tried     what damon:damos_before_apply said: scheme.start.pages.count.age of each region

With watermarks there is one more, whose first row has them as they were, a scheme each as
high.mid.low.us:

    free      what each look at them found free, in thousandths, and, after a colon, whether schemes
              rested for it (1) or a sample followed (0); *n for n looks alike

Quota goals are of metric user_input, whose value nobody changes here.
"""

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lorelab.damon.kernel import boot, follow
from lorelab.damon.kernel.schemes import CPUS, possible, rules
from lorelab.damon.params import FollowedSchemes as Schemes
from lorelab.damon.workload.schemes import STATISTICS
from lorelab.damon.workload.setup import configuration
from lorelab.lab.run import Measured, Measurement, Request, one_boot
from lorelab.numerics import PAGE

NAME = "damon/schemes-followed"
WMARK_US = 500_000
"""Between two looks at the watermarks of schemes at rest."""


class Marks(NamedTuple):
    """Watermarks of a scheme, in thousandths of memory, and us between two looks at them."""

    high: int
    mid: int
    low: int
    wmark_interval: int


class Tried(NamedTuple):
    """A region that a scheme was tried on."""

    scheme: int
    start: int
    pages: int
    nr_accesses: int
    age: int


class Look(NamedTuple):
    """A look at the watermarks."""

    free: int  # thousandths of memory
    rests: bool  # schemes rest for it; else a sample follows


class SchemesInputs(NamedTuple):
    """What the model is given beside `follow.Inputs`, and what schemes did in the kernel."""

    log: follow.Inputs
    bare: list[tuple[int, int]]  # mappings without pages of their own
    jiffies: list[int]  # a window each
    tried: list[list[Tried]]  # a window each
    statistics: list[dict[str, int]]  # a scheme each, as the kernel reported them at the end
    memory: dict[str, float]  # of the program, over the run
    watermarks: list[Marks]  # a scheme each
    looks: list[list[Look]]  # a window each


def _request(batch: list[Schemes]) -> Request:
    """Schemes applied with every random number, check and trial logged, all in one boot."""
    requests = [
        boot.RunRequest(
            params, configuration(params), [rule | driven(params) for rule in rules(params)]
        )
        for params in batch
    ]
    return boot.request(requests, "numbers", cpus=CPUS)


def _counters(params: Schemes, measured: Measured, run: int) -> pd.DataFrame:
    [played] = boot.logged([params], measured, run)
    return pack(params, played, follow.left_before(measured, run))


def driven(params: Schemes) -> dict[str, Any]:
    """Goal and watermarks of a scheme as lib/kernel/damon/guest/sysfs.py takes them."""
    settings = {"goal": [100, params.goal_percent]} if params.goal_percent else {}
    if params.wmark_high:
        marks = Marks(params.wmark_high, params.wmark_mid, params.wmark_low, WMARK_US)
        settings["watermarks"] = list(marks)
    return settings


def pack(params: Schemes, run: boot.Run, last_nr_regions: int = 0) -> pd.DataFrame:
    """A log as a record."""
    table = follow.pack(params, run, last_nr_regions)
    jiffies, tried = _by_window(run)
    before = int(table["window"].eq(0).sum())
    table["jiffies"] = [0] * before + jiffies
    text = [" ".join(".".join(map(str, one)) for one in window) for window in tried]
    statistics = " ".join(".".join(str(one[name]) for name in STATISTICS) for one in run.schemes)
    table["tried"] = [statistics] + [""] * (before - 1) + text
    table.loc[0, "checks"] = follow.spans(run.program.bare)
    if run.watermarks:
        marks = " ".join(".".join(map(str, one)) for one in run.watermarks)
        table["free"] = [marks] + [""] * (before - 1) + _looks(run)
    table.loc[0, "splits"] = " ".join(f"{name}={value}" for name, value in run.memory.items())
    return table


def unpack(table: pd.DataFrame, params: Schemes) -> SchemesInputs:
    """What a record gives the model."""
    first, windows = table.iloc[0], table[table["window"] > 0]
    text = windows["tried"].astype(str)
    tried = [[Tried(*map(int, one.split("."))) for one in line.split()] for line in text]
    statistics = [
        dict(zip(STATISTICS, map(int, one.split(".")), strict=True))
        for one in str(first["tried"]).split()
    ]
    bare = follow.unspanned(str(first["checks"]))
    memory = dict(one.split("=") for one in str(first["splits"]).split())
    marks, looks = [], [[] for _ in range(len(windows))]
    if "free" in table:
        marks = [Marks(*map(int, one.split("."))) for one in str(first["free"]).split()]
        looks = [_looked(line) for line in windows["free"].astype(str)]
    return SchemesInputs(
        follow.unpack(table, params),
        bare,
        windows["jiffies"].tolist(),
        tried,
        statistics,
        {name: float(value) for name, value in memory.items()},
        marks,
        looks,
    )


def _looks(run: boot.Run) -> list[str]:
    # What each look of a window found, run by run.
    lines = []
    for part in boot.by_window(run.log):
        looks = part[part["kind"] == boot.FREE]
        words = [f"{int(e['x']) * 1000 // int(e['y'])}:{int(e['n'] > 0)}" for e in looks]
        lines.append(" ".join(f"{one}*{len(list(same))}" for one, same in groupby(words)))
    return lines


def _looked(line: str) -> list[Look]:
    looks = []
    for word in line.split():
        look, number = word.split("*")
        free, rests = look.split(":")
        looks += [Look(int(free), rests == "1")] * int(number)
    return looks


def _by_window(run: boot.Run) -> tuple[list[int], list[list[Tried]]]:
    jiffies, tried = [], []
    for part in boot.by_window(run.log):
        jiffies.append(int(part["y"][part["kind"] == boot.CHECK][-1]))
        tried.append([_tried(event) for event in part[part["kind"] >= boot.TRIED]])
    return jiffies, tried


def _tried(event: np.void) -> Tried:
    start, end = int(event["x"]), int(event["y"])
    scheme = int(event["kind"]) - boot.TRIED
    return Tried(scheme, start, (end - start) // PAGE, int(event["n"]), int(event["age"]))


measure = Measurement(
    NAME,
    _request,
    _counters,
    machine=one_boot,
    check=lambda params, _: possible(params),
)

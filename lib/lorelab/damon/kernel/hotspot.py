"""`damon/hotspot` on a real kernel: one program, watched anew until its hot range stands out.

The guest is that of `lorelab.damon.kernel.boot`, an instruction taking 32 ns. Runs are in turns:
the first of each set of parameters, then the second of each, as long as these are about the same
program.

The process is always one with code, stack and data of its own (`own`), which DAMON sees.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.damon.kernel import boot
from lorelab.damon.model.memory import BATCH
from lorelab.damon.params import TOOK, Hotspot, Speeds, took
from lorelab.damon.workload import hotspot
from lorelab.errors import BadInput
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request, one_boot
from lorelab.params import label

LARGEST_KIB = 4 << 20
"""Hot memory, all of which is there."""
SHIFT = 5
"""An instruction takes 2**SHIFT ns."""
SLOWER = 60.0 * 8 / 2**SHIFT
"""Seconds that a second of the guest may take; half of one on an idle machine."""


class Window(NamedTuple):
    """A window as lib/kernel/damon/guest/hotspot.py says it."""

    who: int
    """kdamond's process."""
    at: int
    """When it ended."""
    regions: int
    cuttable: int
    """Regions of more than two pages."""
    draws: int
    """Of a place to cut at."""
    apart: int
    """Bytes of the hot range that regions hold which tell it apart."""


class Cuts(NamedTuple):
    """Windows whose cut follows from those before, and those it follows from rightly."""

    told: int
    """Windows after the first of their kdamond."""
    as_shared: int
    """Of them cut in three if and only if their number of regions was that of the last cut of any
    kdamond."""
    as_own: int
    """The same by their own last cut."""


def _request(batch: list[Hotspot]) -> Request:
    programs: dict[str, dict[str, Any]] = {}
    for number, params in enumerate(batch):
        text = boot.program(hotspot.program(params), params)
        new = {"masim": text, "hot": 1, "huge": hotspot.huge(params), "wanted": []}
        program = programs.setdefault(text, new)
        program["wanted"].append(
            {
                "number": number,
                "attrs": boot.attributes(params),
                "switches": boot.switches(params),
                "kdamonds": params.kdamonds,
                "windows": params.windows,
                "runs": params.runs,
            }
        )
    seconds = sum(params.runs * (params.windows + 10) * params.aggr_us for params in batch) / 1e6
    runs = sum(params.runs for params in batch)
    longest = boot.BOOT_SECONDS + SLOWER * 1.5 * seconds
    memory = 1536 + max(512, *(params.hot_kib >> 10 for params in batch))
    machine = Machine(memory_mib=memory, icount=True, shift=SHIFT)
    job = Job("damon", "hotspot", {"programs": list(programs.values())}, longest, runs)
    # damon_rand() is a function of its own only there.
    return Request(machine, job, patched=True)


def _counters(params: Hotspot, measured: Measured, number: int) -> pd.DataFrame:
    """The model's counters but for the chain's, and more by run.

    Time of an access, a check and a sleep, as the model takes them; draws of a page from a region
    larger than 4 GiB, and those of them that 32 bits can't reach; and windows whose cuts could be
    told, with those of them that were cut as a last count of all kdamonds, or of each its own,
    says.
    """
    rows = [row for row in measured.rows if row["number"] == number]
    counters = hotspot.counted(params, [outcome(params, row) for row in rows])
    for name in ("access", "check", "sleep"):
        each = [took(speeds(row))[name] for row in rows]
        counters[name] = (TOOK[name], [value for _, value in each])
    for k, name in enumerate(("wide", "out_of_reach")):
        counters[name] = ("draws", [row["wide"][k] for row in rows])
    searched = [cuts(row) for row in rows]
    for name in Cuts._fields:
        counters[name] = ("windows", [getattr(one, name) for one in searched])
    return table(hotspot.NAME, label(params.variant), "kernel", counters)


def possible(params: Hotspot) -> None:
    """BadInput where no kernel can follow."""
    hotspot.check(params)
    boot.check(params)
    if not params.own:
        raise BadInput("own=false: takes true on a kernel, where a process has code and a stack")
    if params.hot_kib > LARGEST_KIB:
        raise BadInput(f"hot_kib={params.hot_kib}: takes {LARGEST_KIB} at most on the kernel")


def outcome(params: Hotspot, row: dict[str, Any]) -> hotspot.Outcome:
    """What a run's first kdamond came to, up to the window that told the range apart."""
    windows = [Window(*window) for window in row["windows"]]
    mine = [window for window in windows if window.who == row["first"]][: params.windows]
    stands_out = [2 * window.apart >= params.hot_kib << 10 for window in mine]
    last = stands_out.index(True) + 1 if True in stands_out else len(mine)
    regions = [window.regions for window in mine[:last]]
    thirds = [pieces(window) == 3 for window in mine[: last - 1]]
    return hotspot.Outcome(
        last if True in stands_out else 0,
        float(np.mean(regions)),
        float(np.mean(thirds)) if thirds else 0.0,
    )


def pieces(window: Window) -> int:
    """Into how many pieces kdamond_split_regions() cut: 1, 2 or 3.

    A region larger than two pages draws once where it is cut in two. Cut in three it draws again,
    unless its left part came out at two pages or less.
    """
    return 3 if window.draws > window.cuttable else 2 if window.draws else 1


def cuts(row: dict[str, Any]) -> Cuts:
    """How the windows of a run were cut."""
    told = shared = own = 0
    last, each = None, {}
    for window in sorted((Window(*one) for one in row["windows"]), key=lambda window: window.at):
        if window.who in each:
            told += 1
            in_three = pieces(window) == 3
            shared += in_three == (window.regions == last)
            own += in_three == (window.regions == each[window.who])
        last = each[window.who] = window.regions
    return Cuts(told, shared, own)


def speeds(row: dict[str, Any]) -> Speeds:
    """What an access and a check took, and a sleep of the first kdamond."""
    played = row["ns"] - row["worked"]
    return Speeds(
        access_ns=played / max(row["draws"] * int(BATCH), 1),
        check_ns=row["worked"] / row["checks"],
        sleep_us=played / row["sleeps"] / 1000,
    )


measure = Measurement(
    hotspot.NAME, _request, _counters, machine=one_boot, check=lambda params, _: possible(params)
)

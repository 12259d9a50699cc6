"""`fairzone/followed` on a kernel: every walk of the zonelist, in its order.

Memory is filled first. Then `log_mib` are written and twice as much is read, both logged. In a
guest with a movable zone `log_mib` of memory are touched in place of the writes, MiB by MiB.
"""

import base64
import zlib
from typing import Any

import numpy as np
import pandas as pd

from lorelab.errors import RunFailed
from lorelab.fairzone.kernel import boot
from lorelab.fairzone.params import Followed
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import machine_of

NAME = "fairzone/followed"
SLOTS = ("dma", "dma32", "normal", "movable")
EVENT = np.dtype(
    [
        *((name, "u1") for name in ("cpu", "zone", "order", "flags", "skipped")),
        ("low", "u1", 2),
        ("other", "u1", 2),
        ("passes", "u1"),
        ("klass", "u1"),
        ("diff", "i1"),
        ("batch", "<i4"),
        ("free", "<u4", len(SLOTS)),
    ]
)
"""struct fair_event of the kernel's patch."""
ALIKE = ["cpu", "zone", "order", "flags", "skipped", "low", "low2", "other", "other2", "passes"]
ALIKE += ["klass"]
ZONE = ["managed", "wmark_low", "wmark_high", "threshold", "reserve", "reserve_dma32"]
COLUMNS = ["kind", "count", *ALIKE, "batch", "diff", *(f"free_{name}" for name in SLOTS), *ZONE]
"""One row a zone (`kind` zone), then one a number of alike walks (`kind` walk)."""
FULL = 100
"""Per cent of the guest's memory that is written, or touched, before the log begins."""


def _request(batch: list[Followed]) -> Request:
    first = batch[0]
    if first.layout == "movable":
        runs = [boot.run(params, turns(params)) for params in batch]
        return boot.request(boot.with_movable(first), runs, workload="movable")
    return boot.request(boot.with_zones(first), [boot.run(p, plan(p)) for p in batch])


def _counters(params: Followed, measured: Measured, run: int) -> pd.DataFrame:
    pieces = [row for row in measured.rows if row["run"] == run and "piece" in row]
    return log_table(pieces, boot.zones(boot.phases(measured, run)[-1]))


def plan(params: Followed) -> list[dict[str, Any]]:
    """Phases of one run, for the guest's `stream.py`."""
    full = params.mib * PAGES_A_MIB * FULL // 100
    more = params.log_mib * PAGES_A_MIB
    return [
        {"name": "fill", "writes": [0, full]},
        {"name": "log", "writes": [full, more], "reads": [0, 2 * more], "events": True},
    ]


def turns(params: Followed) -> list[dict[str, Any]]:
    """Phases of one run, for the guest's `movable.py`."""
    full = params.mib * PAGES_A_MIB * FULL // 100
    turn = [PAGES_A_MIB, 2 * PAGES_A_MIB]
    return [
        {"name": "fill", "turns": [[full, 0]], "events": False},
        {"name": "log", "turns": [turn] * params.log_mib, "events": True},
    ]


def log_table(pieces: list[dict], zones: list[dict]) -> pd.DataFrame:
    """A log as the guest sent it, as a table of `COLUMNS`.

    Walks that follow one another and came to the same are one row: `count` of them, `batch` and
    `diff` after the last, and of each zone's free pages the most where it failed its watermark, the
    least elsewhere, which is the harder case of the test.
    """
    packed = base64.b64decode("".join(row["piece"] for row in pieces))
    events = np.frombuffer(zlib.decompress(packed), EVENT)
    if len(events) != pieces[0]["logged"]:
        raise RunFailed(f"the log has room for {len(events)} walks: ask for a smaller log_mib")
    table = pd.DataFrame({name: events[name].astype(np.int64) for name in ALIKE if name in SIMPLE})
    for name in ("low", "other"):
        for suffix, number in (("", 0), ("2", 1)):
            table[f"{name}{suffix}"] = events[name][:, number].astype(np.int64)
    for name in ("batch", "diff"):
        table[name] = events[name].astype(np.int64)
    for slot, name in enumerate(SLOTS):
        table[f"free_{name}"] = events["free"][:, slot].astype(np.int64)
    run = (table[ALIKE] != table[ALIKE].shift()).any(axis=1).cumsum()
    groups = table.groupby(run, sort=True)
    walks = groups[ALIKE].first().assign(kind="walk", count=groups.size())
    walks[["batch", "diff"]] = groups[["batch", "diff"]].last()
    for slot, name in enumerate(SLOTS):
        column = groups[f"free_{name}"]
        failed = ((walks["low"] | walks["low2"]) & (1 << slot)) != 0
        walks[f"free_{name}"] = column.max().where(failed, column.min())
    rows = [
        {
            "kind": "zone",
            "zone": zone["slot"],
            "managed": zone["managed"],
            "wmark_low": zone["low"],
            "wmark_high": zone["high"],
            "threshold": zone["threshold"],
            "reserve": zone["reserve"],
            "reserve_dma32": zone["reserve_dma32"],
        }
        for zone in zones
    ]
    both = pd.concat([pd.DataFrame(rows), walks], ignore_index=True)
    numbers = [name for name in COLUMNS if name != "kind"]
    both[numbers] = both.reindex(columns=numbers).fillna(0).astype(np.int64)
    return both[COLUMNS]


SIMPLE = {name for name in EVENT.names if EVENT[name].shape == ()}


measure = Measurement(NAME, _request, _counters, machine=machine_of)

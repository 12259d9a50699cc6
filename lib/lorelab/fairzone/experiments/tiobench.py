"""Which zones does each variant use while files are written and read, and what is read from cache?

The run goes phase by phase: sequential writes, random ones, sequential reads, random ones. What it
leaves at the end of each of `steps` windows of a sequential phase is kept for the pictures.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.model import filemap
from lorelab.fairzone.model.filemap import Memory
from lorelab.fairzone.model.zones import COUNTS, Node
from lorelab.fairzone.params import Tiobench
from lorelab.fairzone.workload.files import (
    FIXED_POINT,
    TWO_FILES_READS,
    scattered,
    sequential,
    where_cached,
)
from lorelab.fairzone.workload.machine import names, nap_pages, node_of
from lorelab.numerics import U, njit
from lorelab.params import label

BUCKETS = 50
"""Parts of the files in the offset map."""


class Run(NamedTuple):
    """What a run did, in each phase, and looked like at the end of each window."""

    zones: list[str]
    managed: np.ndarray  # (zones,) pages
    phases: list[str]
    touched: np.ndarray  # (phases,) pages written or read by the threads
    read: np.ndarray  # (phases,) pages read from the disk
    count: np.ndarray  # (phases, COUNTS)
    allocated: np.ndarray  # (phases, zones) pages
    windows: pd.DataFrame  # phase, window, offset, zone, pages


def run(params: Tiobench, maps: bool = False) -> Run:
    """Run the workload.

    Parameters
    ----------
    params : Tiobench
    maps : bool
        Keep where each part of the files is after each window (`Run.windows`).

    Raises
    ------
    RunFailed
        The memory has no page left to give.
    """
    return run_on(node_of(params, params.dirty_percent), params, maps)


def run_on(node: Node, params: Tiobench, maps: bool = False) -> Run:
    """Run the workload on these zones."""
    given, (phases, plan) = given_of(params), PLANS[params.workload]
    each = pages_each(given, int(node.zone["managed"].sum()))
    mm = filemap.make(node, each * params.threads * files_of(plan), 0, params.balance_reserves)
    mm.kswapd["nap_draws"] = params.seed
    seen = _Seen(names(params), mm, maps)
    for phase, row in zip(phases, plan, strict=True):
        if row["drops"]:
            filemap.drop_caches(mm)
            continue
        begin(mm, given, row)
        for n in range(1 if row["scattered"] else params.steps):
            seen.touched += window(mm, given, row, each, n)
            if not row["scattered"]:
                seen.window(phase, n + 1, mm)
        filemap.check(mm)
        end(mm, row)
        seen.phase(phase, mm)
    return seen.run(node)


GIVEN = np.dtype(
    [
        ("threads", "i8"),
        ("data_percent", "i8"),
        ("steps", "i8"),
        ("readahead", "i8"),
        ("burst", "i8"),
        ("nap_spread", "i8"),
        ("random_ops", "i8"),
        ("kswapd_rate", "f8"),
        ("disk_mb_s", "f8"),
        ("write_mb_s", "f8"),
    ]
)
"""The parameters that the functions below read, by name."""
PHASE = np.dtype([(name, "i8") for name in ("writes", "scattered", "drops", "file", "seed")])


def given_of(params: Tiobench) -> np.ndarray:
    """Parameters as (1,) GIVEN."""
    row = np.zeros(1, GIVEN)
    for name in GIVEN.names:
        row[name] = getattr(params, name)
    return row


def _planned(*phases: tuple[str, str, int]) -> tuple[list[str], np.ndarray]:
    """Names of phases, and (phases,) PHASE: name, what is done, and the file of it."""
    plan = np.zeros(len(phases), PHASE)
    for row, (name, action, file) in zip(plan, phases, strict=True):
        row["writes"], row["scattered"] = "write" in action, action.startswith("scatter")
        row["drops"], row["file"], row["seed"] = action == "drop", file, len(name)
    return [name for name, _, _ in phases], plan


WRITES = (("write", "write", 0), ("random write", "scatter-write", 0))
READS = (("read", "read", 0), ("random read", "scatter-read", 0))
PLANS = {
    "write-read": _planned(*WRITES, *READS),
    "drop-caches": _planned(*WRITES, ("", "drop", 0), *READS),
    "two-files": _planned(
        *(
            (f"file {file + 1}, read {time + 1}", "read", file)
            for file in range(2)
            for time in range(TWO_FILES_READS)
        )
    ),
}
"""What each workload does, in order."""


@njit
def files_of(plan):
    """Files of a thread: the last phase is of the last."""
    return plan[len(plan) - 1].file + 1


@njit
def pages_each(setting, memory):
    """Pages of a file, in a memory of so many."""
    return memory * setting[0].data_percent // 100 // setting[0].threads


@njit
def begin(mm, setting, phase):
    """The pace of the disk in a phase; `setting` has the fields of GIVEN, `phase` is of PHASE."""
    speed = (
        setting[0].write_mb_s if phase.writes and setting[0].write_mb_s else setting[0].disk_mb_s
    )
    pages = nap_pages(speed)
    mm.kswapd[0].nap_pages = U(pages)
    mm.kswapd[0].nap_spread = U(pages * setting[0].nap_spread // 100)


@njit
def window(mm, setting, phase, each, n):
    """Window `n` of a phase over files of `each` pages; a scattered phase has one.

    Returns
    -------
    int
        Pages written or read.
    """
    p = setting[0]
    rate = np.int64(round(p.kswapd_rate * FIXED_POINT))
    writes = phase.writes != 0
    if phase.scattered:
        scattered(mm, U(p.random_ops), U(each * p.threads), U(phase.seed), rate, writes)
        return p.random_ops
    ends = each * n // p.steps, each * (n + 1) // p.steps
    first = ends[0] // p.readahead * p.readahead
    until = ends[1] // p.readahead * p.readahead if n + 1 < p.steps else each
    sequential(
        mm,
        U(first),
        U(until),
        U(phase.file * each * p.threads),
        U(each),
        U(p.threads),
        U(p.readahead),
        U(p.burst),
        rate,
        writes,
    )
    return (until - first) * p.threads


@njit
def end(mm, phase):
    """A phase is over."""
    if phase.writes:  # tiotest ends a phase of writes with fsync()
        filemap.writeback(mm, mm.ring[1])


class _Seen:
    """Totals at the end of each phase, as differences from the one before."""

    def __init__(self, zones: list[str], mm: Memory, maps: bool):
        self.zones, self.maps = zones, maps
        self.phases: list[str] = []
        self.rows: list[tuple] = []
        self.totals = [self._total(mm, 0)]
        self.touched = 0
        self.found: list[pd.DataFrame] = []

    def _total(self, mm: Memory, touched: int) -> tuple:
        allocated = mm.node.zone["allocated"].copy()
        return (touched, int(mm.disk[0]), mm.node.count.copy().astype(np.int64), allocated)

    def phase(self, phase: str, mm: Memory) -> None:
        self.phases.append(phase)
        self.totals.append(self._total(mm, self.touched))

    def window(self, phase: str, window: int, mm: Memory) -> None:
        if not self.maps:
            return
        pages = where_cached(mm, BUCKETS)
        offset, zone = np.indices(pages.shape)
        frame = {"phase": phase, "window": window, "offset": offset.ravel()}
        frame |= {"zone": np.array(self.zones)[zone.ravel()], "pages": pages.ravel()}
        self.found.append(pd.DataFrame(frame))

    def run(self, node: filemap.Node) -> Run:
        touched, read, count, allocated = (
            np.diff(np.array(column), axis=0) for column in zip(*self.totals, strict=True)
        )
        windows = pd.concat(self.found, ignore_index=True) if self.found else pd.DataFrame()
        managed = node.zone["managed"].copy()
        return Run(self.zones, managed, self.phases, touched, read, count, allocated, windows)


def simulate(params: Tiobench) -> pd.DataFrame:
    """Counters of each phase: step 1 is the first.

    Returns
    -------
    DataFrame
        See `lorelab.counters`: `touched`, `read` and `hits` in pages, `allocated_ZONE` in pages,
        and what `COUNTS` names.
    """
    done = run(params)
    counters: dict[str, tuple[str, object]] = {
        "touched": ("pages", done.touched),
        "read": ("pages", done.read),
        "hits": ("pages", hits(done)),
    }
    for z, name in enumerate(done.zones):
        counters[f"allocated_{name.lower()}"] = ("pages", done.allocated[:, z])
    for n, name in enumerate(COUNTS):
        counters[name] = (UNITS.get(name, name), done.count[:, n])
    return table("fairzone/tiobench", label(params.variant), "model", counters)


UNITS = {
    "failed_fair_passes": "passes",
    "skips_batch": "zones",
    "skips_watermark": "zones",
    "skips_dirty": "zones",
    "skips_remote": "zones",
    "spills": "pages",
    "rotated": "pages",
    "activated": "pages",
    "refaults_activated": "pages",
    "slowpaths": "entries",
    "direct_reclaims": "calls",
}


def hits(done: Run) -> np.ndarray:
    """Pages of each phase that were read and did not come from the disk; 0 where it wrote."""
    writes = np.array(["write" in phase for phase in done.phases])
    return np.where(writes, 0, done.touched - done.read)

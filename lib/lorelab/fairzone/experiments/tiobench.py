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
from lorelab.numerics import U
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
    memory = int(node.zone["managed"].sum())
    threads = params.threads
    two = params.workload == "two-files"
    pages_each = memory * params.data_percent // 100 // threads
    files = 2 if two else 1
    pages = pages_each * threads * files
    mm = filemap.make(node, pages, 0, params.balance_reserves)
    mm.kswapd["nap_draws"] = params.seed
    seen = _Seen(names(params), mm, maps)
    plan = _two_files() if two else _tiobench(params.workload == "drop-caches")
    for phase, action, file in plan:
        if action == "drop":
            filemap.drop_caches(mm)
            continue
        _act(mm, params, seen, phase, action, pages_each, file * pages_each * threads)
        seen.phase(phase, mm)
    return seen.run(node)


def _tiobench(drops: bool) -> list[tuple[str, str, int]]:
    drop = [("", "drop", 0)] if drops else []
    return [
        ("write", "write", 0),
        ("random write", "scatter-write", 0),
        *drop,
        ("read", "read", 0),
        ("random read", "scatter-read", 0),
    ]


def _two_files() -> list[tuple[str, str, int]]:
    return [
        (f"file {file + 1}, read {time + 1}", "read", file)
        for file in range(2)
        for time in range(TWO_FILES_READS)
    ]


def _act(
    mm: Memory,
    params: Tiobench,
    seen: "_Seen",
    phase: str,
    action: str,
    pages_each: int,
    first: int,
) -> None:
    speed = (params.write_mb_s if "write" in action else 0) or params.disk_mb_s
    mm.kswapd["nap_pages"] = nap_pages(speed)
    mm.kswapd["nap_spread"] = nap_pages(speed) * params.nap_spread // 100
    rate = round(params.kswapd_rate * FIXED_POINT)
    pages = pages_each * params.threads
    if action.startswith("scatter"):
        writes = action == "scatter-write"
        scattered(mm, U(params.random_ops), U(pages), U(len(phase)), rate, writes)
        seen.touched += params.random_ops
    else:
        chunk = params.readahead
        ends = [pages_each * n // params.steps // chunk * chunk for n in range(params.steps)]
        for window, (begin, until) in enumerate(
            zip(ends, [*ends[1:], pages_each], strict=True), start=1
        ):
            sequential(
                mm,
                *(U(n) for n in (begin, until, first, pages_each, params.threads, chunk)),
                U(params.burst),
                rate,
                action == "write",
            )
            seen.window(phase, window, mm)
        seen.touched += pages
    filemap.check(mm)
    if "write" in action:  # tiotest ends a phase of writes with fsync()
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
        "hits": ("pages", _hits(done)),
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


def _hits(done: Run) -> np.ndarray:
    writes = np.array(["write" in phase for phase in done.phases])
    return np.where(writes, 0, done.touched - done.read)


def summary(done: Run) -> pd.DataFrame:
    """One row a phase: DMA32's share of size and of allocations, hits, and the walk's cost.

    Returns
    -------
    DataFrame
        `phase`, `size` and `share` (DMA32's part of the managed pages of DMA32 and Normal, and of
        the allocations), `hits` (part of the pages touched), and `passes`, `tests`, `resets` an
        allocation.
    """
    low, high = (done.zones.index(name) for name in ("DMA32", "Normal"))
    each = done.allocated.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        of = {name: done.count[:, n] / each for n, name in enumerate(COUNTS)}
        share = done.allocated[:, low] / each
    return pd.DataFrame(
        {
            "phase": done.phases,
            "size": done.managed[low] / (done.managed[low] + done.managed[high]),
            "share": share,
            "hits": _hits(done) / done.touched,
            "passes": of["passes"],
            "tests": of["tests"],
            "resets": of["resets"],
        }
    )

"""What does a benchmark find cached when it reads what it has just written?

The model of `fairzone/tiobench` in the zones of a guest, with what the patched 6.12 has: one LRU
for the node, a kswapd that is content with one zone above its high watermark, page lists of the
CPU, and the slabs of buffer heads. kswapd runs as soon as the task gives way: after each page
written, and after each readahead window, which is allocated in one go.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.fairzone.model import filemap, pcp, zones
from lorelab.fairzone.model.zones import COUNTS, Node
from lorelab.fairzone.params import MODES, Reread, Variant
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.files import sequential, where_cached
from lorelab.fairzone.workload.machine import nap_pages
from lorelab.fairzone.workload.reread import NAME, PARTS, pages_of, plan
from lorelab.numerics import U

SHOWN = ("passes", "tests", "skips_batch", "resets", "rescans", "slowpaths")
"""Counters of the model that the kernel's patch has too."""
READAHEAD = 32
"""Pages of a readahead window."""
ZONES = ("dma", "dma32", "normal")
DMA = 3976
"""Managed pages of ZONE_DMA."""


def simulate(params: Reread) -> pd.DataFrame:
    """Counters of one run, in a guest whose kernel takes no memory for itself.

    Returns
    -------
    DataFrame
        Of the counters of `lorelab.fairzone.kernel.reread` those that a model has.
    """
    dma32, normal = params.dma32_mib, params.mib - params.dma32_mib
    managed = [DMA, dma32 * PAGES_A_MIB - 4096, normal * PAGES_A_MIB]
    marks = zones.watermarks(managed, params.min_free_kib)
    return play(params, node_of(params, managed, managed, marks, zones.lowmem_reserves(managed)))


def node_of(
    params: Reread,
    managed: list[int],
    free: list[int],
    marks: list[tuple[int, int, int]],
    reserves: np.ndarray,
) -> Node:
    """The zones of a guest, DMA first, under the policy of a mode and one LRU."""
    cpus = max(2, params.cpus)  # a kernel built for several CPUs, however many there are
    exact = params.exact
    node = zones.make(managed, Variant.NODE_LRU, cpus, 0, exact, marks=marks, reserves=reserves)
    traits = MODES[params.mode]._replace(node_lru=True, decides_first=True)
    zones.set_traits(node.info, traits)
    node.zone["free"] = free
    if not exact:
        # By the CPUs there are, not by those that the kernel is built for.
        folds_at = [zones.calculate_normal_threshold(pages, params.cpus) for pages in managed]
        node.zone["threshold"] = folds_at
    pcp.zone_set_pageset_high_and_batch(node, params.cpus)
    return node


def play(params: Reread, node: Node, own: Mapping[str, int] | None = None) -> pd.DataFrame:
    """Do the phases of a run in these zones, which change.

    `own` are the pages, by phase, that the program takes for itself as it starts, and gives back as
    it ends; none by default.
    """
    pages = pages_of(params)
    mm = filemap.make(node, pages, nap_pages(params.disk_mb_s), slabs=True)
    mm.kswapd["at_once"] = 1
    columns: dict[str, tuple[str, list[int]]] = {}
    for phase, writes, first, much in plan(params, pages):
        if phase == "read" and params.workload == "drop-caches":
            filemap.drop_caches(mm)
        cached = where_cached(mm, PARTS).sum(axis=1)
        before = node.count.astype(np.int64), node.zone["allocated"].copy(), int(mm.disk[0])
        frames = np.zeros(own[phase] if own else 0, np.uint32)
        filemap.take_own(mm, frames)
        turn = (0, much, first, much, 1, READAHEAD, 1 if writes else READAHEAD)
        filemap.check(mm)
        sequential(mm, *(U(n) for n in turn), 0, writes)
        filemap.check(mm)
        if writes:
            filemap.writeback(mm, mm.ring[1])
        filemap.give_own(mm, frames)
        counts = dict(zip(COUNTS, node.count.astype(np.int64) - before[0], strict=True))
        columns[f"{phase}_touched"] = ("pages", [much])
        if not writes:
            columns[f"{phase}_hits"] = ("pages", [much - (int(mm.disk[0]) - before[2])])
        for zone, each in zip(ZONES, node.zone["allocated"] - before[1], strict=True):
            columns[f"{phase}_allocated_0_{zone}"] = ("pages", [int(each)])
        for name in SHOWN:
            columns[f"{phase}_{name}"] = (name, [int(counts[name])])
        for part, each in enumerate(cached):
            columns[f"{phase}_cached_{part:02}"] = ("pages", [int(each)])
    return table(NAME, params.mode, "model", columns)

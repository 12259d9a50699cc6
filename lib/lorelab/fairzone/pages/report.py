"""What the policy makes of the zones of one machine: one row a zone, and each variant's shares."""

import pandas as pd

from lorelab.fairzone.model import filemap
from lorelab.fairzone.params import Variant
from lorelab.fairzone.recording.zoneinfo import MOST_FRAMES, Dump, Zone, make, reserves
from lorelab.fairzone.workload.files import FIXED_POINT, sequential
from lorelab.numerics import U
from lorelab.params import label

RATE, DISK_MB_S, CPUS = 30, 132, 4
OWN = {
    True: "your kernel is the column node-lru: since 4.8 all zones of a node share one LRU",
    False: "your kernel is of 3.12 to 4.7: as released, 3.12 is the column v3.12, 3.13 and 3.14 "
    "v3.13, 3.15 and 3.16 baseline, 3.17 to 4.6 fixed, 4.7 v4.7; a stable series may have a later "
    "one's policy (3a025760fc15: baseline)",
    None: "your kernel is the column node-lru if it is 4.8 or later; the file does not tell",
}


def notes(dump: Dump, disk_mb_s: float = DISK_MB_S, page_kib: int = 4) -> list[str]:
    """What a reader has to know of the table: the disk, the own kernel, and what is left out."""
    lines = [
        f"shares are the model's, on a disk of {disk_mb_s:g} MB/s and with pages of {page_kib} KiB",
        f"whatever your machine has, the model has {CPUS} CPUs, and a kswapd that looks at {RATE} "
        "pages while the disk moves one",
        OWN[dump.node_lru],
    ]
    if dump.empty:
        zones = ", ".join(f"node {node} {name}" for node, name in dump.empty)
        lines.append(f"left out, for they have no managed pages: {zones}")
    for node_zones in dump.nodes:
        if sum(zone.managed for zone in node_zones) > MOST_FRAMES:
            lines.append(
                f"node {node_zones[0].node} has no shares: {MOST_FRAMES} pages are simulated"
            )
    if len(dump.nodes) > 1:
        lines.append("each node by itself: what spills from one to another is not modelled")
    return lines


def nodes(every: list[list[Zone]], disk_mb_s: float = DISK_MB_S, page_kib: int = 4) -> pd.DataFrame:
    """`summary` of each node, one below the other: a policy spreads over the zones of one node."""
    tables = [summary(node_zones, disk_mb_s, page_kib) for node_zones in every]
    return pd.concat(tables, ignore_index=True)


def summary(
    node_zones: list[Zone], disk_mb_s: float = DISK_MB_S, page_kib: int = 4
) -> pd.DataFrame:
    """Marks, reserves and shares of each zone.

    Parameters
    ----------
    node_zones : list of Zone
        Of one node.
    disk_mb_s : float
        Throughput of the disk; 0: kswapd never naps.
    page_kib : int
        Size of a page.

    Returns
    -------
    DataFrame
        `node`, `zone`, `managed`, `free`, `min`, `low`, `high`, `reserve`, `batch` in pages;
        `reachable`, whether an allocation of the highest class can ever use it; `size`, its part
        of the managed pages in per cent, and for each variant its part of the allocations that
        read memory's size once memory is full (nan above `MOST_FRAMES` pages).
    """
    kept = reserves(node_zones)[:, -1]
    whole = sum(zone.managed for zone in node_zones)
    table = pd.DataFrame(
        [
            (zone.node, zone.name, zone.managed, zone.free, zone.min, zone.low, zone.high)
            for zone in node_zones
        ],
        columns=["node", "zone", "managed", "free", "min", "low", "high"],
    )
    table["reserve"] = kept
    table["batch"] = table["high"] - table["low"]
    table["reachable"] = table["managed"] > table["low"] + kept
    table["size"] = (100 * table["managed"] / whole).round(2)
    for variant in Variant:
        table[label(variant)] = (
            _shares(node_zones, variant, round(disk_mb_s * 1e6 / 10 / (page_kib << 10)))
            if whole <= MOST_FRAMES
            else float("nan")
        )
    return table


def _shares(node_zones: list[Zone], variant: Variant, nap_pages: int) -> list[float]:
    node = make(node_zones, variant, CPUS)
    pages = int(node.zone["managed"].sum())
    mm = filemap.make(node, 2 * pages, nap_pages)
    before = 0
    for begin, until in ((0, pages // 32 * 32), (pages // 32 * 32, 2 * pages)):
        before = node.zone["allocated"].copy()
        numbers = (begin, until, 0, 2 * pages, 1, 32, 32)
        sequential(mm, *(U(n) for n in numbers), RATE * FIXED_POINT, False)
        filemap.check(mm)
    taken = node.zone["allocated"] - before
    return [round(float(100 * each / taken.sum()), 2) for each in taken]

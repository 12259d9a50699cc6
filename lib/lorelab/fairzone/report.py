"""What the policy makes of the zones of one machine: one row a zone, and each variant's shares."""

import pandas as pd

from lorelab.fairzone.model import filemap
from lorelab.fairzone.params import Variant
from lorelab.fairzone.workload.files import FIXED_POINT, sequential
from lorelab.fairzone.zoneinfo import MOST_FRAMES, Zone, make, reserves
from lorelab.numerics import PAGE, U
from lorelab.params import label

RATE, DISK_MB_S = 30, 132


def nodes(every: list[list[Zone]]) -> pd.DataFrame:
    """`summary` of each node, one below the other: a policy spreads over the zones of one node."""
    return pd.concat([summary(found) for found in every], ignore_index=True)


def summary(found: list[Zone]) -> pd.DataFrame:
    """Marks, reserves and shares of each zone.

    Returns
    -------
    DataFrame
        `node`, `zone`, `managed`, `free`, `min`, `low`, `high`, `reserve`, `batch` in pages;
        `reachable`, whether an allocation of the highest class can ever use it; `size`, its part
        of the managed pages in per cent, and for each variant its part of the allocations that
        read memory's size once memory is full, on a disk of 132 MB/s (nan above 256 GiB).
    """
    kept = reserves(found)[:, -1]
    whole = sum(zone.managed for zone in found)
    table = pd.DataFrame(
        [
            (zone.node, zone.name, zone.managed, zone.free, zone.min, zone.low, zone.high)
            for zone in found
        ],
        columns=["node", "zone", "managed", "free", "min", "low", "high"],
    )
    table["reserve"] = kept
    table["batch"] = table["high"] - table["low"]
    table["reachable"] = table["managed"] > table["low"] + kept
    table["size"] = (100 * table["managed"] / whole).round(2)
    for variant in Variant:
        table[label(variant)] = _shares(found, variant) if whole <= MOST_FRAMES else float("nan")
    return table


def _shares(found: list[Zone], variant: Variant) -> list[float]:
    node = make(found, variant)
    pages = int(node.zone["managed"].sum())
    mm = filemap.make(node, 2 * pages, round(DISK_MB_S * 1e6 / PAGE / 10))
    before = 0
    for begin, until in ((0, pages // 32 * 32), (pages // 32 * 32, 2 * pages)):
        before = node.zone["allocated"].copy()
        numbers = (begin, until, 0, 2 * pages, 1, 32, 32)
        sequential(mm, *(U(n) for n in numbers), RATE * FIXED_POINT, False)
        filemap.check(mm)
    taken = node.zone["allocated"] - before
    return [round(float(100 * each / taken.sum()), 2) for each in taken]

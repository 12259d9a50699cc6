"""What pages show of a run of the model: its phases, and the closed forms of what it does."""

import numpy as np
import pandas as pd

from lorelab.fairzone.experiments.tiobench import Run, hits
from lorelab.fairzone.model.zones import COUNTS
from lorelab.fairzone.params import Batches
from lorelab.fairzone.workload.machine import node_of


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
            "hits": hits(done) / done.touched,
            "passes": of["passes"],
            "tests": of["tests"],
            "resets": of["resets"],
        }
    )


def hit_fraction(size: float, share: float, data: float) -> float:
    """What a cyclic reader of `data` sizes of memory finds: the closed form of a FIFO zone.

    A page of a zone with part `size` of memory and `share` of the allocations stays for
    size / share of memory's size; the reader comes back after `data` of them less what it finds.
    With share 0 the zone is static, and size / data of the reads hit; pages of a zone that is
    used stay long enough if share < size / data, and then the zone, less used still, turns static.
    """
    return size / data if share < size / data else 0.0


def hits_after_write(size: float, share: float, data: float = 2.0) -> float:
    """What a reader finds of a part of the file that a zone kept through the write.

    The zone filled last holds the file from 1 - size to 1 of memory's size. While the reader comes
    near, its misses replace `share` of a page each, from that part's start on: it meets what is
    left at y = share (1 - size) / (1 - share), and size - y of the part is still there.
    """
    left = size - share * (1 - size) / (1 - share)
    return max(left, 0.0) / data


def most_deferred(params: Batches) -> float:
    """How far deferral alone moves a zone's share, in parts of all allocations.

    What a zone gave over a run is what resets added to its counter, less what the counter changed
    by. A CPU's part of the change is folded beyond the threshold, so all CPUs together hold back no
    more than threshold x CPUs of a zone's pages, once. What drift did at every reset would add up
    over the resets, and pass this.
    """
    zone = node_of(params).zone
    allocations = zone["managed"].sum() * params.percent / 100
    return float(zone["threshold"].max() * params.cpus / allocations)

"""Memory filled by reading, then read through further: what batches and inversion look at."""

import numpy as np

from lorelab.fairzone.model import filemap
from lorelab.fairzone.model.filemap import Memory
from lorelab.fairzone.params import Machine
from lorelab.fairzone.workload.files import FIXED_POINT, sequential
from lorelab.fairzone.workload.machine import nap_pages, node_of
from lorelab.numerics import U


def run(
    params: Machine, rate: float, percent: int, threads: int = 1, turn: int = 32
) -> tuple[Memory, np.ndarray, np.ndarray]:
    """Read files of `100 + percent` per cent of memory, no page twice.

    Returns
    -------
    Memory, counts, allocated
        Counters and allocations of each zone over what came after the first 100 per cent.

    Raises
    ------
    RunFailed
        The memory has no page left to give.
    """
    node = node_of(params)
    pages = int(node.zone["managed"].sum())
    each = pages * (100 + percent) // 100 // threads
    full = pages // threads // turn * turn
    mm = filemap.make(node, each * threads, nap_pages(params.disk_mb_s))
    speed = round(rate * FIXED_POINT)
    before = []
    for begin, until in ((0, full), (full, each)):
        before.append((node.count.copy(), node.zone["allocated"].copy()))
        numbers = (begin, until, 0, each, threads, turn, params.burst)
        sequential(mm, *(U(n) for n in numbers), speed, False)
        filemap.check(mm)
    counts = (node.count - before[1][0]).astype(np.int64)
    return mm, counts, node.zone["allocated"] - before[1][1]

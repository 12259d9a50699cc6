"""Free pages of each zone while the disk reads on, and what makes kswapd run: kswapd's nap, seen.

It is seen on a copy of the memory. Reading on in many small pieces ends each with kswapd's turn,
which a run whose counters are reported does not have.
"""

import numpy as np

from lorelab.fairzone.model.filemap import Memory
from lorelab.fairzone.model.lru import Frames
from lorelab.fairzone.model.zones import HIGH_WMARK_HIT_QUICKLY, PAGEOUTRUN, Node
from lorelab.fairzone.workload import PAGES_A_MIB as MIB  # data/panels rests on the name
from lorelab.fairzone.workload.files import FIXED_POINT, sequential
from lorelab.numerics import U, njit, outline

SEEN = 250
"""MiB that the disk moves."""
MOMENTS = SEEN + 1
"""At most: one as the disk begins, and one a MiB."""
NAP, ALLOCATOR = 1, 2
"""What makes kswapd run before the next moment; 0 where nothing does."""
MOVED, STARTS, MARKS = range(3)
"""Columns of `trace`: pages that the disk has moved; one of the above; and from MARKS on for each
zone its free pages, the high watermark, and the low one with what the zone keeps from the class."""


@njit
def copied(mm):
    """The same memory once more."""
    node, frames = mm.node, mm.frames
    return Memory(
        Node(
            node.zone.copy(),
            node.lowmem_reserve.copy(),
            node.zonelist.copy(),
            node.percpu.copy(),
            node.info.copy(),
            node.count.copy(),
        ),
        Frames(
            frames.prev.copy(),
            frames.next.copy(),
            frames.index.copy(),
            frames.flags.copy(),
            frames.start.copy(),
            frames.free_head.copy(),
            frames.nr.copy(),
            frames.inactive_age.copy(),
        ),
        mm.map.copy(),
        mm.kswapd.copy(),
        mm.scan.copy(),
        mm.credit.copy(),
        mm.dirtied.copy(),
        mm.ring.copy(),
        mm.disk.copy(),
        mm.slab.copy(),
        mm.slabs.copy(),
        mm.failed.copy(),
    )


@outline
def trace(mm, setting, phase, each, n, rows):
    """Read on at window `n` of a sequential phase until the disk has moved `SEEN` MiB.

    It ends earlier where the files do, or where memory has no page left.

    Parameters
    ----------
    mm : Memory
        A copy.
    setting, phase, each, n
        As `lorelab.fairzone.experiments.tiobench.window` has them.
    rows : (MOMENTS, MARKS + 3 * zones) i8
        Filled; columns as above.

    Returns
    -------
    int
        Rows that are.
    """
    p, node, chunk = setting[0], mm.node, setting[0].readahead
    count = node.count
    rate = np.int64(round(p.kswapd_rate * FIXED_POINT))
    first, begun = phase.file * each * p.threads, mm.disk[0]
    at = each * n // p.steps // chunk * chunk
    used, moved = 0, 0
    runs, naps = count[PAGEOUTRUN], count[HIGH_WMARK_HIT_QUICKLY]
    while moved < SEEN * MIB and at + chunk <= each:
        sequential(
            mm, U(at), U(at + chunk), U(first), U(each), U(p.threads), U(chunk), U(p.burst), rate,
            False,
        )  # fmt: skip
        if mm.failed[0]:
            break
        at += chunk
        moved = np.int64(mm.disk[0] - begun)
        if moved < used * MIB:
            continue
        rows[used, MOVED] = moved
        for z in range(len(node.zone)):
            one, cell = node.zone[z], MARKS + 3 * z
            rows[used, cell] = one.free
            rows[used, cell + 1] = one.high
            rows[used, cell + 2] = one.low + node.lowmem_reserve[z, node.info[0].classzone]
        # Seen a moment late: where the zone is at its lowest, not where it has been refilled.
        if used and count[PAGEOUTRUN] > runs:
            by_nap = count[HIGH_WMARK_HIT_QUICKLY] > naps
            rows[used - 1, STARTS] = NAP if by_nap else ALLOCATOR
        runs, naps = count[PAGEOUTRUN], count[HIGH_WMARK_HIT_QUICKLY]
        used += 1
    return used

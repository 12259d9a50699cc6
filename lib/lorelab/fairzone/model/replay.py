"""A kernel's own walks of the zonelist, one after the other, and what the model says to each.

Given are: which CPU asked, for how many pages, of which class, and the free pages that each zone
had. What is not: batches and their per-CPU parts, which zones are skipped for them, when they are
reset, how many passes that takes, and which zone gives the page.
"""

from typing import NamedTuple

import numpy as np

from lorelab.fairzone.model.page_alloc import NOT, buffered_rmqueue, get_page_from_freelist
from lorelab.fairzone.model.zones import (
    NONE,
    PASSES,
    RESETS,
    SKIPS_BATCH,
    SKIPS_WATERMARK,
    Node,
)
from lorelab.fairzone.params import Fair
from lorelab.numerics import ONE, U, njit, outline

FAIR, RESET, LEFT, BULK, FAST = (U(1 << bit) for bit in range(5))
"""Flags of an event in the kernel's patch: EVENT_*."""
NO = int(Fair.NO)
NO_ZONE = U(0xFF)
ENOUGH = 1 << 40
"""Free pages that no watermark refuses."""

COMPARED = ("zone", "passes", "skips_batch", "skips_watermark", "reset", "batch", "diff")
"""What is compared of a walk; batch and diff are of the zone that gave the page, afterwards.

Not all of it is compared of each walk. Batch and diff are known of the last of alike walks alone,
and where no zone gave a page there are none. Of a bulk allocation the zone is given, and it makes
no walk. Which zones fail their watermark is given where free pages do not decide it: of a block of
several pages, and in the slow path. How often they are asked is compared there, too.
"""
ZONE, PASS, BATCHES, LOW, RESET_BY, BATCH, DIFF = range(len(COMPARED))


class Walks(NamedTuple):
    """Walks in their order; alike ones that follow one another are one entry."""

    count: np.ndarray  # (n,) u8: how many
    cpu: np.ndarray  # (n,) u8
    zone: np.ndarray  # (n,) u8: that gave the page, NO_ZONE if none did
    order: np.ndarray  # (n,) u8; of a bulk allocation: pages
    flags: np.ndarray  # (n,) u8
    skipped: np.ndarray  # (n,) u8: zones skipped for their batch, a bit each
    low: np.ndarray  # (n, 2) u8: zones that failed otherwise, in the first and the second pass
    passes: np.ndarray  # (n,) u8
    klass: np.ndarray  # (n,) u8: highest zone of the allocation
    batch: np.ndarray  # (n,) i8: after the last one
    diff: np.ndarray  # (n,) i8
    free: np.ndarray  # (n, zones) i8: of a zone that failed the most, otherwise the least


@outline
def _bits(mask):
    bits = U(0)
    while mask:
        bits += mask & ONE
        mask >>= ONE
    return bits


@outline
def _tell_free(node, walks, n, forced):
    # What the watermark tests of the walk find; `forced`: more than free pages decides them.
    failed = walks.low[n, 0] | walks.low[n, 1]
    for z in range(U(len(node.zone))):
        fails = (failed >> z) & ONE
        if forced:
            node.zone[z].free = -ENOUGH if fails else ENOUGH
        else:
            node.zone[z].free = walks.free[n, z]


@njit
def follow(
    nodes: tuple[Node, ...],
    walks: Walks,
    compared: np.ndarray,
    same: np.ndarray,
    inputs: np.ndarray,
    whole: np.ndarray,
) -> int:
    """Let the model make each walk.

    Parameters
    ----------
    nodes : tuple of Node
        By the highest zone of an allocation, all on the same counters.
    walks : Walks
    compared, same, inputs : (n, COMPARED) i8
        Filled: how many walks of each entry were compared, how many of these the model has as the
        kernel, and for how many what the kernel had was an input.
    whole : (n,) i8
        Filled: walks of which all that was compared is the kernel's.

    Returns
    -------
    int
        Watermark tests that the model made from free pages.
    """
    tests = 0
    for n in range(U(len(walks.count))):
        k = min(U(walks.klass[n]), U(len(nodes) - 1))
        node = nodes[k]
        cpu = U(walks.cpu[n])
        flags = U(walks.flags[n])
        last = U(walks.count[n]) - ONE
        for turn in range(U(walks.count[n])):
            before = node.count.copy()
            was = same[n].sum() - compared[n].sum()
            if flags & BULK:
                node.info[0].pages = np.int64(walks.order[n])
                z = U(walks.zone[n])
                buffered_rmqueue(node, z, cpu)
                inputs[n, ZONE] += 1
            else:
                node.info[0].pages = np.int64(1) << np.int64(walks.order[n])
                fast = flags & FAST != U(0)
                forced = walks.order[n] > 0 or not fast
                _tell_free(node, walks, n, forced)
                fair = fast and node.info[0].fair != NO
                z = get_page_from_freelist(node, cpu, fair, fast, NOT)
                counted = node.count - before
                for column in range(BATCH):
                    compared[n, column] += 1
                same[n, ZONE] += z == U(walks.zone[n])
                same[n, PASS] += counted[PASSES] == walks.passes[n]
                same[n, BATCHES] += counted[SKIPS_BATCH] == _bits(U(walks.skipped[n]))
                same[n, RESET_BY] += (counted[RESETS] > 0) == (flags & RESET != U(0))
                low = _bits(U(walks.low[n, 0])) + _bits(U(walks.low[n, 1]))
                same[n, LOW] += counted[SKIPS_WATERMARK] == low
                if forced:
                    inputs[n, LOW] += 1
                else:
                    tests += np.int64(counted[SKIPS_WATERMARK]) + (z != NONE)
            if z != NONE and turn == last:
                compared[n, BATCH] += 1
                compared[n, DIFF] += 1
                same[n, BATCH] += node.zone[z].nr_alloc_batch == walks.batch[n]
                same[n, DIFF] += node.percpu[z, cpu] == walks.diff[n]
            whole[n] += same[n].sum() - compared[n].sum() == was
    return tests

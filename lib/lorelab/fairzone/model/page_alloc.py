"""The allocator's walk over the zonelist, and the policy of each variant (mm/page_alloc.c).

`get_page_from_freelist()` here gives the zone that the kernel's takes a page from. Which zones a
pass may use stands in `_scan()`, and what follows a fair pass that found none in `_after_fair()`.
"""

import numpy as np

from lorelab.fairzone.model.pcp import rmqueue_pcplist
from lorelab.fairzone.model.vmstat import batch_is_used, mod_zone_page_state
from lorelab.fairzone.model.zones import (
    FAILED,
    FAILED_BY_BATCH,
    FAILED_BY_BOTH,
    FAILED_BY_WATERMARK,
    NONE,
    PASSES,
    RESCANS,
    RESETS,
    SKIPS_BATCH,
    SKIPS_DIRTY,
    SKIPS_REMOTE,
    SKIPS_WATERMARK,
    SLOWPATHS,
    SPILLS,
    TESTS,
)
from lorelab.fairzone.params import Depleted, Fair, Reset
from lorelab.numerics import ONE, ZERO, U, forceinline, outline

YES, NOT = np.bool_(True), np.bool_(False)
"""For arguments: numba compiles a function anew for each literal True or False that it is given."""
COUNTER = int(Depleted.COUNTER)
FLAG = int(Depleted.FLAG)
FLAG_BELOW = int(Depleted.FLAG_BELOW)
NO = int(Fair.NO)
FIRST_PASS = int(Fair.FIRST_PASS)
SLOWPATH = int(Reset.SLOWPATH)
ALWAYS = int(Reset.ALWAYS)
NO_BATCH_LEFT = int(Reset.NO_BATCH_LEFT)
NO_LOCAL_BATCH_LEFT = int(Reset.NO_LOCAL_BATCH_LEFT)
NO_REACHABLE_BATCH_LEFT = int(Reset.NO_REACHABLE_BATCH_LEFT)
WATERMARK_OR_ALL = int(Reset.WATERMARK_OR_ALL)
SKIPPED = int(Reset.SKIPPED)


@forceinline
def zone_watermark_ok(node, z, mark, classzone):
    """Whether more than `mark` and what is kept from the class is free (order 0)."""
    return node.zone[z].free > mark + node.lowmem_reserve[z, classzone]


@forceinline
def zone_dirtyable_memory(node, z):
    """Pages of the zone that may be written to; all that is not free is page cache."""
    return node.zone[z].managed - node.zone[z].dirty_reserve


@outline
def node_dirty_ok(node, z):
    """The same of all zones of the zone's node: since 4.8 the limit is the node's."""
    limit = dirty = 0
    for other in range(U(len(node.zone))):
        if node.zone[other].node == node.zone[z].node:
            limit += zone_dirtyable_memory(node, other)
            dirty += node.zone[other].dirty
    return dirty <= limit * node.info[0].dirty_ratio // 100


@forceinline
def zone_dirty_ok(node, z):
    """Whether a page that will be written to may still come from the zone."""
    if node.info[0].node_lru:
        return node_dirty_ok(node, z)
    limit = zone_dirtyable_memory(node, z) * node.info[0].dirty_ratio // 100
    return node.zone[z].dirty <= limit


@forceinline
def zone_is_fair_depleted(node, z):
    """Whether the zone has had its turn: by its counter or by its flag."""
    if node.info[0].depleted == COUNTER:
        return batch_is_used(node, z)
    return node.zone[z].depleted != 0


@forceinline
def buffered_rmqueue(node, z, cpu):
    """Take a block from the zone, and count its pages against the batch."""
    zone = node.zone[z]
    pages = node.info[0].pages
    if zone.pcp_batch:
        rmqueue_pcplist(zone, node.info[0].list, pages)
    else:
        zone.free -= pages
    zone.allocated += pages
    if zone.node:
        node.count[SPILLS] += ONE
    if zone.takes_part:
        mod_zone_page_state(node, z, cpu, -pages)
        rule = node.info[0].depleted
        if (rule == FLAG and batch_is_used(node, z)) or (
            rule == FLAG_BELOW and zone.nr_alloc_batch <= 0
        ):
            zone.depleted = 1


@outline
def reset_alloc_batches(node, cpu):
    """Start a new round: add to each counter what is missing of its batch."""
    info = node.info[0]
    node.count[RESETS] += ONE
    for z in range(U(len(node.zone))):
        zone = node.zone[z]
        if (zone.node and info.remote == 0) or (info.only_depleted and zone.depleted == 0):
            continue
        mod_zone_page_state(node, z, cpu, zone.batch - zone.nr_alloc_batch)
        zone.depleted = 0


@outline
def _scan(node, cpu, fair, mark_low, writes):
    """Walk the zonelist once; what its zones were skipped for is counted.

    Returns
    -------
    zone, skipped, low, left, reuse
        The zone that a page was taken from, or NONE; zones skipped for their batch and for their
        watermark; whether a zone that the variant asks had batch left; and the first depleted zone
        above its watermark, or NONE.
    """
    info = node.info[0]
    node.count[PASSES] += ONE
    classzone = U(info.classzone)
    skipped = low = ZERO
    left = False
    reuse = NONE
    for z in node.zonelist:
        zone = node.zone[z]
        node.count[TESTS] += ONE
        mark = zone.low if mark_low else zone.min
        used = False
        if fair:
            remote = zone.node != 0 and info.remote == 0
            if remote and info.reset != NO_BATCH_LEFT and info.goes_on == 0:
                node.count[SKIPS_REMOTE] += ONE
                if info.breaks:
                    break
                continue
            if zone.takes_part == 0:
                break
            used = zone_is_fair_depleted(node, z)
            if used and (info.reuse == 0 or reuse != NONE):
                node.count[SKIPS_BATCH] += ONE
                skipped += ONE
                continue
            if not used and (
                info.reset != NO_REACHABLE_BATCH_LEFT
                or zone.managed > mark + node.lowmem_reserve[z, classzone]
            ):
                left = True
            if remote and info.goes_on:
                if skipped:
                    break
                fair = False
            elif remote:  # v1 asks a remote zone for its batch before it asks where it is
                node.count[SKIPS_REMOTE] += ONE
                continue
        if writes and mark_low and not zone_dirty_ok(node, z):
            node.count[SKIPS_DIRTY] += ONE
            continue
        if not zone_watermark_ok(node, z, mark, classzone):
            node.count[SKIPS_WATERMARK] += ONE
            low += ONE
            continue
        if used:
            node.count[SKIPS_BATCH] += ONE
            skipped += ONE
            reuse = z
            continue
        buffered_rmqueue(node, z, cpu)
        return z, skipped, low, left, reuse
    return NONE, skipped, low, left, reuse


@forceinline
def _resets(node, skipped, low, left):
    # Whether a fair pass that found nothing is followed by a reset; see `Reset`.
    rule = node.info[0].reset
    if rule == SLOWPATH:
        return False
    if rule == ALWAYS:
        return True
    if rule == SKIPPED:
        return skipped != ZERO
    if rule == WATERMARK_OR_ALL:
        return low != ZERO or not left
    return not left


@outline
def get_page_from_freelist(node, cpu, fair, mark_low, writes):
    """Take a page from the first zone that may give one.

    Parameters
    ----------
    node : Node
    cpu : uint64
        CPU that allocates.
    fair : bool
        ALLOC_FAIR: the first pass keeps to the batches.
    mark_low : bool
        The low watermark counts (ALLOC_WMARK_LOW), not the min one.
    writes : bool
        The page will be written to (__GFP_WRITE): zones over their part of the dirty limit are
        left alone, at the low watermark.

    Returns
    -------
    uint64
        The zone, or NONE.
    """
    z, skipped, low, left, reuse = _scan(node, cpu, fair, mark_low, writes)
    if z != NONE or not fair:
        return z
    info = node.info[0]
    node.count[FAILED] += ONE
    if skipped and low:
        node.count[FAILED_BY_BOTH] += ONE
    elif skipped:
        node.count[FAILED_BY_BATCH] += ONE
    elif low:
        node.count[FAILED_BY_WATERMARK] += ONE
    resets = _resets(node, skipped, low, left)
    if resets:
        reset_alloc_batches(node, cpu)
    if info.fair != FIRST_PASS:
        return NONE
    if reuse != NONE:
        buffered_rmqueue(node, reuse, cpu)
        return reuse
    others = info.nodes > 1 and info.goes_on == 0
    if not (info.rescans_anyway or others or (resets and info.reuse == 0)):
        return NONE
    node.count[RESCANS] += ONE
    return _scan(node, cpu, NOT, mark_low, writes)[0]


@forceinline
def alloc_fast(node, cpu, writes):
    """The fast path of __alloc_pages_nodemask(): the zone, or NONE for the slow path."""
    return get_page_from_freelist(node, cpu, node.info[0].fair != NO, YES, writes)


@outline
def enter_slowpath(node, cpu):
    """What 3.12 and 3.13 do at each entry of the slow path, beside waking kswapd."""
    node.count[SLOWPATHS] += ONE
    if node.info[0].reset == SLOWPATH and node.info[0].fair != NO:
        reset_alloc_batches(node, cpu)

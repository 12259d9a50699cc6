"""What frees pages: kswapd and direct reclaim, as 3.15 had them (mm/vmscan.c), or as 6.12 has.

kswapd runs beside the task that allocates, so it is taken apart into chunks of SWAP_CLUSTER_MAX
pages: `kswapd()` does as many as its credit lasts, and goes on later where it stopped. A credit is
one page looked at.

        balance_pgdat     per priority 12, 11, ...: the highest zone below its high watermark
          `- kswapd_shrink_zone   from the lowest zone to that one, unless it has
               |                  high + balance gap + lowmem_reserve free
               `- shrink_lruvec   pages on the list >> priority, until `high` are freed

Simplifications: no anonymous memory, no slab, no memory cgroups; pages are not mapped. kswapd does
not write dirty pages, it leaves them on the list (`rotated` counts them, and is 0 or near it
wherever the flusher keeps the tail of the list clean). A nap is as long as the disk takes for
`nap_pages` on average; how many it moves meanwhile may vary (`nap_spread`).
"""

import numpy as np

from lorelab.fairzone.model.lru import (
    ACTIVE,
    INACTIVE,
    KEEP_ALL,
    PG_ACTIVE,
    PG_DIRTY,
    PG_PRIVATE,
    PG_RECLAIM,
    PG_REFERENCED,
    give_frame,
    head_of,
    list_of,
    lru_add,
    lru_del,
    zone_of,
)
from lorelab.fairzone.model.page_alloc import zone_watermark_ok
from lorelab.fairzone.model.pcp import free_page
from lorelab.fairzone.model.slab import free_buffer_head
from lorelab.fairzone.model.zones import (
    DIRECT_RECLAIMS,
    HIGH_WMARK_HIT_QUICKLY,
    LOW_WMARK_HIT_QUICKLY,
    PAGEOUTRUN,
    REFAULTS_ACTIVATED,
    ROTATED,
    WAKEUPS,
)
from lorelab.numerics import GOLDEN, ONE, TWO, ZERO, U, forceinline, outline, splitmix64

SWAP_CLUSTER_MAX = U(32)
DEF_PRIORITY = U(12)
KSWAPD_ZONE_BALANCE_GAP_RATIO = 100

SHADOW = np.uint32(1 << 31)
"""An entry of the file's map that remembers when and whence its page was evicted."""
MAX_RECLAIM_RETRIES = U(16)
"""Runs in vain after which kswapd gives up on the node (mm/internal.h, since 4.12)."""
HOPELESS = U(3)
"""Of Memory.failed: kswapd would give up, which the model does not go on from."""
ENDLESS = np.int64(1 << 62)
"""Credit that is never used up."""
AGE_BITS = U(28)
AGE_MASK = U((1 << 28) - 1)

KSWAPD = np.dtype(
    [
        (name, "u8")
        for name in (
            "state",  # ASLEEP, NAPPING or AWAKE
            "nap",  # what is left of a nap, in pages of the disk
            "nap_pages",  # HZ/10, in pages of the disk; 0: it never naps
            "nap_spread",  # as many more or less, each equally likely
            "nap_draws",  # state of what says how many
            "priority",
            "i",  # zone that is being shrunk
            "end_zone",
            "round",  # a walk over the zones is under way
            "scanning",  # and so is the scan of zone i
            "raise_priority",
            "nr_reclaimed",  # of this walk
            "at_once",  # it runs as soon as the task gives way
            "balance_reserves",  # false: neither balance gap nor lowmem reserve is kept free
            "failures",  # runs in vain, one after the other (kswapd_failures)
            "refaults",  # that had been activated when reclaim last ended (snapshot_refaults())
        )
    ]
)
SCAN = np.dtype(
    [
        (name, "u8")
        for name in (
            "inactive",  # pages still to be looked at
            "active",
            "to_reclaim",
            "reclaimed",
            "scanned",
            "whole",  # go on when enough is reclaimed (scan_adjusted)
            "may_deactivate",  # demote active pages, where that is decided first
        )
    ]
)
OF_KSWAPD, DIRECT = ZERO, ONE
ASLEEP, NAPPING, AWAKE = ZERO, ONE, TWO
"""kswapd sleeps a tenth of a second before it sleeps for good (kswapd_try_to_sleep())."""


@forceinline
def shadow_of(frames, lru):
    """workingset_eviction(): where and when."""
    frames.inactive_age[lru] += ONE
    return U(SHADOW) | (lru << AGE_BITS) | (frames.inactive_age[lru] & AGE_MASK)


@outline
def shrink_inactive_list(mm, lru, nr_to_scan):
    """Look at pages from the tail: free the clean ones, put the dirty ones back to the head.

    Returns
    -------
    scanned, reclaimed : uint64
    """
    frames = mm.frames
    head = head_of(frames, lru, INACTIVE)
    nr_to_scan = min(nr_to_scan, frames.nr[lru, INACTIVE])
    reclaimed = ZERO
    for _ in range(nr_to_scan):
        frame = U(frames.prev[head])
        lru_del(frames, frame, lru, INACTIVE)
        flags = frames.flags[frame]
        if flags & PG_DIRTY:
            frames.flags[frame] = (flags | PG_RECLAIM) & (KEEP_ALL ^ PG_REFERENCED)
            mm.node.count[ROTATED] += ONE
            lru_add(frames, frame, lru, INACTIVE)
            continue
        # An unmapped page that was used once is clean and so reclaimed (PAGEREF_RECLAIM_CLEAN).
        z = zone_of(frames, frame)
        mm.map[frames.index[frame]] = shadow_of(frames, lru)
        if flags & PG_PRIVATE:
            free_buffer_head(mm)
        give_frame(frames, frame, z)
        free_page(mm.node, z)
        mm.node.zone[z].reclaimed += 1
        reclaimed += ONE
    return nr_to_scan, reclaimed


@outline
def shrink_active_list(mm, lru, nr_to_scan):
    """Demote pages from the tail of the active list; the bit of a use since stays."""
    frames = mm.frames
    head = head_of(frames, lru, ACTIVE)
    for _ in range(min(nr_to_scan, frames.nr[lru, ACTIVE])):
        frame = U(frames.prev[head])
        lru_del(frames, frame, lru, ACTIVE)
        frames.flags[frame] &= KEEP_ALL ^ PG_ACTIVE
        lru_add(frames, frame, lru, INACTIVE)


@forceinline
def inactive_file_is_low(frames, lru):
    return frames.nr[lru, ACTIVE] > frames.nr[lru, INACTIVE]


@forceinline
def prepare_scan_control(mm, lru):
    """Whether to demote: there are too few inactive pages, or evicted ones came back since."""
    since = mm.node.count[REFAULTS_ACTIVATED] - mm.kswapd[0].refaults
    return ONE if since or inactive_file_is_low(mm.frames, lru) else ZERO


@forceinline
def snapshot_refaults(mm):
    mm.kswapd[0].refaults = mm.node.count[REFAULTS_ACTIVATED]


@forceinline
def get_scan_count(mm, scan, lru, priority):
    """How many pages of each list: its length >> priority."""
    scan.may_deactivate = prepare_scan_control(mm, lru)
    scan.inactive = mm.frames.nr[lru, INACTIVE] >> priority
    scan.active = mm.frames.nr[lru, ACTIVE] >> priority
    scan.reclaimed = ZERO
    scan.scanned = ZERO


@outline
def shrink_lruvec_chunk(mm, scan, lru):
    """One turn of the loop in shrink_lruvec(): up to 32 pages of each list.

    Returns
    -------
    uint64
        Pages looked at; none are left to look at once `scan.inactive` and `scan.active` are 0.
    """
    cost = ZERO
    if scan.inactive:
        nr_to_scan = min(scan.inactive, SWAP_CLUSTER_MAX)
        scan.inactive -= nr_to_scan
        scanned, reclaimed = shrink_inactive_list(mm, lru, nr_to_scan)
        scan.scanned += scanned
        scan.reclaimed += reclaimed
        cost += scanned
    if scan.active:
        nr_to_scan = min(scan.active, SWAP_CLUSTER_MAX)
        scan.active -= nr_to_scan
        decided = mm.node.info[0].decides_first
        if scan.may_deactivate if decided else inactive_file_is_low(mm.frames, lru):
            shrink_active_list(mm, lru, nr_to_scan)
            cost += nr_to_scan
    if scan.reclaimed >= scan.to_reclaim and scan.whole == ZERO:
        scan.inactive = scan.active = ZERO
    return cost


@forceinline
def zone_balanced(mm, z, balance_gap, classzone):
    return zone_watermark_ok(mm.node, z, mm.node.zone[z].high + balance_gap, classzone)


@forceinline
def reclaimable(mm, z):
    """A zone that has pages on its lists; others count as balanced (zone_reclaimable())."""
    lru = list_of(mm.frames, z)
    return mm.frames.nr[lru, INACTIVE] + mm.frames.nr[lru, ACTIVE] > ZERO


@outline
def pgdat_balanced(mm):
    """Whether kswapd may sleep: all zones above high (3.15), or one that can serve (4.8)."""
    node = mm.node
    classzone = U(node.info[0].classzone)
    one = False
    for z in range(classzone + ONE):
        if node.info[0].node_lru:
            one = one or zone_balanced(mm, z, 0, classzone)
        elif reclaimable(mm, z) and not zone_balanced(mm, z, 0, z):
            return False
    return one or node.info[0].node_lru == 0


@outline
def wake_all_kswapds(mm):
    """Wake kswapd, also from a nap, if a zone of the list is below its high watermark."""
    kswapd = mm.kswapd[0]
    if kswapd.state == AWAKE:
        return
    if mm.node.info[0].node_lru and pgdat_balanced(mm):
        return
    for z in range(U(mm.node.info[0].classzone) + ONE):
        if not zone_balanced(mm, z, 0, ZERO):
            mm.node.count[WAKEUPS] += ONE
            if kswapd.state == NAPPING:
                mm.node.count[LOW_WMARK_HIT_QUICKLY] += ONE
            _start(mm)
            return


@forceinline
def _start(mm):
    kswapd = mm.kswapd[0]
    mm.node.count[PAGEOUTRUN] += ONE
    kswapd.state = AWAKE
    kswapd.priority = DEF_PRIORITY
    kswapd.round = ZERO
    mm.credit[0] = 0


@forceinline
def kswapd_try_to_sleep(mm):
    """Once the node is balanced: a nap first."""
    kswapd = mm.kswapd[0]
    snapshot_refaults(mm)
    kswapd.nap = kswapd.nap_pages
    if kswapd.nap_spread:
        kswapd.nap_draws += GOLDEN
        drawn = splitmix64(kswapd.nap_draws) % (TWO * kswapd.nap_spread + ONE)
        kswapd.nap = kswapd.nap_pages - kswapd.nap_spread + drawn
    kswapd.state = NAPPING if kswapd.nap else ASLEEP


@outline
def nap(mm, pages):
    """Let the disk move `pages` during a nap of kswapd; at its end it looks at high again.

    If a zone has fallen below its high watermark by then, kswapd goes on without having been woken,
    long before the allocator finds all zones at their low one.
    """
    kswapd = mm.kswapd[0]
    if kswapd.nap > pages:
        kswapd.nap -= pages
    elif pgdat_balanced(mm):
        kswapd.state = ASLEEP
    else:
        mm.node.count[HIGH_WMARK_HIT_QUICKLY] += ONE
        _start(mm)


@outline
def _find_end_zone(mm):
    # The highest zone that is not balanced; False if there is none.
    kswapd = mm.kswapd[0]
    if mm.node.info[0].node_lru:
        kswapd.end_zone = ZERO
        return not pgdat_balanced(mm)
    z = U(mm.node.info[0].classzone) + ONE
    while z > ZERO:
        z -= ONE
        if reclaimable(mm, z) and not zone_balanced(mm, z, 0, ZERO):
            kswapd.end_zone = z
            return True
    return False


@outline
def _start_zone(mm, z):
    # First half of kswapd_shrink_zone(): False if the zone has enough already.
    node, kswapd = mm.node, mm.kswapd[0]
    scan = mm.scan[OF_KSWAPD]
    zone = node.zone[z]
    if node.info[0].node_lru:
        high = ZERO
        for each in range(U(node.info[0].classzone) + ONE):
            high += max(U(node.zone[each].high), SWAP_CLUSTER_MAX)
        scan.to_reclaim = high
    else:
        scan.to_reclaim = max(SWAP_CLUSTER_MAX, U(zone.high))
        gap = min(
            zone.low,
            (zone.managed + KSWAPD_ZONE_BALANCE_GAP_RATIO - 1) // KSWAPD_ZONE_BALANCE_GAP_RATIO,
        )
        classzone = kswapd.end_zone
        if kswapd.balance_reserves == ZERO:
            gap, classzone = zone.low - zone.low, ZERO
        if zone_balanced(mm, z, gap, classzone):
            return False
    scan.whole = ZERO
    get_scan_count(mm, scan, list_of(mm.frames, z), kswapd.priority)
    return True


@outline
def kswapd(mm):
    """Go on with balance_pgdat() while there is credit, or until the node is balanced."""
    state = mm.kswapd[0]
    scan = mm.scan[OF_KSWAPD]
    while state.state == AWAKE and mm.credit[0] > 0:
        if state.round == ZERO:
            if not _find_end_zone(mm):
                kswapd_try_to_sleep(mm)
                return
            state.round = ONE
            state.i = ZERO
            state.scanning = ZERO
            state.raise_priority = ONE
            state.nr_reclaimed = ZERO
        if state.scanning == ZERO:
            if state.i > state.end_zone:
                _end_round(mm)
                mm.credit[0] -= 1024
                continue
            if not _start_zone(mm, state.i):
                state.raise_priority = ZERO
                state.i += ONE
                continue
            state.scanning = ONE
        cost = shrink_lruvec_chunk(mm, scan, list_of(mm.frames, state.i))
        mm.credit[0] -= np.int64(cost) * 1024
        if scan.inactive == ZERO and scan.active == ZERO:
            state.scanning = ZERO
            state.nr_reclaimed += scan.reclaimed
            if scan.scanned >= scan.to_reclaim:
                state.raise_priority = ZERO
            state.i += ONE


@outline
def _end_round(mm):
    # The end of a walk over the zones: sleep, or go on, harder if it was not enough.
    state = mm.kswapd[0]
    state.round = ZERO
    if state.raise_priority or state.nr_reclaimed == ZERO:
        state.priority -= ONE
    if pgdat_balanced(mm):
        kswapd_try_to_sleep(mm)
    elif state.priority < ONE:
        mm.node.count[PAGEOUTRUN] += ONE
        state.priority = DEF_PRIORITY
        snapshot_refaults(mm)
        state.failures = ZERO if state.nr_reclaimed else state.failures + ONE
        if state.at_once and state.failures >= MAX_RECLAIM_RETRIES:
            mm.failed[0] = HOPELESS
            state.state = ASLEEP


@forceinline
def cond_resched(mm):
    """Where a task gives way; to a kswapd of a real-time class until that sleeps again."""
    if mm.kswapd[0].at_once:
        mm.credit[0] = ENDLESS
        kswapd(mm)


@outline
def try_to_free_pages(mm):
    """Direct reclaim: from every zone of the list, until 32 pages are free.

    Returns
    -------
    uint64
        Pages freed.
    """
    mm.node.count[DIRECT_RECLAIMS] += ONE
    cond_resched(mm)
    scan = mm.scan[DIRECT]
    scan.to_reclaim = SWAP_CLUSTER_MAX
    freed = ZERO
    priority = DEF_PRIORITY + ONE
    while priority > ZERO and freed < SWAP_CLUSTER_MAX:
        priority -= ONE
        for z in mm.node.zonelist[: len(mm.frames.nr)]:
            lru = list_of(mm.frames, z)
            scan.whole = ONE if priority == DEF_PRIORITY else ZERO
            get_scan_count(mm, scan, lru, priority)
            while scan.inactive or scan.active:
                shrink_lruvec_chunk(mm, scan, lru)
            freed += scan.reclaimed
    snapshot_refaults(mm)
    return freed

"""Two nodes whose pages are read once: the allocator, and a kswapd for each node, as in 6.12.

A page that is read once is clean and stays inactive, so the LRU of a node is a queue: a page comes
in at its head, and reclaim frees the one at its tail, whatever zone that is in.

        zonelist of node 0    its zones from the highest, then those of node 1
        pgdat_balanced()      ONE zone of the node is above high and what it keeps from the class
                              (3.15 asked that every zone be, without what it keeps)

Node 1 may be slower. With demotion what reclaim takes off the tail of node 0 goes to the head of
node 1, as long as that is above min, and is freed where it is not (demote_folio_list()).

Simplifications: no lists of pages a CPU (at most a few batches of 15 in the guest), counters are
exact, and nothing but the file takes pages. The functions have the kernel's names (mm/page_alloc.c,
mm/vmscan.c); kswapd is taken apart into chunks as in `vmscan`.
"""

from typing import NamedTuple

import numpy as np

from lorelab.fairzone.model.vmscan import ASLEEP, AWAKE, DEF_PRIORITY, NAPPING, SWAP_CLUSTER_MAX
from lorelab.numerics import GOLDEN, ONE, TWO, ZERO, U, forceinline, njit, outline, splitmix64

NONE = U(0xFF)
"""No zone."""
ZONE = np.dtype(
    [(name, "u8") for name in ("node", "free", "min", "low", "high", "reserve", "allocated")]
)
KSWAPD = np.dtype(
    [(name, "i8") for name in ("credit",)]
    + [
        (name, "u8")
        for name in (
            "state",
            "nap",  # what is left of it, in pages of the disk
            "priority",
            "round",
            "to_scan",
            "scanned",
            "reclaimed",
            "woken",  # runs that a wakeup began
            "low_wmark_hit_quickly",  # of them, those that ended a nap
            "high_wmark_hit_quickly",  # runs that the end of a nap began
        )
    ]
)


class Nodes(NamedTuple):
    """Zones of two nodes, and what each node has."""

    zone: np.ndarray  # (zones,) ZONE
    zonelist: np.ndarray  # (2, zones) u8: of an allocation that prefers node 0, and node 1
    weights: np.ndarray  # (2,) u8: pages of each node in turn; 0: node 0 is always preferred
    kswapd: np.ndarray  # (2,) KSWAPD
    lru: np.ndarray  # (2, pages) u1: the zone of each page, as a ring, the oldest first
    number: np.ndarray  # (2, pages) u4: which page of the disk it is, from 0
    ring: np.ndarray  # (2, 2) u8: where the ring of a node begins, and how many are in it
    info: np.ndarray  # (11,) u8, by the names below


EVERY_ZONE, NAP_PAGES, SPREAD, DRAWS, DIRECT, READ, DEMOTION, DEMOTED, IL_NODE, IL_LEFT, UNEVEN = (
    U(i) for i in range(11)
)


def make(
    zones: np.ndarray,
    zonelist: list[int],
    nap_pages: int,
    every_zone: bool = False,
    spread: int = 0,
    seed: int = 1,
    demotion: bool = False,
    weights: tuple[int, int] = (0, 0),
    uneven: bool = False,
) -> Nodes:
    """Nodes as they are when a run begins.

    Parameters
    ----------
    zones : (zones,) ZONE
    zonelist : list of int
        Zones in the order of allocation, those of node 0 first.
    nap_pages : int
        Pages that the disk moves in HZ/10, the nap of kswapd.
    every_zone : bool
        A node is balanced once every zone is above high, as in 3.15, not one.
    spread, seed : int
        As many pages more or less may the disk move in a nap, each equally likely.
    demotion : bool
        Reclaim of node 0 demotes to node 1.
    weights : tuple of int
        Of weighted interleave, for each node; zeros where the reader has no such policy.
    uneven : bool
        From 1 to 2 * burst - 1 pages are read before kswapd has its turn, each equally likely.
    """
    info = np.zeros(11, np.uint64)
    info[:4] = every_zone, nap_pages, spread, seed
    info[DEMOTION], info[IL_LEFT], info[UNEVEN] = demotion, weights[0], uneven
    size = 2, int(zones["free"].sum()) + 1
    lru, number = np.zeros(size, np.uint8), np.zeros(size, np.uint32)
    far_first = sorted(zonelist, key=lambda z: zones["node"][z] == 0)
    lists, kswapd = np.array([zonelist, far_first], U), np.zeros(2, KSWAPD)
    return Nodes(zones, lists, np.array(weights, U), kswapd, lru, number, np.zeros((2, 2), U), info)


@forceinline
def zone_watermark_ok(mm, z, mark):
    return mm.zone[z].free > mark + mm.zone[z].reserve


@outline
def pgdat_balanced(mm, node):
    """Whether kswapd of a node may sleep."""
    one, every = False, True
    for z in range(U(len(mm.zone))):
        zone = mm.zone[z]
        if zone.node == node:
            one = one or zone_watermark_ok(mm, z, zone.high)
            every = every and zone.free > zone.high
    return every if mm.info[EVERY_ZONE] else one


@forceinline
def _start(kswapd):
    kswapd.state = AWAKE
    kswapd.priority = DEF_PRIORITY
    kswapd.round = ZERO
    kswapd.credit = 0


@outline
def wakeup_kswapd(mm, node):
    """Wake it if the node is not balanced, also from a nap."""
    kswapd = mm.kswapd[node]
    if kswapd.state == AWAKE or pgdat_balanced(mm, node):
        return
    kswapd.woken += ONE
    if kswapd.state == NAPPING:
        kswapd.low_wmark_hit_quickly += ONE
    _start(kswapd)


@outline
def wake_all_kswapds(mm):
    for node in range(TWO):
        wakeup_kswapd(mm, node)


@forceinline
def get_page_from_freelist(mm, preferred, slow):
    for z in mm.zonelist[preferred]:
        zone = mm.zone[z]
        if zone_watermark_ok(mm, z, zone.min if slow else zone.low):
            return z
    return NONE


@forceinline
def lru_add(mm, z, number):
    """Take a page of a zone, and put it at the head of its node's LRU."""
    zone = mm.zone[z]
    zone.free -= ONE
    ring = mm.ring[zone.node]
    at = (ring[0] + ring[1]) % U(mm.lru.shape[1])
    mm.lru[zone.node, at] = z
    mm.number[zone.node, at] = number
    ring[1] += ONE


@outline
def alloc_demote_folio(mm):
    """A zone of node 1 that may take a page, whose kswapd is woken below low; GFP_NOWAIT."""
    for slow in (False, True):
        for z in mm.zonelist[1]:
            zone = mm.zone[z]
            if zone.node == ONE and zone_watermark_ok(mm, z, zone.min if slow else zone.low):
                return z
        if not slow:
            wakeup_kswapd(mm, ONE)
    return NONE


@outline
def shrink_inactive_list(mm, node, nr):
    """Free the oldest `nr` pages of a node, or demote them; gives how many there were."""
    size = U(mm.lru.shape[1])
    nr = min(nr, mm.ring[node, 1])
    for _ in range(nr):
        at = mm.ring[node, 0]
        mm.zone[mm.lru[node, at]].free += ONE
        mm.ring[node, 0] = (at + ONE) % size
        if mm.info[DEMOTION] and node == ZERO:
            z = alloc_demote_folio(mm)
            if z != NONE:
                lru_add(mm, z, mm.number[node, at])
                mm.info[DEMOTED] += ONE
    mm.ring[node, 1] -= nr
    return nr


@forceinline
def weighted_interleave_nodes(mm):
    """The node that is preferred for the next page."""
    node = mm.info[IL_NODE]
    if mm.weights[node]:
        mm.info[IL_LEFT] -= ONE
        if mm.info[IL_LEFT] == ZERO:
            mm.info[IL_NODE] = ONE - node
            mm.info[IL_LEFT] = mm.weights[ONE - node]
    return node


@outline
def alloc_page(mm):
    """Take a page, and put it at the head of its node's LRU; False if there is none."""
    preferred = weighted_interleave_nodes(mm)
    z = get_page_from_freelist(mm, preferred, False)
    if z == NONE:
        wake_all_kswapds(mm)
        z = get_page_from_freelist(mm, preferred, True)
    if z == NONE:
        mm.info[DIRECT] += ONE
        for node in range(TWO):
            shrink_inactive_list(mm, node, SWAP_CLUSTER_MAX)
        z = get_page_from_freelist(mm, preferred, True)
        if z == NONE:
            return False
    mm.zone[z].allocated += ONE
    lru_add(mm, z, mm.info[READ])
    mm.info[READ] += ONE
    return True


@outline
def kswapd_try_to_sleep(mm, node):
    """Once the node is balanced: a nap first."""
    nap = mm.info[NAP_PAGES]
    if mm.info[SPREAD]:
        mm.info[DRAWS] += GOLDEN
        drawn = splitmix64(mm.info[DRAWS]) % (TWO * mm.info[SPREAD] + ONE)
        nap = nap - mm.info[SPREAD] + drawn
    mm.kswapd[node].nap = nap
    mm.kswapd[node].state = NAPPING


@outline
def nap(mm, node, pages):
    """Let the disk move `pages` during a nap; at its end kswapd looks again."""
    kswapd = mm.kswapd[node]
    if kswapd.nap > pages:
        kswapd.nap -= pages
    elif pgdat_balanced(mm, node):
        kswapd.state = ASLEEP
    else:
        kswapd.high_wmark_hit_quickly += ONE
        _start(kswapd)


@outline
def balance_pgdat(mm, node):
    """Go on while there is credit, or until the node is balanced."""
    kswapd = mm.kswapd[node]
    to_reclaim = ZERO
    for zone in mm.zone:
        if zone.node == node:
            to_reclaim += max(zone.high, SWAP_CLUSTER_MAX)
    while kswapd.state == AWAKE and kswapd.credit > 0:
        if kswapd.round == ZERO:
            if pgdat_balanced(mm, node):
                kswapd_try_to_sleep(mm, node)
                return
            kswapd.round = ONE
            kswapd.scanned = kswapd.reclaimed = ZERO
            kswapd.to_scan = mm.ring[node, 1] >> kswapd.priority
        freed = shrink_inactive_list(mm, node, min(kswapd.to_scan, SWAP_CLUSTER_MAX))
        kswapd.to_scan -= min(kswapd.to_scan, SWAP_CLUSTER_MAX)
        kswapd.scanned += freed
        kswapd.reclaimed += freed
        kswapd.credit -= max(np.int64(freed), 1) * 1024
        if kswapd.to_scan == ZERO or kswapd.reclaimed >= to_reclaim:
            kswapd.round = ZERO
            if kswapd.scanned < to_reclaim or kswapd.reclaimed == ZERO:
                kswapd.priority -= ONE
            if kswapd.priority < ONE:
                kswapd.priority = DEF_PRIORITY


@njit
def read(mm, pages, burst, rate):
    """Read so many pages, none twice, `burst` at a time or uneven; gives how many were read.

    `rate` is in pages that kswapd looks at while the disk moves one, times 1024.
    """
    done = ZERO
    while done < pages:
        many = burst
        if mm.info[UNEVEN]:
            mm.info[DRAWS] += GOLDEN
            many = ONE + splitmix64(mm.info[DRAWS]) % (TWO * burst - ONE)
        for _ in range(many):
            if not alloc_page(mm):
                return done
        for node in range(TWO):
            if mm.kswapd[node].state == NAPPING:
                nap(mm, node, many)
            if mm.kswapd[node].state == AWAKE:
                mm.kswapd[node].credit += np.int64(many) * rate
                balance_pgdat(mm, node)
        done += many
    return done

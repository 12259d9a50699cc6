"""State of the zones: watermarks, lowmem reserves, batches, and the traits of a variant.

        zonelist of class Normal        node_zones
          Normal  ->  DMA32  ->  DMA      DMA  DMA32  Normal
          the order of allocation         the order of reclaim

        one zone    0 ...... min .. low .. high ............................ managed
                             |       |      `- kswapd stops
                             |       `- the fast path goes to the next zone
                             `- the slow path reclaims itself
        and for an allocation that a higher zone could serve too, each mark is
        lowmem_reserve higher.

Simplifications, and what each changes:

- Pages are of order 0 and all of them user pages of the highest class. Nothing but the page cache
  takes memory, so a zone is its free pages and its LRU lists.
- Pages leave and enter a zone at once. The kernel's per-CPU lists hold some back, a few batches of
  31 pages a CPU, which makes both the fall below a watermark and the rise above it coarser.
- Diffs of a CPU are folded at their threshold only. The kernel folds them also once a second, and
  at a lower threshold while kswapd is awake: what is deferred here is the most that can be.
"""

from typing import NamedTuple

import numpy as np

from lorelab.fairzone.params import TRAITS, Traits, Variant
from lorelab.numerics import U, njit

ZONES = ("DMA", "DMA32", "Normal")
JUNE_2014 = (3976, 755409, 1281601)
"""Managed pages of the author's machine (Mel Gorman, 27 June 2014)."""
LOWMEM_RESERVE_RATIO = 256
"""sysctl_lowmem_reserve_ratio of DMA and DMA32 (mm/page_alloc.c)."""
NONE = U(0xFF)
"""No zone: the allocation failed."""

ZONE = np.dtype(
    [
        (name, "i8")
        for name in (
            "managed",
            "free",
            "min",
            "low",
            "high",
            "batch",  # what a reset sets NR_ALLOC_BATCH to
            "nr_alloc_batch",  # vm_stat[NR_ALLOC_BATCH], without what CPUs have not folded
            "threshold",  # stat_threshold: |diff| above it is folded
            "depleted",  # ZONE_FAIR_DEPLETED
            "node",
            "takes_part",  # fair_enabled of June 2014; 1 otherwise
            "dirty_reserve",  # dirty_balance_reserve
            "dirty",  # dirty pages and pages under writeback
            "allocated",
            "reclaimed",
            # The page lists of the CPU (struct per_cpu_pages), in a zone of 6.12; see `pcp`.
            "pcp_batch",  # 0: the zone has none
            "pcp_count",  # pages on all of them
            "pcp_heads",  # on HEADS
            "pcp_nodes",  # on NODES
            "pcp_alloc_factor",
            "pcp_free_count",
            "free_diff",  # vm_stat_diff[NR_FREE_PAGES]
            "free_threshold",  # its stat_threshold
        )
    ]
)
INFO = np.dtype(
    [
        (name, "i8")
        for name in (
            *Traits._fields,
            "up",  # a kernel built for one CPU: counters are exact, and read as unsigned
            "nodes",
            "classzone",  # of the allocations: the highest zone
            "pages",  # that each allocation takes: 1 << order
            "list",  # of a CPU's lists, the one that it takes them from
            "dirty_ratio",
        )
    ]
)

COUNTS = (
    "passes",
    "tests",
    "skips_batch",
    "skips_watermark",
    "skips_dirty",
    "skips_remote",
    "failed_fair_passes",
    "failed_by_batch",
    "failed_by_watermark",
    "failed_by_both",
    "resets",
    "rescans",
    "slowpaths",
    "wakeups",
    "pageoutrun",
    "low_wmark_hit_quickly",
    "high_wmark_hit_quickly",
    "direct_reclaims",
    "spills",
    "rotated",
    "activated",
    "refaults_activated",
)
"""What the model counts, beside the pages of each zone.

A pass is a walk of the zonelist, a test a zone that it comes to; `spills` are allocations from a
zone of another node; a fair pass fails by batch, by watermark, or with zones of both kinds;
`rotated` are dirty pages that reclaim met and left.
"""
(
    PASSES,
    TESTS,
    SKIPS_BATCH,
    SKIPS_WATERMARK,
    SKIPS_DIRTY,
    SKIPS_REMOTE,
    FAILED,
    FAILED_BY_BATCH,
    FAILED_BY_WATERMARK,
    FAILED_BY_BOTH,
    RESETS,
    RESCANS,
    SLOWPATHS,
    WAKEUPS,
    PAGEOUTRUN,
    LOW_WMARK_HIT_QUICKLY,
    HIGH_WMARK_HIT_QUICKLY,
    DIRECT_RECLAIMS,
    SPILLS,
    ROTATED,
    ACTIVATED,
    REFAULTS_ACTIVATED,
) = (U(i) for i in range(len(COUNTS)))


class Node(NamedTuple):
    """The zones that an allocation may come from (struct zone, and the zonelist)."""

    zone: np.ndarray  # (zones,) ZONE, the lowest first; those of the local node, then others
    lowmem_reserve: np.ndarray  # (zones, zones) i8: what zone keeps from class, in pages
    zonelist: np.ndarray  # (zones,) u8: zones in the order of allocation
    percpu: np.ndarray  # (zones, cpus) i8: vm_stat_diff[NR_ALLOC_BATCH], not yet folded
    info: np.ndarray  # (1,) INFO
    count: np.ndarray  # (COUNTS,) u8


def managed_pages(mib: int, zone_dma: bool, below_4g_mib: int = 0) -> list[int]:
    """Pages of DMA, DMA32 and Normal in so much memory.

    On x86-64 DMA32 is what lies below 4 GiB, however much memory there is above. How much that is
    depends on the hole that firmware leaves there for devices: QEMU puts 3,072 or 3,584 MiB of
    RAM below (pc_init1() in hw/i386/pc_piix.c), the machine of June 2014 has 2,967 MiB managed.

    Parameters
    ----------
    mib : int
        Managed memory.
    zone_dma : bool
    below_4g_mib : int
        Of it, what is in DMA and DMA32; 0: as large a part as on the machine of June 2014.
    """
    return split(mib, zone_dma, below_4g_mib).tolist()


@njit
def split(mib, zone_dma, below_4g_mib):
    """What `managed_pages` gives, (3,) i8."""
    pages = np.zeros(3, np.int64)
    if zone_dma:
        pages[0] = JUNE_2014[0]
    rest = mib * 256 - pages[0]
    if below_4g_mib:
        pages[1] = below_4g_mib * 256 - pages[0]
    else:
        pages[1] = rest * JUNE_2014[1] // (JUNE_2014[1] + JUNE_2014[2])
    pages[2] = rest - pages[1]
    return pages


@njit
def _fls(number):
    """Place of the highest bit that is set, from 1; 0 for 0."""
    bits = 0
    while number:
        number >>= 1
        bits += 1
    return bits


@njit
def calculate_normal_threshold(managed, cpus):
    """How far a CPU's diff goes before it is folded (mm/vmstat.c)."""
    mem = managed >> (27 - 12)
    return min(125, 2 * _fls(cpus) * (1 + _fls(mem)))


def watermarks(
    managed: list[int], min_free_kib: int, scale_factor: int = 0
) -> list[tuple[int, int, int]]:
    """min, low and high of each zone in pages: __setup_per_zone_wmarks() in mm/page_alloc.c.

    With a `scale_factor` as 4.6 has it (795ae7a0de6b): low and high are that many 1/10000 of the
    zone apart, if that is more than a quarter of min.
    """
    marks = wmarks(np.array(managed, np.int64), min_free_kib, scale_factor)
    return [(each[0], each[1], each[2]) for each in marks.tolist()]


@njit
def wmarks(managed, min_free_kib, scale_factor):
    """What `watermarks` gives, (zones, 3) i8."""
    pages_min = min_free_kib >> 2
    lowmem_pages = managed.sum()
    marks = np.zeros((len(managed), 3), np.int64)
    for z in range(len(managed)):
        tmp = pages_min * managed[z] // lowmem_pages
        low, high = tmp + (tmp >> 2), tmp + (tmp >> 1)
        if scale_factor:
            gap = max(tmp >> 2, managed[z] * scale_factor // 10_000)
            low, high = tmp + gap, tmp + 2 * gap
        marks[z, 0], marks[z, 1], marks[z, 2] = tmp, low, high
    return marks


def lowmem_reserves(managed: list[int]) -> np.ndarray:
    """Pages that a zone keeps from each class: setup_per_zone_lowmem_reserve() in mm/page_alloc.c.

    Returns
    -------
    (zones, zones) i8
    """
    return setup_per_zone_lowmem_reserve(np.array(managed, np.int64))


@njit
def setup_per_zone_lowmem_reserve(managed):
    """What `lowmem_reserves` gives; `managed` is (zones,) i8."""
    reserve = np.zeros((len(managed), len(managed)), np.int64)
    for j in range(len(managed)):
        for low in range(j):
            reserve[low, j] = managed[low + 1 : j + 1].sum() // LOWMEM_RESERVE_RATIO
    return reserve


def serves(managed: list[int], marks: list[tuple[int, int, int]], reserves: np.ndarray) -> bool:
    """Whether an allocation of the highest class finds a page while all of them are free.

    The last watermark that it may go down to is min (__zone_watermark_ok()). Where no zone is
    larger than its own and what it keeps, nothing is ever allocated: a kernel whose
    vm.min_free_kbytes is set so high kills one process after another (out_of_memory()).
    """
    zones = zip(managed, marks, reserves[:, -1], strict=True)
    return any(pages > wmarks[0] + kept for pages, wmarks, kept in zones)


def set_traits(info: np.ndarray, traits: Traits) -> None:
    """Let the zones of `info`, of (1,) INFO, follow a policy."""
    for name, value in traits._asdict().items():
        info[name] = int(value)


def make(
    managed: list[int],
    variant: Variant,
    cpus: int = 1,
    min_free_kib: int = 67584,
    exact: bool = False,
    remote: list[int] | None = None,
    marks: list[tuple[int, int, int]] | None = None,
    reserves: np.ndarray | None = None,
    dirty_ratio: int = 20,
) -> Node:
    """Zones that are all free, with batches as at boot.

    Parameters
    ----------
    managed : list of int
        Pages of the local node's zones, the lowest first; a zone without pages is not there.
    variant : Variant
    cpus : int
        With one CPU the kernel is one built for one, whose counters have no per-CPU parts.
    min_free_kib : int
    exact : bool
        Counters without per-CPU parts on several CPUs too.
    remote : list of int, optional
        Pages of another node's zones.
    marks, reserves : optional
        Watermarks and reserves where they are not those of `min_free_kib`: as `watermarks()` and
        `lowmem_reserves()` give them, for populated zones.
    dirty_ratio : int
        Part of a zone that may be dirty, in per cent.
    """
    local = [pages for pages in managed if pages]
    others = [pages for pages in remote or [] if pages]
    every = local + others
    reserve = np.zeros((len(every), len(every)), np.int64)
    reserve[: len(local), : len(local)] = lowmem_reserves(local) if reserves is None else reserves
    if others:
        first = len(local)
        reserve[first:, first:] = lowmem_reserves(others)
        # The class of the local preferred zone is what an allocation brings to another node too.
        reserve[first:, first - 1] = reserve[first:, -1]
    info = np.zeros(1, INFO)
    set_traits(info, TRAITS[variant])
    info["dirty_ratio"] = dirty_ratio
    wanted = np.array(marks or watermarks(every, min_free_kib), np.int64)
    return populate(np.array(every, np.int64), wanted, reserve, len(local), cpus, exact, info)


@njit
def populate(managed, marks, reserve, local, cpus, exact, info) -> Node:
    """Zones that are all free, with batches as at boot.

    Parameters
    ----------
    managed : (zones,) i8
        The first `local` are those of the local node; none is empty.
    marks : (zones, 3) i8
    reserve : (zones, zones) i8
    local, cpus : int
    exact : bool
    info : (1,) INFO
        Traits and dirty ratio of the policy; the rest of it is set here.
    """
    zone = np.zeros(len(managed), ZONE)
    several = 0
    for z in range(len(managed)):
        one = zone[z]
        one.managed = one.free = managed[z]
        one.min, one.low, one.high = marks[z, 0], marks[z, 1], marks[z, 2]
        one.batch = managed[z] >> 2 if info[0].quarter else one.high - one.low
        one.nr_alloc_batch = one.batch
        one.node = 0 if z < local else 1
        one.takes_part = 1
        if z == 0 and info[0].small_out and managed[0] < managed[:local].sum() >> 4:
            one.takes_part = 0
        if z < local:
            several += one.takes_part
        if not exact and cpus > 1:
            one.threshold = calculate_normal_threshold(managed[z], cpus)
        kept = 0
        for each in reserve[z]:
            kept = max(kept, each)
        one.dirty_reserve = min(kept + one.high, managed[z])
    info[0].up = 1 if cpus == 1 else 0
    info[0].nodes = 2 if len(managed) > local else 1
    info[0].classzone = local - 1
    info[0].pages = 1
    if info[0].only_several and several <= 1:
        info[0].fair = 0
    zonelist = np.zeros(len(managed), np.uint64)
    for n in range(len(managed)):
        zonelist[n] = U(local - 1 - n if n < local else len(managed) - 1 - (n - local))
    return Node(
        zone,
        reserve,
        zonelist,
        np.zeros((len(managed), cpus), np.int64),
        info,
        np.zeros(len(COUNTS), np.uint64),
    )

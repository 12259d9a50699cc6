"""State of one swap area, and its cluster lists.

One `Swap` holds what the kernel keeps in `struct swap_info_struct`, its `swap_map`, its
`cluster_info` and its per-CPU parts (include/linux/swap.h, Linux 6.12), as flat arrays. Lists
are the kernel's circular doubly linked lists; an entry is a cluster number, and the heads sit
behind the clusters in the same array.

        swap_map        BAD  .  .  .   one byte a slot: 0 free, 1 in use, or cached
                        |<-- 512 -->|
        cluster_info    count order flags prev next      one record a cluster
        heads           free full nonfull[0..9] frag[0..9]

Simplifications, and what each changes:

- A slot in use counts one use: no page is shared by fork.
- The device is synchronous (SWP_SYNCHRONOUS_IO, as zram): a write ends before the next slot is
  asked for, and no slot outlives its swap-in in the swap cache. So a slot that has nothing but
  SWAP_HAS_CACHE sits in a per-CPU cache, and reclaiming it, which the kernel tries once the area
  is over half full, never frees it. The full list is only kept.
- No discard: a cluster that empties is free at once.
- One swap area, so `nr_swap_pages` counts its slots alone.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import ONE, ZERO, U, forceinline, njit
from lorelab.swap.params import TRAITS, Allocator, AllocMode, Traits, Variant

SSD_CLUSTER = U(Allocator.SSD_CLUSTER)
CAN = np.array([TRAITS[variant] for variant in Variant], np.uint64)
"""`TRAITS` as compiled code reads them: a row for each variant, a column for each trait."""

SWAPFILE_CLUSTER = U(512)
PMD_ORDER = U(9)
SWAP_NR_ORDERS = U(10)
SWAP_NEXT_INVALID = U(0)
SWAP_BATCH = U(64)
LATENCY_LIMIT = 256
SWAP_ADDRESS_SPACE_PAGES = U(1 << 14)
SWAP_CLUSTER_COLS = U(32)
"""max(L1_CACHE_BYTES / sizeof(struct swap_cluster_info), 2^14 / 512) (mm/swapfile.c)."""

SWAP_HAS_CACHE = np.uint8(0x40)
SWAP_IN_USE = np.uint8(1)
SWAP_MAP_BAD = np.uint8(0x3F)

CLUSTER_FLAG_FREE = np.uint8(1)
CLUSTER_FLAG_NONFULL = np.uint8(2)
CLUSTER_FLAG_FRAG = np.uint8(4)
CLUSTER_FLAG_FULL = np.uint8(8)
OFF_LIST = np.uint8(0)

# List heads, counted from the end of the clusters.
FREE = U(0)
FULL = U(1)
NONFULL = U(2)
FRAG = NONFULL + SWAP_NR_ORDERS
NR_HEADS = FRAG + SWAP_NR_ORDERS

# How an allocation went: rows of `Swap.path`.
PATHS = ("current", "free", "nonfull", "frag", "steal", "scan", "fail")
CURRENT, FROM_FREE, FROM_NONFULL, FROM_FRAG, STEAL, SCAN, FAIL = (U(i) for i in range(7))

CLUSTER_INFO = np.dtype(
    [("prev", "u4"), ("next", "u4"), ("count", "u2"), ("order", "u1"), ("flags", "u1")]
)
INFO = np.dtype(
    [
        (name, "u8")
        for name in (
            *Traits._fields,  # what the variant can do
            "alloc_mode",  # 6.12 only: where it looks for clusters
            "stealing",  # order 0 may take slots of clusters of other orders
            "max",  # slots of the area, header included
            "pages",  # usable slots
            "nr_clusters",  # 0 on a rotational device: no cluster_info
            "inuse_pages",
            "nr_swap_pages",
            "lowest_bit",
            "highest_bit",
            "cluster_next",  # rotational devices: where to go on, and for how long
            "cluster_nr",
            "swap_slot_cache_enabled",
            "swap_slot_cache_active",
            "free_cache",
            "random",  # state of the generator behind set_cluster_next()
        )
    ]
)
WORDS = len(INFO)
TRAIL = np.dtype([("offset", "u4"), ("scanned", "u4")])


class Swap(NamedTuple):
    """A swap area (struct swap_info_struct) and the slot caches in front of it."""

    info: np.ndarray  # (1,) INFO: the scalars
    swap_map: np.ndarray  # (nr_clusters * 512,) u1: one byte a slot
    cluster_info: np.ndarray  # (nr_clusters + NR_HEADS,) CLUSTER_INFO: clusters, then list heads
    frag_cluster_nr: np.ndarray  # (10,) u8: length of each frag list
    percpu_next: np.ndarray  # (cpus, 10) u4: percpu_cluster->next[order], 0 is none
    cluster_next_cpu: np.ndarray  # (cpus,) u8: where the linear scan of a CPU starts
    scan_next: np.ndarray  # (10,) u8: next cluster of the circular scan
    slots: np.ndarray  # (cpus, 64) u8: swp_slots.slots, slots taken ahead
    slots_nr: np.ndarray  # (cpus,) u8
    slots_cur: np.ndarray  # (cpus,) u8
    slots_ret: np.ndarray  # (cpus, 64) u8: swp_slots.slots_ret, slots freed and not returned
    n_ret: np.ndarray  # (cpus,) u8
    entry: np.ndarray  # (1,) u8: where folio_alloc_swap() gets a single range
    path: np.ndarray  # (7, 10) u8: device allocations by PATHS and order
    scanned: np.ndarray  # (10,) u8: bytes of swap_map read, by order of the allocation
    visited: np.ndarray  # (10,) u8: clusters looked into, by order of the allocation
    trail: np.ndarray  # (n,) TRAIL: where the first n looks began, and `scanned` before each


def swapon(
    pages: int,
    variant: Variant,
    cpus: int = 1,
    slot_cache: bool = True,
    free_cache: bool = True,
    stealing: bool = True,
    rotational: bool = False,
    batched_zap: bool = True,
    alloc_mode: AllocMode = AllocMode.UPSTREAM,
) -> Swap:
    """Make the state of a fresh swap area: setup_clusters() in mm/swapfile.c.

    Parameters
    ----------
    pages : int
        Size of the device in 4 KiB pages; slot 0 holds the header.
    variant : Variant
        Allocator.
    cpus : int
        CPUs that may allocate.
    slot_cache, free_cache : bool
        Per-CPU caches of 64 order-0 slots to allocate from, and of 64 freed ones
        (mm/swap_slots.c).
    stealing : bool
        Order 0 may take slots of clusters of other orders when it finds none of its own.
    rotational : bool
        No cluster_info: order 0 alone, by linear scan.
    batched_zap : bool
        A row of slots that a zap drops goes back at once, if the variant does that (see
        `free_swap_and_cache_nr()`).
    alloc_mode : AllocMode
        Where V6_12 looks for clusters.

    Returns
    -------
    Swap
    """
    return setup(
        int(pages),
        int(variant),
        int(cpus),
        bool(slot_cache),
        bool(free_cache),
        bool(stealing),
        bool(rotational),
        bool(batched_zap),
        int(alloc_mode),
    )


@njit
def setup(
    pages,
    variant,
    cpus,
    slot_cache,
    free_cache,
    stealing,
    rotational,
    batched_zap,
    alloc_mode,
    looks=0,
):
    """Compiled half of `swapon`, with the same parameters; `looks` is how long the trail is."""
    nr_clusters = (pages + 511) // 512
    words = np.zeros(WORDS, np.uint64)
    words[: CAN.shape[1]] = CAN[variant]
    state = words.view(INFO)
    info = state[0]
    info.alloc_mode = alloc_mode
    info.stealing = stealing
    info.max = pages
    info.pages = pages - 1
    info.nr_swap_pages = pages - 1
    info.nr_clusters = 0 if rotational else nr_clusters
    info.lowest_bit = 1
    info.cluster_next = 1
    info.highest_bit = pages - 1
    info.swap_slot_cache_enabled = slot_cache and info.slot_caches != ZERO
    info.free_cache = free_cache
    info.batched_zap = batched_zap and info.batched_zap != ZERO
    info.random = 88172645463325252
    swap_map = np.zeros(nr_clusters * 512, np.uint8)
    swap_map[0] = SWAP_MAP_BAD
    swap_map[pages:] = SWAP_MAP_BAD
    si = Swap(
        info=state,
        swap_map=swap_map,
        cluster_info=np.zeros(nr_clusters + np.int64(NR_HEADS), CLUSTER_INFO),
        frag_cluster_nr=np.zeros(10, np.uint64),
        percpu_next=np.zeros((cpus, 10), np.uint32),
        cluster_next_cpu=np.ones(cpus, np.uint64),
        scan_next=np.zeros(10, np.uint64),
        slots=np.zeros((cpus, 64), np.uint64),
        slots_nr=np.zeros(cpus, np.uint64),
        slots_cur=np.zeros(cpus, np.uint64),
        slots_ret=np.zeros((cpus, 64), np.uint64),
        n_ret=np.zeros(cpus, np.uint64),
        entry=np.zeros(1, np.uint64),
        path=np.zeros((len(PATHS), 10), np.uint64),
        scanned=np.zeros(10, np.uint64),
        visited=np.zeros(10, np.uint64),
        trail=np.zeros(looks, TRAIL),
    )
    _setup_clusters(si, U(nr_clusters), U(pages))
    return si


@forceinline
def _setup_clusters(si, nr_clusters, pages):
    for head in range(nr_clusters, nr_clusters + NR_HEADS):
        si.cluster_info[head].prev = head
        si.cluster_info[head].next = head
    si.cluster_info[0].count += ONE
    si.cluster_info[nr_clusters - ONE].count += nr_clusters * SWAPFILE_CLUSTER - pages
    lists = si.info[0].allocator != SSD_CLUSTER
    # Neighbours in the list are 32 clusters apart, lest two CPUs share a cache line.
    columns = SWAP_CLUSTER_COLS if si.info[0].spreads else ONE
    for col in range(columns):
        for idx in range(col, nr_clusters, columns):
            if si.cluster_info[idx].count == ZERO:
                si.cluster_info[idx].flags = CLUSTER_FLAG_FREE
                list_add_tail(si, idx, nr_clusters + FREE)
            elif lists:
                si.cluster_info[idx].flags = CLUSTER_FLAG_NONFULL
                list_add_tail(si, idx, nr_clusters + NONFULL)


@forceinline
def head_of(si, which):
    """Entry of the list head `which` (FREE, FULL, NONFULL + order, FRAG + order)."""
    return U(len(si.cluster_info)) - NR_HEADS + which


@forceinline
def list_add_tail(si, idx, head):
    """Put cluster `idx`, which is on no list, at the tail of the list of `head`."""
    tail = U(si.cluster_info[head].prev)
    si.cluster_info[idx].prev = tail
    si.cluster_info[idx].next = head
    si.cluster_info[tail].next = idx
    si.cluster_info[head].prev = idx


@forceinline
def list_del(si, idx):
    """Take cluster `idx` off its list."""
    before = U(si.cluster_info[idx].prev)
    after = U(si.cluster_info[idx].next)
    si.cluster_info[before].next = after
    si.cluster_info[after].prev = before


@forceinline
def list_move_tail(si, idx, head):
    """Move cluster `idx` from the list that it is on to the tail of the list of `head`."""
    list_del(si, idx)
    list_add_tail(si, idx, head)


@forceinline
def list_first(si, head):
    """First cluster of the list of `head`; `head` itself when the list is empty."""
    return U(si.cluster_info[head].next)


@forceinline
def swap_range_alloc(si, offset, nr_entries):
    """Account `nr_entries` slots from `offset` as taken (mm/swapfile.c)."""
    info = si.info[0]
    if offset == info.lowest_bit:
        info.lowest_bit += nr_entries
    if offset + nr_entries - ONE == info.highest_bit:
        info.highest_bit -= nr_entries
    info.inuse_pages += nr_entries
    if info.inuse_pages == info.pages:
        info.lowest_bit = info.max
        info.highest_bit = ZERO


@forceinline
def swap_range_free(si, offset, nr_entries):
    """Account `nr_entries` slots from `offset` as free (mm/swapfile.c)."""
    info = si.info[0]
    end = offset + nr_entries - ONE
    if offset < info.lowest_bit:
        info.lowest_bit = offset
    if end > info.highest_bit:
        info.highest_bit = end
    info.nr_swap_pages += nr_entries
    info.inuse_pages -= nr_entries


@forceinline
def vm_swap_full(si):
    """True when less than half of the slots are free (include/linux/swap.h)."""
    return si.info[0].nr_swap_pages * U(2) < si.info[0].pages


@forceinline
def look_into(si, offset, order):
    """Count a cluster that is looked into from `offset` on, and note it in the trail."""
    looks = si.visited[order]
    if looks < U(len(si.trail)):
        si.trail[looks].offset = offset
        si.trail[looks].scanned = si.scanned[order]
    si.visited[order] += ONE


@forceinline
def swap_range_empty(si, offset, nr_pages, order):
    """True when the `nr_pages` slots from `offset` are all free; counts the bytes read."""
    for slot in range(offset, offset + nr_pages):
        if si.swap_map[slot]:
            si.scanned[order] += slot - offset + ONE
            return False
    si.scanned[order] += nr_pages
    return True


@forceinline
def swap_map_fill(si, offset, nr_pages, usage):
    """memset() of `nr_pages` bytes of swap_map."""
    for slot in range(offset, offset + nr_pages):
        si.swap_map[slot] = usage

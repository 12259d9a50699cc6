"""The page cache: files whose pages are read ahead, written, written back and looked up again.

        map     one entry a page of the files: 0 absent, a frame + 1, or a shadow of an eviction

A read or write of a page ends in mark_page_accessed() (mm/swap.c): the first sets PG_referenced,
the second, while the page is inactive, moves it to the active list (mm/filemap.c, mm/readahead.c,
mm/page-writeback.c, mm/workingset.c).
"""

from typing import NamedTuple

import numpy as np

from lorelab.errors import RunFailed
from lorelab.fairzone.model import lru as lists
from lorelab.fairzone.model.lru import (
    ACTIVE,
    INACTIVE,
    KEEP_ALL,
    PG_ACTIVE,
    PG_DIRTY,
    PG_PRIVATE,
    PG_RECLAIM,
    PG_REFERENCED,
    Frames,
    give_frame,
    list_of,
    lru_add,
    lru_add_tail,
    lru_del,
    take_frame,
    zone_of,
)
from lorelab.fairzone.model.page_alloc import (
    NOT,
    YES,
    alloc_fast,
    enter_slowpath,
    get_page_from_freelist,
    zone_dirtyable_memory,
)
from lorelab.fairzone.model.pcp import CACHE, HEADS, NODES, drain_all_pages, free_page
from lorelab.fairzone.model.slab import NODE_PAGES, SLAB, add_slab, free_buffer_head
from lorelab.fairzone.model.vmscan import (
    AGE_BITS,
    AGE_MASK,
    AWAKE,
    HOPELESS,
    KSWAPD,
    NAPPING,
    SCAN,
    SHADOW,
    cond_resched,
    kswapd,
    nap,
    try_to_free_pages,
    wake_all_kswapds,
)
from lorelab.fairzone.model.zones import ACTIVATED, NONE, REFAULTS_ACTIVATED, Node
from lorelab.numerics import ONE, TWO, ZERO, U, forceinline, njit, outline

ABSENT = np.uint32(0)
NO_PAGE, LOST = ONE, TWO
"""Of Memory.failed: an allocation found no page; a page was lost while it was written."""


class Memory(NamedTuple):
    """A node, its frames, and the page cache in them."""

    node: Node
    frames: Frames
    map: np.ndarray  # (pages,) u4: one entry a page of the files
    kswapd: np.ndarray  # (1,) KSWAPD
    scan: np.ndarray  # (2,) SCAN: of kswapd, and of direct reclaim
    credit: np.ndarray  # (1,) i8: what kswapd may still do, in 1/1024 page
    dirtied: np.ndarray  # (frames,) u4: pages in the order in which they became dirty, as a ring
    ring: np.ndarray  # (2,) u8: where the ring begins, and how many are in it
    disk: np.ndarray  # (2,) u8: pages read, pages written
    slab: np.ndarray  # (1,) SLAB: of buffer heads
    slabs: np.ndarray  # (slabs,) u4: their frames, as a ring; none where they take no memory
    failed: np.ndarray  # (1,) u8: why the run came to no end, of FAILURES; 0 while it goes on


@njit
def make(node, pages, nap_pages=0, balance_reserves=True, slabs=False) -> Memory:
    """Empty memory and `pages` of files on the disk.

    Parameters
    ----------
    node : Node
    pages : int
    nap_pages : int
        Pages that the disk moves in HZ/10, the nap of kswapd; 0: kswapd sleeps at once.
    balance_reserves : bool
        kswapd keeps balance gap and lowmem reserve free too, as all merged kernels did.
    slabs : bool
        Buffer heads and the nodes of the file's map take memory too.
    """
    frames = lists.make(node.zone["managed"], node.info[0].node_lru != 0)
    state = np.zeros(1, KSWAPD)
    state[0].balance_reserves = U(balance_reserves)
    state[0].nap_pages = U(nap_pages)
    return Memory(
        node,
        frames,
        np.zeros(pages, np.uint32),
        state,
        np.zeros(2, SCAN),
        np.zeros(1, np.int64),
        np.zeros(len(frames.flags), np.uint32),
        np.zeros(2, np.uint64),
        np.zeros(2, np.uint64),
        np.zeros(1, SLAB),
        np.zeros(len(frames.flags) // 8 if slabs else 0, np.uint32),
        np.zeros(1, np.uint64),
    )


FAILURES = {
    int(NO_PAGE): "no zone has a page above its min watermark and lowmem reserve, and none is left "
    "to reclaim; a kernel would kill processes here (out_of_memory())",
    int(LOST): "reclaim took the page that was being written, for there was no other; a kernel "
    "keeps it locked, and would kill processes here (out_of_memory())",
    int(HOPELESS): "kswapd freed nothing in 16 runs and no zone is above its high watermark; a "
    "kernel gives up on such a node (MAX_RECLAIM_RETRIES)",
}


def check(mm: Memory) -> None:
    """Raise RunFailed where the memory was too small for the run."""
    if mm.failed[0]:
        why = FAILURES[int(mm.failed[0])]
        raise RunFailed(f"{why}: take more memory, or a smaller min_free_kib")


@outline
def _alloc_slow(mm, cpu, writes):
    # __alloc_pages_slowpath(): wake kswapd, the min watermark, then reclaim until a page is there.
    while True:
        enter_slowpath(mm.node, cpu)
        wake_all_kswapds(mm)
        z = get_page_from_freelist(mm.node, cpu, NOT, NOT, writes)
        if z != NONE:
            return z
        if try_to_free_pages(mm) == ZERO:
            if mm.ring[1] == ZERO:
                return NONE
            writeback(mm, U(32))  # congestion_wait()
        elif mm.node.zone[0].pcp_batch:
            z = get_page_from_freelist(mm.node, cpu, NOT, NOT, writes)
            if z != NONE:
                return z
            drain_all_pages(mm.node)
            z = get_page_from_freelist(mm.node, cpu, NOT, NOT, writes)
            if z != NONE:
                return z


@forceinline
def alloc_page(mm, cpu, writes):
    """The zone of a page: __alloc_pages_nodemask(); NONE, and the run has failed, without one."""
    z = alloc_fast(mm.node, cpu, writes)
    if z == NONE:
        z = _alloc_slow(mm, cpu, writes)
        if z == NONE:
            mm.failed[0] = NO_PAGE
    return z


@outline
def alloc_slab(mm, cpu, which, pages):
    """Pages of a new slab, from a list of their own; gives the first one's frame.

    Without a page the run has failed, and the frame is none.
    """
    info = mm.node.info[0]
    info.list, info.pages = which, pages
    z = alloc_page(mm, cpu, NOT)
    info.list, info.pages = CACHE, 1
    if z == NONE:
        return ABSENT
    frame = take_frame(mm.frames, z)
    for _ in range(1, pages):
        take_frame(mm.frames, z)
    return frame


@outline
def alloc_buffer_head(mm, cpu):
    """One for a page that is written."""
    if mm.slab[0].free == ZERO:
        frame = alloc_slab(mm, cpu, HEADS, 1)
        if mm.failed[0]:
            return
        add_slab(mm, frame)
    mm.slab[0].free -= ONE


@outline
def xas_alloc(mm, cpu, index):
    """A slab of nodes for what follows in the file, if it is there for the first time."""
    if mm.map[index] == ABSENT and index % NODE_PAGES == ZERO:
        alloc_slab(mm, cpu, NODES, 2)


@forceinline
def workingset_refault(mm, entry):
    """Whether the page would not have been evicted, had the active list been inactive too."""
    lru = (U(entry) >> AGE_BITS) & U(7)
    distance = (mm.frames.inactive_age[lru] - U(entry)) & AGE_MASK
    return distance <= mm.frames.nr[lru, ACTIVE]


@forceinline
def add_to_page_cache_lru(mm, z, index):
    """Put a new page into the map and on a list; gives its frame."""
    frames = mm.frames
    frame = U(take_frame(frames, z))
    which = INACTIVE
    lru = list_of(frames, z)
    frames.flags[frame] = 0
    if mm.map[index] >= SHADOW and workingset_refault(mm, mm.map[index]):
        which = ACTIVE
        frames.flags[frame] = PG_ACTIVE
        frames.inactive_age[lru] += ONE
        mm.node.count[REFAULTS_ACTIVATED] += ONE
    frames.index[frame] = index
    mm.map[index] = frame + ONE
    lru_add(frames, frame, lru, which)
    return frame


@forceinline
def is_cached(mm, index):
    entry = mm.map[index]
    return entry != ABSENT and entry < SHADOW


@forceinline
def mark_page_accessed(mm, frame):
    """inactive -> inactive and referenced -> active -> active and referenced (mm/swap.c)."""
    frames = mm.frames
    flags = frames.flags[frame]
    if flags & PG_REFERENCED == 0:
        frames.flags[frame] = flags | PG_REFERENCED
    elif flags & PG_ACTIVE == 0:
        lru = list_of(frames, zone_of(frames, frame))
        lru_del(frames, frame, lru, INACTIVE)
        lru_add(frames, frame, lru, ACTIVE)
        frames.flags[frame] = (flags | PG_ACTIVE) & (KEEP_ALL ^ PG_REFERENCED)
        frames.inactive_age[lru] += ONE
        mm.node.count[ACTIVATED] += ONE


@outline
def do_page_cache_readahead(mm, cpu, index, nr, end):
    """Read the absent ones of `nr` pages from `index` on; none beyond `end`.

    Returns
    -------
    uint64
        Pages read.
    """
    read = ZERO
    for each in range(index, min(index + nr, end)):
        if not is_cached(mm, each):
            if len(mm.slabs):
                xas_alloc(mm, cpu, each)
            z = alloc_page(mm, cpu, NOT)
            if mm.failed[0]:
                break
            add_to_page_cache_lru(mm, z, each)
            read += ONE
    mm.disk[0] += read
    return read


@forceinline
def do_generic_file_read(mm, cpu, index, nr, end):
    """Read a page that is absent, and ahead of it up to `nr` pages in all, none beyond `end`.

    A window that memory has no room for pushes its own first page out. The page is then read by
    itself (`no_cached_page`).

    Returns
    -------
    uint64
        Pages read.
    """
    read = do_page_cache_readahead(mm, cpu, index, nr, end)
    if not is_cached(mm, index):
        read += do_page_cache_readahead(mm, cpu, index, ONE, end)
    return read


@forceinline
def write_page(mm, cpu, index):
    """Write a whole page; gives how many pages that took: 0 or 1."""
    taken = ZERO
    if not is_cached(mm, index):
        if len(mm.slabs):
            xas_alloc(mm, cpu, index)
        z = alloc_page(mm, cpu, YES)
        if mm.failed[0]:
            return taken
        add_to_page_cache_lru(mm, z, index)
        taken = ONE
    frame = U(mm.map[index]) - ONE
    if len(mm.slabs) and mm.frames.flags[frame] & PG_PRIVATE == 0:
        mm.frames.flags[frame] |= PG_PRIVATE
        alloc_buffer_head(mm, cpu)
        if not is_cached(mm, index):
            mm.failed[0] = LOST
            return taken
    mark_page_accessed(mm, frame)
    if mm.frames.flags[frame] & PG_DIRTY == 0:
        mm.frames.flags[frame] |= PG_DIRTY
        mm.node.zone[zone_of(mm.frames, frame)].dirty += 1
        size = U(len(mm.dirtied))
        mm.dirtied[(mm.ring[0] + mm.ring[1]) % size] = index
        mm.ring[1] += ONE
    return taken


@outline
def writeback(mm, nr):
    """Write the `nr` pages that have been dirty longest; a page that reclaim met goes first then.

    The flusher and end_page_writeback(): with PG_reclaim the page moves to the tail of its list
    (rotate_reclaimable_page()).
    """
    frames = mm.frames
    for _ in range(min(nr, mm.ring[1])):
        index = mm.dirtied[mm.ring[0]]
        mm.ring[0] = (mm.ring[0] + ONE) % U(len(mm.dirtied))
        mm.ring[1] -= ONE
        frame = U(mm.map[index]) - ONE
        z = zone_of(frames, frame)
        mm.node.zone[z].dirty -= 1
        flags = frames.flags[frame]
        frames.flags[frame] = flags & (KEEP_ALL ^ (PG_DIRTY | PG_RECLAIM))
        if flags & PG_RECLAIM and flags & PG_ACTIVE == 0:
            lru_del(frames, frame, list_of(frames, z), INACTIVE)
            lru_add_tail(frames, frame, list_of(frames, z), INACTIVE)
        mm.disk[1] += ONE


@outline
def dirty_freerun(mm):
    """Pages that may be dirty before a writer waits: half way from background to limit."""
    dirtyable = 0
    for z in range(U(mm.node.info[0].classzone) + ONE):
        dirtyable += zone_dirtyable_memory(mm.node, z)
    limit = dirtyable * mm.node.info[0].dirty_ratio // 100
    return U((limit + limit // 2) // 2)


@forceinline
def balance_dirty_pages(mm, freerun):
    """A writer above `freerun` waits until the flusher is as far."""
    if mm.ring[1] > freerun:
        writeback(mm, mm.ring[1] - freerun)


@forceinline
def pace(mm, pages, rate):
    """kswapd's part of the time in which the disk moves so many pages.

    `rate` is in pages looked at while the disk moves one, times 1024.
    """
    if mm.kswapd[0].state == NAPPING:
        nap(mm, pages)
    if mm.kswapd[0].at_once:
        cond_resched(mm)
    elif mm.kswapd[0].state == AWAKE:
        mm.credit[0] += np.int64(pages) * rate
        kswapd(mm)


@outline
def take_own(mm, frames):
    """Fill `frames`, of (pages,) u4, with what a program takes besides the cache.

    They are on no list until it ends. Simplification: they come from the list of the CPU that the
    cache has, where the kernel has one for movable pages.
    """
    for each in range(U(len(frames))):
        z = alloc_page(mm, ZERO, NOT)
        if mm.failed[0]:
            return
        frames[each] = take_frame(mm.frames, z)
        pace(mm, ONE, 0)


@outline
def give_own(mm, frames):
    """The program ends, and its memory is free."""
    for frame in frames:
        z = zone_of(mm.frames, U(frame))
        give_frame(mm.frames, U(frame), z)
        free_page(mm.node, z)


@outline
def drop_caches(mm):
    """Drop every clean page of the cache, as a write of 1 to vm.drop_caches does."""
    frames = mm.frames
    for index in range(U(len(mm.map))):
        if not is_cached(mm, index):
            mm.map[index] = ABSENT
            continue
        frame = U(mm.map[index]) - ONE
        flags = frames.flags[frame]
        if flags & PG_DIRTY:
            continue
        z = zone_of(frames, frame)
        lru_del(frames, frame, list_of(frames, z), ACTIVE if flags & PG_ACTIVE else INACTIVE)
        if flags & PG_PRIVATE:
            free_buffer_head(mm)
        give_frame(frames, frame, z)
        free_page(mm.node, z)
        mm.map[index] = ABSENT

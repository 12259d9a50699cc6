"""Threads that write or read a file each, from the start to the end, in turns.

        file 0 |--------->         |   thread 0
        file 1 |--------->         |   thread 1: a chunk, then it is the next one's turn

tiobench's threads wait for the disk after each readahead window, and a writer above the dirty limit
after a pause's worth of pages; `chunk` pages are what each does in its turn.
"""

import numpy as np

from lorelab.fairzone.model.filemap import (
    Memory,
    balance_dirty_pages,
    dirty_freerun,
    do_generic_file_read,
    is_cached,
    mark_page_accessed,
    pace,
    write_page,
)
from lorelab.fairzone.model.lru import zone_of
from lorelab.fairzone.model.pcp import quiet_vmstat
from lorelab.numerics import GOLDEN, ONE, ZERO, U, njit, outline, splitmix64

TWO_FILES_READS = 5
"""Times that each of two files is read."""

FIXED_POINT = 1024
"""Rates of kswapd are in 1/1024 page."""


@outline
def sequential(mm, begin, until, first, pages_each, threads, chunk, burst, rate, writes):
    """Let every thread go over pages `begin` to `until` of its file.

    Parameters
    ----------
    mm : Memory
    begin, until : uint64
        Pages of each file; multiples of `chunk`, or the file's end.
    first : uint64
        Page of the map at which the first file begins.
    pages_each, threads : uint64
    chunk : uint64
        Pages of a turn, and of a readahead window.
    burst : uint64
        Pages that the disk moves between two turns of kswapd.
    rate : int64
        Pages that kswapd looks at while the disk moves one, times 1024.
    writes : bool

    See `filemap.check` for a memory in which that does not come to an end.
    """
    cpus = U(mm.node.percpu.shape[1])
    freerun = dirty_freerun(mm)
    taken = ZERO
    for offset in range(begin, until, chunk):
        for thread in range(threads):
            cpu = thread % cpus
            start = first + thread * pages_each
            end = start + pages_each
            for index in range(start + offset, min(start + offset + chunk, end)):
                if writes:
                    taken += write_page(mm, cpu, index)
                    balance_dirty_pages(mm, freerun)
                elif not is_cached(mm, index):
                    taken += do_generic_file_read(mm, cpu, index, chunk, end)
                if mm.failed[0]:
                    return
                if not writes:
                    mark_page_accessed(mm, U(mm.map[index]) - ONE)
                if taken >= burst:
                    pace(mm, taken, rate)
                    taken = ZERO
                    if not writes:
                        quiet_vmstat(mm.node)  # idle until the window is read
    pace(mm, taken, rate)


@outline
def scattered(mm, ops, pages, seed, rate, writes):
    """Write or read `ops` pages at random, each by itself."""
    freerun = dirty_freerun(mm)
    for op in range(ops):
        index = splitmix64(seed + op * GOLDEN) % pages
        if writes:
            taken = write_page(mm, ZERO, index)
            balance_dirty_pages(mm, freerun)
        else:
            taken = do_generic_file_read(mm, ZERO, index, ONE, pages)
        if mm.failed[0]:
            return
        if not writes:
            mark_page_accessed(mm, U(mm.map[index]) - ONE)
        pace(mm, taken, rate)


@njit
def where_cached(mm: Memory, buckets: int) -> np.ndarray:
    """Where each part of the files is.

    Returns
    -------
    (buckets, zones) i8
        Cached pages of each part in each zone.
    """
    found = np.zeros((buckets, len(mm.node.zone)), np.int64)
    pages = U(len(mm.map))
    for index in range(pages):
        if is_cached(mm, index):
            z = zone_of(mm.frames, U(mm.map[index]) - ONE)
            found[np.int64(index * U(buckets) // pages), np.int64(z)] += 1
    return found

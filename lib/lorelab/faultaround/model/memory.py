"""Read faults of a file mapping: mm/memory.c and mm/filemap.c of 6.12.117, without large folios."""

import numpy as np

from lorelab.numerics import ONE, ZERO, U, njit

PTRS_PER_PTE = U(512)
PTES_PER_LINE = U(8)
"""Page-table entries in a cache line of 64 bytes."""


@njit
def do_fault_around(pte_off, vma_off, vma_pages, nr_pages):
    """The window of a fault, as entries of its page table.

    Parameters
    ----------
    pte_off, vma_off : uint64
        Index of the page in its page table, and in the mapping.
    vma_pages, nr_pages : uint64
        Size of the mapping, and fault_around_pages; with 1 the window is the page itself.

    Returns
    -------
    from_pte, to_pte : uint64
        First and last entry.
    """
    from_pte = max(pte_off & ~(nr_pages - ONE), pte_off - min(pte_off, vma_off))
    to_pte = min(from_pte + nr_pages, PTRS_PER_PTE, pte_off + vma_pages - vma_off) - ONE
    return from_pte, to_pte


@njit
def filemap_map_pages(present, cached, start, end, first):
    """Map pages of a window that are cached and not mapped yet: how many, in how many lines."""
    mapped, lines, line = ZERO, ZERO, ~ZERO
    for page in range(start, end + ONE):
        if cached[page] and not present[page]:
            present[page] = True
            mapped += ONE
            if (first + page) // PTES_PER_LINE != line:
                line = (first + page) // PTES_PER_LINE
                lines += ONE
    return mapped, lines


@njit
def do_read_fault(present, cached, page, first, nr_pages):
    """A read of a page that is not mapped, in a mapping that begins at entry `first`."""
    pte_off = (first + page) % PTRS_PER_PTE
    from_pte, to_pte = do_fault_around(pte_off, page, U(len(present)), nr_pages)
    start, end = page + from_pte - pte_off, page + to_pte - pte_off
    # If it is not cached, __do_fault() gets it and finish_fault() maps it, in the same fault.
    cached[page] = True
    mapped, lines = filemap_map_pages(present, cached, start, end, first)
    return page, start, end, mapped, lines


@njit
def read(reads, cached, first, nr_pages):
    """Read pages one after the other.

    Parameters
    ----------
    reads : array of uint64
        Numbers of the pages.
    cached : array of bool
        Whether each page of the mapping is in the page cache; changes.
    first, nr_pages : uint64
        As for `do_read_fault`.

    Returns
    -------
    (faults, 5) array of uint64
        Of each fault the page, its window, how many pages it mapped, and in how many cache lines.
    """
    present = np.zeros(len(cached), np.bool_)
    faults = np.zeros((len(reads), 5), np.uint64)
    n = 0
    for page in reads:
        if not present[page]:
            faults[n] = do_read_fault(present, cached, page, first, nr_pages)
            n += 1
    return faults[:n]

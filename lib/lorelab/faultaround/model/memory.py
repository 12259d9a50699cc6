"""Read faults of a file mapping: mm/memory.c and mm/filemap.c of 6.12.117, without large folios."""

import numpy as np

from lorelab.numerics import ONE, U, njit

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
        Size of the mapping, and fault_around_pages.

    Returns
    -------
    from_pte, to_pte : uint64
        First and last entry.
    """
    from_pte = max(pte_off & ~(nr_pages - ONE), pte_off - min(pte_off, vma_off))
    to_pte = min(from_pte + nr_pages, PTRS_PER_PTE, pte_off + vma_pages - vma_off) - ONE
    return from_pte, to_pte


@njit
def filemap_map_pages(present, cached, start, end):
    """Map the pages from `start` to `end` that are in the page cache and not mapped yet."""
    for page in range(start, end + ONE):
        if cached[page]:
            present[page] = True


@njit
def do_read_fault(present, cached, page, first, nr_pages):
    """A read of a page that is not mapped, in a mapping that begins at entry `first`."""
    if nr_pages > ONE:
        pte_off = (first + page) % PTRS_PER_PTE
        from_pte, to_pte = do_fault_around(pte_off, page, U(len(present)), nr_pages)
        filemap_map_pages(present, cached, page + from_pte - pte_off, page + to_pte - pte_off)
        if present[page]:
            return
    cached[page] = True
    present[page] = True


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
    array of uint64
        A row for each fault: the page, how many it mapped, and in how many cache lines.
    """
    present = np.zeros(len(cached), np.bool_)
    faults = np.zeros((len(reads), 3), np.uint64)
    n = 0
    for page in reads:
        if present[page]:
            continue
        # A window has nr_pages at most, so nothing outside of these changes.
        low = page - min(page, nr_pages)
        high = min(page + nr_pages, U(len(present)))
        before = present[low:high].copy()
        do_read_fault(present, cached, page, first, nr_pages)
        line = U(2**64 - 1)
        faults[n, 0] = page
        for new in range(low, high):
            if present[new] and not before[new - low]:
                faults[n, 1] += ONE
                if (first + new) // PTES_PER_LINE != line:
                    line = (first + new) // PTES_PER_LINE
                    faults[n, 2] += ONE
        n += 1
    return faults[:n]

"""What faults, khugepaged and the actions of a scheme do to the pages of a program.

Follows mm/madvise.c, mm/khugepaged.c and mm/huge_memory.c of Linux 6.12.117, where they decide
something that a scheme's user sees:

- MADV_PAGEOUT takes out every resident page of the range, referenced or not, and splits a huge
  page at the border (madvise_cold_or_pageout_pte_range(), reclaim_pages()).
- A range with a hole in it is worked on, but the call says -ENOMEM, so that DAMOS counts nothing
  as applied (madvise_walk_vmas(), damos_madvise()).
- MADV_HUGEPAGE marks a range; huge pages come from a fault on 2 MiB with no page yet, or from
  khugepaged, which looks at 4096 pages at the first mark (__khugepaged_enter()) and 10 s after
  each scan (khugepaged_wait_work()). MADV_NOHUGEPAGE takes the mark away, and leaves every huge
  page as it is (hugepage_madvise()); but where marked and unmarked meet two mappings meet, and a
  border inside a huge page splits its PMD (vma_adjust_trans_huge()). Its pages stay.
- A page that a fault brings in waits in a batch of its CPU until that has 31; MADV_PAGEOUT and
  khugepaged's scans send on what waits (lru_add_drain(), mm/swap.c).

Simplifications: swap and free memory never run out; a page out means a page compressed on zram,
back at the next touch; khugepaged has this program alone to look at and a CPU to itself, takes
every page that is there for young, and makes a huge page as it begins with it.
"""

from lorelab.damon.model.memory import (
    ADVISED,
    BATCHED,
    HUGE,
    PAGE_SIZE,
    PMD_SIZE,
    RESIDENT,
    SWAPPED,
)
from lorelab.damon.model.young import touched
from lorelab.numerics import ONE, TWO, ZERO, U, njit

PAGEOUT, HUGEPAGE, NOHUGEPAGE, STAT = U(2), U(3), U(4), U(9)
PMD_PAGES = U(512)
PAGES_TO_SCAN = U(4096)
KHUGEPAGED_NS = U(10_000_000_000)  # scan_sleep_millisecs
NEVER = U(2**64 - 1)
MAX_PTES_SWAP = 64
HALF = 256


@njit
def lru_add_drain(pages):
    """Send the pages of the batch to their LRU lists."""
    info = pages.info[0]
    for k in range(info.batched):
        pages.flags[pages.lru_add[k]] &= ~BATCHED
    info.batched = ZERO


@njit
def folio_add_lru(pages, page):
    """Put a new page in the batch, and send all of it on once it is full."""
    info = pages.info[0]
    pages.flags[page] |= BATCHED
    pages.lru_add[info.batched] = page
    info.batched += ONE
    if info.batched == U(len(pages.lru_add)):
        lru_add_drain(pages)


@njit
def fault_in(pages):
    """Bring in the pages that the program touched in this interval and that are not there."""
    info = pages.info[0]
    if len(pages.flags) == 0:
        return
    for block in range(U(len(pages.todo))):
        start = info.base + block * PMD_SIZE
        if pages.todo[block] == 0 or not touched(info, pages.patterns, start, start + PMD_SIZE):
            continue
        if pages.todo[block] == PMD_PAGES and _all_advised(pages, block):
            _map_huge(pages, block)
            lru_add_drain(pages)  # a large folio does not wait
            info.faults += ONE
            info.huge_faults += ONE
            continue
        for page in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
            if pages.flags[page] & RESIDENT:
                continue
            at = info.base + page * PAGE_SIZE
            if touched(info, pages.patterns, at, at + PAGE_SIZE):
                if pages.flags[page] & SWAPPED:
                    info.refaults += ONE
                else:
                    info.faults += ONE
                pages.flags[page] = (pages.flags[page] & ~SWAPPED) | RESIDENT
                folio_add_lru(pages, page)
                pages.todo[block] -= ONE


@njit
def _all_advised(pages, block):
    # A huge page comes by fault where the range is advised and nothing was swapped out of it.
    for page in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
        if not pages.flags[page] & ADVISED or pages.flags[page] & SWAPPED:
            return False
    return True


@njit
def _map_huge(pages, block):
    for page in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
        pages.flags[page] = RESIDENT | ADVISED | HUGE
    pages.todo[block] = 0


@njit
def khugepaged(pages):
    """Scan when it is time to, and sleep from the end of that on (khugepaged_wait_work())."""
    info = pages.info[0]
    if len(pages.todo) == 0:
        return
    while info.now >= info.next_khugepaged:
        ended = khugepaged_do_scan(pages)
        info.next_khugepaged += KHUGEPAGED_NS if ended else info.collapse_ns


@njit
def khugepaged_do_scan(pages):
    """Look at 4096 pages, and no mapping twice unless the first pass began in its middle.

    Returns
    -------
    bool
        Whether that is done; if not, a huge page is being made, and the scan goes on after it.
    """
    info = pages.info[0]
    before = info.collapses
    if info.progress == ZERO:
        lru_add_drain(pages)
    while info.progress < PAGES_TO_SCAN:
        if info.khugepaged_at == ZERO:
            info.pass_through_head += ONE
        if info.pass_through_head == TWO:
            break
        info.progress += khugepaged_scan_mm_slot(pages, PAGES_TO_SCAN - info.progress)
        if info.collapses > before:
            return False
    info.progress = info.pass_through_head = ZERO
    return True


@njit
def khugepaged_scan_mm_slot(pages, nr):
    """Look at 2 MiB after 2 MiB of what is marked, from where the last one ended, up to a collapse.

    The kernel counts each mapping that it leaves out as one page more.

    Returns
    -------
    uint64
        Pages looked at.
    """
    info = pages.info[0]
    progress, before = ONE, info.collapses
    for block in range(info.khugepaged_at, U(len(pages.todo))):
        if not _thp_vma_allowable(pages, block):
            continue
        hpage_collapse_scan_pmd(pages, block)
        progress += PMD_PAGES
        info.khugepaged_at = block + ONE
        if progress >= nr or info.collapses > before:
            return progress
    info.khugepaged_at = ZERO
    return progress


@njit
def _thp_vma_allowable(pages, block):
    for page in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
        if not pages.flags[page] & ADVISED:
            return False
    return True


@njit
def hpage_collapse_scan_pmd(pages, block):
    """Make a huge page of these 2 MiB, if as much of them is there as khugepaged asks for."""
    info = pages.info[0]
    if pages.flags[block * PMD_PAGES] & HUGE:
        return
    present = unmapped = 0
    for page in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
        present += (pages.flags[page] & RESIDENT) != 0
        unmapped += (pages.flags[page] & SWAPPED) != 0
    if unmapped > MAX_PTES_SWAP or present == 0 or (unmapped and present < HALF):
        return
    info.collapses += ONE
    info.refaults += U(unmapped)
    info.bloat += U(512 - present - unmapped)
    _map_huge(pages, block)


@njit
def _split_huge_pmd_if_needed(pages, page):
    # Do two mappings now meet in front of this page, inside a huge page?
    flags = pages.flags
    if page % PMD_PAGES == ZERO or page >= U(len(flags)) or not flags[page] & HUGE:
        return
    if (flags[page - ONE] ^ flags[page]) & ADVISED:
        block = page // PMD_PAGES
        for other in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
            flags[other] &= ~HUGE
        pages.info[0].pmd_splits += ONE


@njit
def _unmapped(pages, start, end):
    # Does [start, end) hold an address that no mapping has?
    at = start
    for vma in pages.vmas:
        if vma[1] <= at and at < vma[2]:
            at = vma[2]
    return at < end


@njit
def damon_va_apply_scheme(pages, start, end, action):
    """Do `action` to the range (damon_va_apply_scheme(), damos_madvise()).

    Returns
    -------
    applied, took_ns : uint64
        Bytes that DAMOS counts as applied, and nanoseconds of work.
    """
    info = pages.info[0]
    if action == STAT:
        return ZERO, ZERO
    if action == PAGEOUT:
        lru_add_drain(pages)
    if action == HUGEPAGE and info.next_khugepaged == NEVER:
        info.next_khugepaged = info.now
    nr = U(len(pages.flags))
    low = (max(start, info.base) - info.base) // PAGE_SIZE
    high = min((max(end, info.base) - info.base) // PAGE_SIZE, nr)
    worked = ZERO
    for page in range(low, high):
        flags = pages.flags[page]
        if action == HUGEPAGE:
            pages.flags[page] = flags | ADVISED
        elif action == NOHUGEPAGE:
            pages.flags[page] = flags & ~ADVISED
        elif action == PAGEOUT and flags & RESIDENT:
            block = page // PMD_PAGES
            if flags & HUGE:
                for other in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
                    pages.flags[other] &= ~HUGE
            pages.flags[page] = (pages.flags[page] & ~RESIDENT) | SWAPPED
            pages.todo[block] += ONE
            info.paged_out += ONE
            worked += ONE
    _split_huge_pmd_if_needed(pages, low)
    _split_huge_pmd_if_needed(pages, high)
    applied = ZERO if _unmapped(pages, start, end) else end - start
    info.acted_ns += worked * info.page_ns
    return applied, worked * info.page_ns

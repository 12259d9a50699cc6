"""What faults, khugepaged and the actions of a scheme do to the pages of a program.

Follows mm/madvise.c, mm/khugepaged.c and mm/huge_memory.c of Linux 6.12.117, where they decide
something that a scheme's user sees:

- MADV_PAGEOUT takes out every resident page of the range, referenced or not, and splits a huge
  page at the border (madvise_cold_or_pageout_pte_range(), reclaim_pages()).
- A range with a hole in it is worked on, but the call says -ENOMEM, so that DAMOS counts nothing
  as applied (madvise_walk_vmas(), damos_madvise()).
- MADV_HUGEPAGE marks a range; huge pages come from a fault on 2 MiB with no page yet, or from
  khugepaged, 4096 pages at the first mark and every 10 s from then on (__khugepaged_enter()).
  MADV_NOHUGEPAGE takes the mark away, and leaves every huge page as it is (hugepage_madvise());
  but where marked and unmarked meet two mappings meet, and a border inside a huge page splits its
  PMD (vma_adjust_trans_huge()). Its pages stay.

Simplifications: swap and free memory never run out; a page out means a page compressed on zram,
back at the next touch; khugepaged looks at this program alone and asks for no young page.
"""

from lorelab.damon.pages import (
    ADVISED,
    HUGE,
    PAGE_SIZE,
    PMD_SIZE,
    RESIDENT,
    SWAPPED,
    touched,
)
from lorelab.damon.state import ONE, ZERO, U, njit

PAGEOUT, HUGEPAGE, NOHUGEPAGE, STAT = U(2), U(3), U(4), U(9)
PMD_PAGES = U(512)
KHUGEPAGED_PMDS = U(4096) // PMD_PAGES  # pages_to_scan
KHUGEPAGED_NS = U(10_000_000_000)  # scan_sleep_millisecs
NEVER = U(2**64 - 1)
MAX_PTES_SWAP = 64


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
    """Collapse advised 2 MiB: each scan goes on where the last one ended (mm/khugepaged.c)."""
    info = pages.info[0]
    if len(pages.todo) == 0 or info.now < info.next_khugepaged:
        return
    info.next_khugepaged += KHUGEPAGED_NS
    budget = KHUGEPAGED_PMDS
    for _ in range(len(pages.todo)):
        if budget == ZERO:
            break
        block = info.khugepaged_at
        info.khugepaged_at = (block + ONE) % U(len(pages.todo))
        resident = swapped = advised = 0
        for page in range(block * PMD_PAGES, (block + ONE) * PMD_PAGES):
            resident += (pages.flags[page] & RESIDENT) != 0
            swapped += (pages.flags[page] & SWAPPED) != 0
            advised += (pages.flags[page] & ADVISED) != 0
        if advised < 512:
            continue  # not in a mapping that is scanned, so it counts nothing
        budget -= ONE
        if pages.flags[block * PMD_PAGES] & HUGE or resident == 0:
            continue
        if swapped <= MAX_PTES_SWAP:
            info.collapses += ONE
            info.refaults += U(swapped)
            info.bloat += U(512 - resident - swapped)
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
    return applied, worked * info.page_ns

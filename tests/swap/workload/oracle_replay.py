"""tools/mm/thp_swap_allocator_test.c of Linux 6.12.117, replayed in plain Python on the oracle.

The tool writes two anonymous areas, pages them out, and then, an iteration at a time, swaps random
pages in, discards and rewrites random 64 KiB ranges, and pages everything out again. What it
reports are the kernel's counts of 64 KiB folios swapped out whole and of those that were split.
All of that runs on one CPU against a synchronous device, and glibc's rand() is never seeded, so the
kernel gives the same figures on each run.
"""

import ctypes

from tests.swap.model.oracle import (
    SWAPFILE_CLUSTER,
    Swap,
    folio_alloc_swap,
    free_swap_slot,
    swap_entry_range_free,
)

MEMSIZE_MTHP = 60 << 20
MEMSIZE_SMALLFOLIO = 4 << 20
ALIGNMENT_MTHP = 64 << 10
ALIGNMENT_SMALLFOLIO = 4 << 10
TOTAL_DONTNEED_MTHP = 16 << 20
TOTAL_DONTNEED_SMALLFOLIO = 1 << 20
PAGE_SIZE = 4 << 10
MTHP_ORDER = 4

libc = ctypes.CDLL(None)
libc.srand.argtypes = [ctypes.c_uint]


class Folio:
    """Resident anonymous memory: 2**order pages from page number `first` of its area."""

    def __init__(self, first, order):
        self.first = first
        self.order = order


class Area:
    """An anonymous mapping as a page table: each entry None, a Folio, or a swap slot (int)."""

    def __init__(self, si, size, hugepage, large_swapin):
        self.si = si
        self.ptes = [None] * (size // PAGE_SIZE)
        self.order = MTHP_ORDER if hugepage else 0
        self.large_swapin = large_swapin and hugepage
        self.swpout = 0
        self.swpout_fallback = 0

    def memset(self, start, size):
        for page in range(start // PAGE_SIZE, (start + size) // PAGE_SIZE):
            handle_pte_fault(self, page)


def aligned(page, order):
    return page & ~((1 << order) - 1)


# mm/memory.c: a write to one page


def handle_pte_fault(area, page):
    pte = area.ptes[page]
    if pte is None:
        do_anonymous_page(area, page)
    elif not isinstance(pte, Folio):
        do_swap_page(area, page)


def do_anonymous_page(area, page):
    """alloc_anon_folio(): the enabled order if its whole aligned range is empty, else one page."""
    order = area.order
    first = aligned(page, order)
    if any(pte is not None for pte in area.ptes[first : first + (1 << order)]):
        order = 0
    map_folio(area, page, order)


def map_folio(area, page, order):
    folio = Folio(aligned(page, order), order)
    for each in range(folio.first, folio.first + (1 << order)):
        area.ptes[each] = folio


def alloc_swap_folio(area, page):
    """Order to swap in with: thp_swap_suitable_orders() and can_swapin_thp()."""
    nr = 1 << area.order
    first = aligned(page, area.order)
    start = area.ptes[first]
    if not area.large_swapin or not isinstance(start, int) or start % nr:
        return 0
    return area.order if area.ptes[first : first + nr] == list(range(start, start + nr)) else 0


def do_swap_page(area, page):
    """Read into a new folio past the swap cache; swapcache_clear() drops the slots one by one."""
    order = alloc_swap_folio(area, page)
    first = aligned(page, order)
    slots = area.ptes[first : first + (1 << order)]
    map_folio(area, page, order)
    for slot in slots:
        free_swap_slot(area.si, 0, slot)


# mm/memory.c, mm/swapfile.c: MADV_DONTNEED


def zap_pte_range(area, start, size):
    page, end = start // PAGE_SIZE, (start + size) // PAGE_SIZE
    while page < end:
        pte = area.ptes[page]
        nr = 1
        if isinstance(pte, int):
            nr = swap_pte_batch(area, page, end)
            free_swap_and_cache_nr(area.si, pte, nr)
        area.ptes[page : page + nr] = [None] * nr
        page += nr


def swap_pte_batch(area, page, end):
    start = area.ptes[page]
    nr = 1
    while page + nr < end and area.ptes[page + nr] == start + nr:
        nr += 1
    return nr


def free_swap_and_cache_nr(si, offset, nr):
    """__swap_entries_free(): a run inside one cluster at once, anything else slot by slot."""
    if nr > 1 and nr <= SWAPFILE_CLUSTER - offset % SWAPFILE_CLUSTER:
        swap_entry_range_free(si, offset, nr)
    else:
        for slot in range(offset, offset + nr):
            free_swap_slot(si, 0, slot)


# mm/madvise.c, mm/vmscan.c: MADV_PAGEOUT


def madvise_pageout(area):
    """Folios in the order of their addresses.

    The walk batches them by page table, list_add()s each and reclaims from the tail, so batching
    changes nothing.
    """
    page = 0
    while page < len(area.ptes):
        folio = area.ptes[page]
        if isinstance(folio, Folio):
            assert folio.first == page, "this tool never leaves a folio partly mapped"
            shrink_folio_list(area, [folio])
            page += 1 << folio.order
        else:
            page += 1


def shrink_folio_list(area, folio_list):
    while folio_list:
        folio = folio_list.pop()
        slot = folio_alloc_swap(area.si, 0, folio.order)
        if not slot and folio.order:
            split_folio_to_list(area, folio, folio_list)
            area.swpout_fallback += 1
            slot = folio_alloc_swap(area.si, 0, 0)
        if not slot:
            continue  # activate_locked: stays resident
        nr = 1 << folio.order
        area.ptes[folio.first : folio.first + nr] = range(slot, slot + nr)
        area.swpout += folio.order == MTHP_ORDER


def split_folio_to_list(area, folio, folio_list):
    """Tail pages go to the end of the list last page first, so that the second page is next."""
    for page in range(folio.first + (1 << folio.order) - 1, folio.first, -1):
        tail = Folio(page, 0)
        area.ptes[page] = tail
        folio_list.append(tail)
    folio.order = 0


# tools/mm/thp_swap_allocator_test.c


def rand():
    return libc.rand()


def random_madvise_dontneed(area, align_size, total):
    size = len(area.ptes) * PAGE_SIZE
    for _ in range(total // align_size):
        offset = rand() % (size // align_size) * align_size
        zap_pte_range(area, offset, align_size)
        area.memset(offset, align_size)


def random_swapin(area, align_size, total):
    size = len(area.ptes) * PAGE_SIZE
    for _ in range(total // align_size):
        area.memset(rand() % (size // align_size) * align_size, align_size)


def thp_swap_allocator_test(
    options="",
    seed=1,
    iterations=100,
    device_mib=64,
    large_swapin=True,
    slot_cache=True,
    free_cache=True,
    alloc_mode="upstream",
    stealing=True,
    rotational=False,
    check=None,
):
    """Run the tool's main().

    Returns
    -------
    list of tuple
        `swpout` and `swpout_fallback` of each iteration, in 64 KiB folios.
    """
    libc.srand(seed)
    si = Swap(device_mib << 8, 1, slot_cache, free_cache, alloc_mode, stealing, rotational)
    mem1 = Area(si, MEMSIZE_MTHP, True, large_swapin)
    mem2 = Area(si, MEMSIZE_SMALLFOLIO, False, large_swapin) if "-s" in options.split() else None
    swapin = ALIGNMENT_MTHP if "-a" in options.split() else ALIGNMENT_SMALLFOLIO

    mem1.memset(0, MEMSIZE_MTHP)
    madvise_pageout(mem1)
    if mem2:
        mem2.memset(0, MEMSIZE_SMALLFOLIO)
        madvise_pageout(mem2)

    rows = []
    for _ in range(iterations):
        mem1.swpout = mem1.swpout_fallback = 0
        random_swapin(mem1, swapin, TOTAL_DONTNEED_MTHP)
        random_madvise_dontneed(mem1, ALIGNMENT_MTHP, TOTAL_DONTNEED_MTHP)
        if mem2:
            random_swapin(mem2, ALIGNMENT_SMALLFOLIO, TOTAL_DONTNEED_SMALLFOLIO)
        madvise_pageout(mem1)
        if mem2:
            madvise_pageout(mem2)
        rows.append((mem1.swpout, mem1.swpout_fallback))
        if check:
            check(si)
    return rows

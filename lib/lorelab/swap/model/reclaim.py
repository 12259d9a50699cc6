"""One folio through `shrink_folio_list()`: what it costs to unmap, split and write, event by event.

mm/vmscan.c, mm/rmap.c, mm/huge_memory.c and mm/page_io.c of Linux 6.6 and 6.12. Which folios come
here, and in what order, is another's to say: `lorelab.swap.model.vmscan` for a cgroup that is
reclaimed from outside, `lorelab.swap.workload.usemem` for tasks that reclaim as they charge.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import ZERO, U, forceinline, outline
from lorelab.swap.model.swap_slots import folio_alloc_swap, free_swap_slot

PMD_ORDER = 9
SWAP_CLUSTER_MAX = 32
"""Pages that reclaim isolates at a time (include/linux/swap.h)."""
MAX_REQUEST_PAGES = 320
"""Largest write request, 1280 KiB: BLK_DEF_MAX_SECTORS_CAP (include/linux/blkdev.h)."""

UNITS = {
    "faults": "folios",
    "resident": "pages",
    "swapped": "pages",
    "reclaims": "calls",
    "aged": "entries",
    "invalidations": "entries",
    "deferred": "entries",
    "flushes": "flushes",
    "splits": "folios",
    "slot_allocations": "calls",
    "fallbacks": "folios",
    "bios": "bios",
    "requests": "requests",
    "scanned": "slots",
}
"""Counters and their units.

`aged` are page table entries found young and cleared by `folio_referenced_one()`; arm64 sends a
TLB invalidation for each, without waiting (`__ptep_clear_flush_young()`), x86 none. `invalidations`
are entries (PTE or PMD) cleared to unmap, `flushes` the waits for them; for those `deferred` it
is one wait for all of a folio, for the others one each. `bios` are writes as
`__swap_writepage()` submits them, which is what a device without a request queue (brd, zram) sees;
`requests` are what is left of them after a plug on a blk-mq device. `scanned` are bytes of
`swap_map` that the allocator read.
"""
COUNTS = np.dtype([(name, "i8") for name in UNITS])

PLUG = np.dtype(
    [
        ("next", "i8"),  # slot after the last write
        ("pages", "i8"),  # of the last request
    ]
)


class Folio(NamedTuple):
    """The folios of a run, which are all alike, and what reclaim does with them."""

    order: int
    mapped: int
    """Pages of it that are in a page table."""
    eager_split: bool
    """It is split before slots are asked for."""
    batched: bool
    """A split waits for its invalidations once, not one by one."""


@forceinline
def writepage(offset, pages, cpu, plug, count):
    """`__swap_writepage()`: one bio; a plug merges it when it continues the last one."""
    last, counted = plug[cpu], count[0]
    counted.bios += 1
    run = pages
    if last.next == offset and last.pages + pages <= MAX_REQUEST_PAGES:
        run += last.pages
    else:
        counted.requests += (pages + MAX_REQUEST_PAGES - 1) // MAX_REQUEST_PAGES
        run = (pages - 1) % MAX_REQUEST_PAGES + 1
    last.next = offset + pages
    last.pages = run
    counted.swapped += pages


@forceinline
def clear_entries(entries, deferred, count):
    """Clear PTEs of a folio: with one wait at the end, or `ptep_clear_flush()`, a wait for each.

    Which of the two, `should_defer_flush()` says: TTU_BATCH_FLUSH must be given, and on x86 the
    page tables be loaded on another CPU too (`arch_tlbbatch_should_defer()`); arm64 always defers.
    """
    counted = count[0]
    counted.invalidations += entries
    counted.flushes += 1 if deferred else entries
    if deferred:
        counted.deferred += entries


@forceinline
def try_to_unmap(order, mapped, elsewhere, count):
    """Unmap and flush before the write: `try_to_unmap_one()`, `try_to_unmap_flush_dirty()`.

    A PMD is first turned into PTEs: `pmdp_invalidate()` in `__split_huge_pmd_locked()`, which
    waits.
    """
    if order == PMD_ORDER and mapped == 1 << order:
        count[0].invalidations += 1
        count[0].flushes += 1
    clear_entries(mapped, elsewhere, count)


@forceinline
def unmap_folio(folio, elsewhere, count):
    """Before a split, `try_to_migrate()` puts a migration entry in each PTE.

    Up to 6.7 `ptep_clear_flush()` waits for each; from 6.8 (commit 3027c6f8eb9d) TTU_BATCH_FLUSH
    leaves one wait at the end. A PMD is frozen as it is split, with one invalidation in all.
    """
    if folio.order == PMD_ORDER and folio.mapped == 1 << folio.order:
        count[0].invalidations += 1
        count[0].flushes += 1
    else:
        clear_entries(folio.mapped, folio.batched and elsewhere, count)
    count[0].splits += 1


@outline
def shrink_folio(si, cpu, folio, elsewhere, plug, count):
    """One dirty, mapped, anonymous folio through `shrink_folio_list()`; False = device full.

    `elsewhere` says that its flushes may be deferred. The pages of a split folio go one by one and
    in order: the tails land at the end of the list that is being shrunk, which is the end it takes
    from. One that nothing maps gets a slot too, which `swap_writepage()` gives back instead of
    writing (`folio_free_swap()`).
    """
    order, counted = folio.order, count[0]
    if order > 0 and not folio.eager_split:
        offset = np.int64(folio_alloc_swap(si, U(cpu), U(order)))
        if offset != 0:
            counted.slot_allocations += 1
            try_to_unmap(order, folio.mapped, elsewhere, count)
            writepage(offset, 1 << order, cpu, plug, count)
            return True
        counted.fallbacks += 1
    if order > 0:
        unmap_folio(folio, elsewhere, count)
    for page in range(1 << order):
        offset = np.int64(folio_alloc_swap(si, U(cpu), ZERO))
        if offset == 0:
            return False
        counted.slot_allocations += 1
        if page >= folio.mapped:
            free_swap_slot(si, U(cpu), U(offset))
            continue
        try_to_unmap(0, 1, elsewhere, count)
        writepage(offset, 1, cpu, plug, count)
    return True

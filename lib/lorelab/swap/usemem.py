"""vm-scalability's usemem in a memory cgroup: what reclaim does, counted event by event.

Each process touches its memory once, in order. Past the cgroup's limit each charge pushes reclaim,
and the task that charges reclaims on its own CPU: `try_charge_memcg()`,
`try_to_free_mem_cgroup_pages()`, `shrink_inactive_list()`, `shrink_folio_list()` of Linux 6.6 and
6.12. What is simplified, and what it changes:

- The LRU is a FIFO. A folio of usemem starts on the inactive list with young page table entries;
  `folio_check_references()` clears them and keeps it once, and finds them old the second time.
  Every folio gets that one more round, so the order of reclaim is the order of arrival. The round
  is counted (`aged`), with no cost of its own in time. (The multi-generational LRU ages by walking
  page tables instead; its order differs, and nothing here is about it.)
- The device writes synchronously (brd, zram, pmem), so a folio is free when its write returns.
- CPUs run in step: in one round each CPU takes one step, which is a fault or one folio through
  `shrink_folio_list()`. So reclaimers interleave folio by folio, more finely than any machine does.
  Whose folios a CPU meets, and so `deferred` and with it `flushes`, is one outcome of many on x86.
- Page tables and other kernel memory of the cgroup are not charged (0.2 % of the memory written).
- Only usemem runs: no file pages, no kswapd (the cgroup's limit is hit first), no swap-in.
"""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.errors import RunFailed
from lorelab.params import label
from lorelab.progress import track
from lorelab.swap.clusters import ZERO, U, njit, outline
from lorelab.swap.model import folio_alloc_swap, free_swap_slot, swapon
from lorelab.swap.params import ForceSplit, Usemem, Variant

PMD_ORDER = 9
PAGES_PER_MIB = 256
SWAP_CLUSTER_MAX = 32
"""Pages that reclaim isolates at a time (include/linux/swap.h)."""
MEMCG_CHARGE_BATCH = 64
"""Pages that a CPU charges ahead (include/linux/memcontrol.h)."""
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
FAULTS, RESIDENT, SWAPPED, RECLAIMS, AGED, INVALIDATIONS, DEFERRED, FLUSHES = range(8)
SPLITS, SLOTS, FALLBACKS, BIOS, REQUESTS, SCANNED = range(8, 14)

LEFT, STOCK, WANTED, ISOLATED, FREED, PLUG_NEXT, PLUG_PAGES = range(7)
"""What a CPU is doing: folios its processes have left to touch, pages charged ahead, pages its
reclaim has still to free, folios it has taken off the LRU, pages it will uncharge at the end of
that list, and, of its plug, the slot after the last write and the pages of the last request."""
USAGE, LRU, OLDEST = range(3)
"""Of the cgroup: pages charged, folios on the LRU, and where `owner` has the oldest of them."""


@njit
def writepage(offset, pages, cpu, plug, count):
    """`__swap_writepage()`: one bio; a plug merges it when it continues the last one.

    `plug` is the rows `PLUG_NEXT` and `PLUG_PAGES`.
    """
    count[BIOS] += 1
    run = pages
    if plug[0, cpu] == offset and plug[1, cpu] + pages <= MAX_REQUEST_PAGES:
        run += plug[1, cpu]
    else:
        count[REQUESTS] += (pages + MAX_REQUEST_PAGES - 1) // MAX_REQUEST_PAGES
        run = (pages - 1) % MAX_REQUEST_PAGES + 1
    plug[0, cpu] = offset + pages
    plug[1, cpu] = run
    count[SWAPPED] += pages


@njit
def clear_entries(entries, deferred, count):
    """Clear PTEs of a folio: with one wait at the end, or `ptep_clear_flush()`, a wait for each.

    Which of the two, `should_defer_flush()` says: TTU_BATCH_FLUSH must be given, and on x86 the
    page tables be loaded on another CPU too (`arch_tlbbatch_should_defer()`); arm64 always defers.
    """
    count[INVALIDATIONS] += entries
    count[FLUSHES] += 1 if deferred else entries
    if deferred:
        count[DEFERRED] += entries


@njit
def try_to_unmap(order, mapped, elsewhere, count):
    """Unmap and flush before the write: `try_to_unmap_one()`, `try_to_unmap_flush_dirty()`.

    A PMD is first turned into PTEs: `pmdp_invalidate()` in `__split_huge_pmd_locked()`, which
    waits.
    """
    if order == PMD_ORDER and mapped == 1 << order:
        count[INVALIDATIONS] += 1
        count[FLUSHES] += 1
    clear_entries(mapped, elsewhere, count)


@njit
def unmap_folio(order, mapped, batched, elsewhere, count):
    """Before a split, `try_to_migrate()` puts a migration entry in each PTE.

    Up to 6.7 `ptep_clear_flush()` waits for each; from 6.8 (commit 3027c6f8eb9d) TTU_BATCH_FLUSH
    leaves one wait at the end. A PMD is frozen as it is split, with one invalidation in all.
    """
    if order == PMD_ORDER and mapped == 1 << order:
        count[INVALIDATIONS] += 1
        count[FLUSHES] += 1
    else:
        clear_entries(mapped, batched and elsewhere, count)
    count[SPLITS] += 1


@outline
def shrink_folio(si, cpu, order, mapped, eager_split, batched, elsewhere, plug, count):
    """One dirty, mapped, anonymous folio through `shrink_folio_list()`; False = device full.

    Of its pages `mapped` are in a page table. The pages of a split folio go one by one and in
    order: the tails land at the end of the list that is being shrunk, which is the end it takes
    from. One that nothing maps gets a slot too, which `swap_writepage()` gives back instead of
    writing (`folio_free_swap()`).
    """
    if order > 0 and not eager_split:
        offset = np.int64(folio_alloc_swap(si, U(cpu), U(order)))
        if offset != 0:
            count[SLOTS] += 1
            try_to_unmap(order, mapped, elsewhere, count)
            writepage(offset, 1 << order, cpu, plug, count)
            return True
        count[FALLBACKS] += 1
    if order > 0:
        unmap_folio(order, mapped, batched, elsewhere, count)
    for page in range(1 << order):
        offset = np.int64(folio_alloc_swap(si, U(cpu), ZERO))
        if offset == 0:
            return False
        count[SLOTS] += 1
        if page >= mapped:
            free_swap_slot(si, U(cpu), U(offset))
            continue
        try_to_unmap(0, 1, elsewhere, count)
        writepage(offset, 1, cpu, plug, count)
    return True


@njit
def try_charge(task, cgroup, cpu, pages, limit):
    """`try_charge_memcg()`: from the CPU's stock, else with a batch ahead, else the bare folio."""
    batch = max(MEMCG_CHARGE_BATCH, pages)
    if task[STOCK, cpu] >= pages:
        task[STOCK, cpu] -= pages
    elif cgroup[USAGE] + batch <= limit:
        cgroup[USAGE] += batch
        task[STOCK, cpu] += batch - pages
    elif cgroup[USAGE] + pages <= limit:
        cgroup[USAGE] += pages
    else:
        return False
    return True


@njit
def run(si, order, limit, eager_split, batched, always, task, cgroup, owner, held, count, until):
    """Fault in and reclaim until `until` folios are in, each CPU one step a round.

    Parameters
    ----------
    si : Swap
        The swap device.
    order, limit : int
        Order of the folios; pages the cgroup may hold.
    eager_split, batched, always : bool
        Whether folios are split before a slot is asked for, and with one flush; whether flushes
        are always deferred, or only for a process of another CPU.
    task : int64[7, CPUs]
        What each CPU is doing, rows `LEFT` to `PLUG_PAGES`.
    cgroup : int64[3]
        `USAGE`, `LRU`, `OLDEST`.
    owner : uint16[folios]
        CPU whose process touched a folio, of those on the LRU: a ring, as long as it can get.
    held : uint16[CPUs, SWAP_CLUSTER_MAX]
        The same of those that a CPU has isolated, the next one last.
    count : int64[14]
        Counters in the order of `UNITS`.
    until : int
        Folios to have faulted in, no more than there are.

    Returns
    -------
    bool
        False when the device had no slot left.
    """
    pages = 1 << order
    isolate_batch = max(1, SWAP_CLUSTER_MAX >> order)
    plug = task[PLUG_NEXT:]
    while count[FAULTS] < until:
        for cpu in range(task.shape[1]):
            if task[ISOLATED, cpu] > 0:
                elsewhere = always or held[cpu, task[ISOLATED, cpu] - 1] != cpu
                if not shrink_folio(
                    si, cpu, order, pages, eager_split, batched, elsewhere, plug, count
                ):
                    return False
                task[ISOLATED, cpu] -= 1
                task[FREED, cpu] += pages
                if task[ISOLATED, cpu] == 0:
                    cgroup[USAGE] -= task[FREED, cpu]
                    task[WANTED, cpu] = max(0, task[WANTED, cpu] - task[FREED, cpu])
                    task[FREED, cpu] = 0
            elif task[WANTED, cpu] > 0 and cgroup[LRU] > 0:
                task[ISOLATED, cpu] = min(isolate_batch, cgroup[LRU])
                for place in range(task[ISOLATED, cpu] - 1, -1, -1):
                    held[cpu, place] = owner[cgroup[OLDEST]]
                    cgroup[OLDEST] = (cgroup[OLDEST] + 1) % owner.size
                cgroup[LRU] -= task[ISOLATED, cpu]
                count[AGED] += task[ISOLATED, cpu] * (1 if order == PMD_ORDER else pages)
            elif task[WANTED, cpu] > 0:
                # drain_all_stock(): nothing to reclaim, so give back what was charged ahead
                task[WANTED, cpu] = 0
                cgroup[USAGE] -= task[STOCK].sum()
                task[STOCK] = 0
            elif task[LEFT, cpu] > 0:
                if try_charge(task, cgroup, cpu, pages, limit):
                    task[LEFT, cpu] -= 1
                    owner[(cgroup[OLDEST] + cgroup[LRU]) % owner.size] = cpu
                    cgroup[LRU] += 1
                    count[FAULTS] += 1
                else:
                    count[RECLAIMS] += 1
                    task[WANTED, cpu] = max(pages, SWAP_CLUSTER_MAX)
                    plug[:, cpu] = 0
    return True


@njit
def finish(si, order, eager_split, batched, always, task, held, count):
    """Write out what is isolated still, when the last fault is served."""
    for cpu in range(task.shape[1]):
        while task[ISOLATED, cpu] > 0:
            elsewhere = always or held[cpu, task[ISOLATED, cpu] - 1] != cpu
            if not shrink_folio(
                si, cpu, order, 1 << order, eager_split, batched, elsewhere, task[PLUG_NEXT:], count
            ):
                return False
            task[ISOLATED, cpu] -= 1
    return True


def splits_first(choice: ForceSplit, order: int, mapped: int) -> bool:
    """Whether `shrink_folio_list()` splits a folio of which `mapped` pages are mapped at once."""
    whole = mapped == 1 << order
    if choice == ForceSplit.PARTIALLY_MAPPED:
        return not whole
    if choice == ForceSplit.NOT_PMD_MAPPED:
        return order > 0 and not (order == PMD_ORDER and whole)
    return order > 0 and choice == ForceSplit.ALL


def count(params: Usemem) -> dict[str, int]:
    """Run the model; counters by name, in the order and units of `UNITS`."""
    order = params.folio_order
    si = swapon(
        params.swap_mib * PAGES_PER_MIB,
        params.variant,
        cpus=params.cpus,
        slot_cache=params.slot_cache,
    )
    each = params.mib_each * PAGES_PER_MIB >> order
    task = np.zeros((7, params.cpus), np.int64)
    task[LEFT] = np.bincount(np.arange(params.processes) % params.cpus, minlength=params.cpus)
    task[LEFT] *= each
    cgroup = np.zeros(3, np.int64)
    totals = np.zeros(len(UNITS), np.int64)
    limit = params.memcg_mib * PAGES_PER_MIB
    eager_split = splits_first(params.force_split, order, 1 << order)
    if params.variant == Variant.V6_6:
        eager_split = 0 < order < PMD_ORDER
    batched, always = params.split_batching, params.architecture == "arm64"
    folios = params.processes * each
    owner = np.zeros(min(folios, limit >> order) + 1, np.uint16)
    held = np.zeros((params.cpus, SWAP_CLUSTER_MAX), np.uint16)
    for part in track(range(1, 101), "swap/usemem"):
        until = folios * part // 100
        if not run(
            si,
            order,
            limit,
            eager_split,
            batched,
            always,
            task,
            cgroup,
            owner,
            held,
            totals,
            until,
        ):
            raise _full(params, totals)
    if not finish(si, order, eager_split, batched, always, task, held, totals):
        raise _full(params, totals)
    totals[RESIDENT] = (totals[FAULTS] << order) - totals[SWAPPED]
    totals[SCANNED] = si.scanned.sum()
    return dict(zip(UNITS, map(int, totals), strict=True))


def _full(params: Usemem, totals: np.ndarray) -> RunFailed:
    return RunFailed(
        f"swap/usemem: the device gave no slot after {totals[SWAPPED]} of "
        f"{params.swap_mib * PAGES_PER_MIB} pages were swapped; raise swap_mib"
    )


def usemem(params: Usemem) -> pd.DataFrame:
    """`swap/usemem` on the model: totals of the whole run as step 0."""
    return counters.table(
        "swap/usemem",
        label(params.variant),
        "model",
        {name: (UNITS[name], [value]) for name, value in count(params).items()},
        first=0,
    )

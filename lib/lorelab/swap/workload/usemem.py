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

from typing import NamedTuple

import numpy as np

from lorelab.numerics import ZERO, U, forceinline, outline
from lorelab.swap.model.swap_slots import folio_alloc_swap, free_swap_slot
from lorelab.swap.params import TRAITS, ForceSplit, Large, Usemem

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
COUNTS = np.dtype([(name, "i8") for name in UNITS])

CPU = np.dtype(
    [
        ("left", "i8"),  # folios that its processes have still to touch
        ("stock", "i8"),  # pages charged ahead
        ("wanted", "i8"),  # pages that its reclaim has still to free
        ("isolated", "i8"),  # folios it has taken off the LRU
        ("freed", "i8"),  # pages that it will uncharge at the end of that list
    ]
)
PLUG = np.dtype(
    [
        ("next", "i8"),  # slot after the last write
        ("pages", "i8"),  # of the last request
    ]
)
MEMCG = np.dtype(
    [
        ("usage", "i8"),  # pages charged
        ("lru", "i8"),  # folios on the LRU
        ("oldest", "i8"),  # where `Machine.owner` has the oldest of them
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


class Machine(NamedTuple):
    """What the CPUs are doing, and what is in the cgroup."""

    cpus: np.ndarray
    """(CPUs,) CPU"""
    memcg: np.ndarray
    """(1,) MEMCG"""
    owner: np.ndarray
    """(folios,) uint16: CPU whose process touched a folio, of those on the LRU: a ring, as long as
    it can get."""
    held: np.ndarray
    """(CPUs, SWAP_CLUSTER_MAX) uint16: the same of those that a CPU has isolated, the next one
    last."""
    plug: np.ndarray
    """(CPUs,) PLUG"""
    always: bool
    """Flushes are always deferred, not only for a process of another CPU."""
    limit: int
    """Pages that the cgroup may hold."""
    count: np.ndarray
    """(1,) COUNTS"""


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


@forceinline
def try_charge(cpu, memcg, pages, limit):
    """`try_charge_memcg()`: from the CPU's stock, else with a batch ahead, else the bare folio."""
    batch = max(MEMCG_CHARGE_BATCH, pages)
    if cpu.stock >= pages:
        cpu.stock -= pages
    elif memcg.usage + batch <= limit:
        memcg.usage += batch
        cpu.stock += batch - pages
    elif memcg.usage + pages <= limit:
        memcg.usage += pages
    else:
        return False
    return True


@forceinline
def drain_all_stock(machine):
    """Give back what CPUs have charged ahead."""
    for cpu in machine.cpus:
        machine.memcg[0].usage -= cpu.stock
        cpu.stock = 0


@forceinline
def isolate_lru_folios(machine, here, folio):
    """Take the oldest folios off the LRU, and age them: a batch, or all that there are."""
    memcg, cpu = machine.memcg[0], machine.cpus[here]
    cpu.isolated = min(max(1, SWAP_CLUSTER_MAX >> folio.order), memcg.lru)
    for place in range(cpu.isolated - 1, -1, -1):
        machine.held[here, place] = machine.owner[memcg.oldest]
        memcg.oldest = (memcg.oldest + 1) % machine.owner.size
    memcg.lru -= cpu.isolated
    entries = 1 if folio.order == PMD_ORDER else 1 << folio.order
    machine.count[0].aged += cpu.isolated * entries


@forceinline
def shrink_next(si, machine, here, folio):
    """Write out the next folio that a CPU has isolated; False = device full."""
    cpu = machine.cpus[here]
    elsewhere = machine.always or machine.held[here, cpu.isolated - 1] != here
    if not shrink_folio(si, here, folio, elsewhere, machine.plug, machine.count):
        return False
    cpu.isolated -= 1
    return True


@forceinline
def run(si, machine, folio, until):
    """Fault in and reclaim until `until` folios are in, each CPU one step a round.

    Parameters
    ----------
    si : Swap
        The swap device.
    machine : Machine
    folio : Folio
        All of it is mapped.
    until : int
        Folios to have faulted in, no more than there are.

    Returns
    -------
    bool
        False when the device had no slot left.
    """
    pages = 1 << folio.order
    memcg, count = machine.memcg[0], machine.count[0]
    while count.faults < until:
        for here in range(machine.cpus.size):
            cpu = machine.cpus[here]
            if cpu.isolated > 0:
                if not shrink_next(si, machine, here, folio):
                    return False
                cpu.freed += pages
                if cpu.isolated == 0:
                    memcg.usage -= cpu.freed
                    cpu.wanted = max(0, cpu.wanted - cpu.freed)
                    cpu.freed = 0
            elif cpu.wanted > 0 and memcg.lru > 0:
                isolate_lru_folios(machine, here, folio)
            elif cpu.wanted > 0:
                # Nothing to reclaim.
                cpu.wanted = 0
                drain_all_stock(machine)
            elif cpu.left > 0:
                if try_charge(cpu, memcg, pages, machine.limit):
                    cpu.left -= 1
                    machine.owner[(memcg.oldest + memcg.lru) % machine.owner.size] = here
                    memcg.lru += 1
                    count.faults += 1
                else:
                    count.reclaims += 1
                    cpu.wanted = max(pages, SWAP_CLUSTER_MAX)
                    machine.plug[here].next = machine.plug[here].pages = 0
    return True


@forceinline
def finish(si, machine, folio):
    """Write out what is isolated still, when the last fault is served; False = device full."""
    for here in range(machine.cpus.size):
        while machine.cpus[here].isolated > 0:
            if not shrink_next(si, machine, here, folio):
                return False
    return True


def splits_first(choice: ForceSplit, order: int, mapped: int) -> bool:
    """Whether `shrink_folio_list()` splits a folio of which `mapped` pages are mapped at once."""
    whole = mapped == 1 << order
    if choice == ForceSplit.PARTIALLY_MAPPED:
        return not whole
    if choice == ForceSplit.NOT_PMD_MAPPED:
        return order > 0 and not (order == PMD_ORDER and whole)
    return order > 0 and choice == ForceSplit.ALL


def whole_folio(params: Usemem) -> Folio:
    """The folios of a run of usemem: all of each is mapped."""
    order = params.folio_order
    eager_split = splits_first(params.force_split, order, 1 << order)
    if TRAITS[params.variant].large == Large.PMD_ONLY:
        eager_split = 0 < order < PMD_ORDER
    return Folio(order, 1 << order, eager_split, params.split_batching)


def start(params: Usemem) -> Machine:
    """Processes that have not touched anything, and an empty cgroup."""
    each = params.mib_each * PAGES_PER_MIB >> params.folio_order
    limit = params.memcg_mib * PAGES_PER_MIB
    cpus = np.zeros(params.cpus, CPU)
    places = np.arange(params.processes) % params.cpus
    cpus["left"] = each * np.bincount(places, minlength=params.cpus)
    folios = min(params.processes * each, limit >> params.folio_order)
    return Machine(
        cpus=cpus,
        memcg=np.zeros(1, MEMCG),
        owner=np.zeros(folios + 1, np.uint16),
        held=np.zeros((params.cpus, SWAP_CLUSTER_MAX), np.uint16),
        plug=np.zeros(params.cpus, PLUG),
        always=params.architecture == "arm64",
        limit=limit,
        count=np.zeros(1, COUNTS),
    )

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

from lorelab.numerics import forceinline
from lorelab.swap.model.reclaim import (
    COUNTS,
    PLUG,
    PMD_ORDER,
    SWAP_CLUSTER_MAX,
    Folio,
    shrink_folio,
)
from lorelab.swap.params import TRAITS, ForceSplit, Large, Usemem

PAGES_PER_MIB = 256
MEMCG_CHARGE_BATCH = 64
"""Pages that a CPU charges ahead (include/linux/memcontrol.h)."""
CPU = np.dtype(
    [
        ("left", "i8"),  # folios that its processes have still to touch
        ("stock", "i8"),  # pages charged ahead
        ("wanted", "i8"),  # pages that its reclaim has still to free
        ("isolated", "i8"),  # folios it has taken off the LRU
        ("freed", "i8"),  # pages that it will uncharge at the end of that list
    ]
)
MEMCG = np.dtype(
    [
        ("usage", "i8"),  # pages charged
        ("lru", "i8"),  # folios on the LRU
        ("oldest", "i8"),  # where `Machine.owner` has the oldest of them
    ]
)


class Machine(NamedTuple):
    """What the CPUs are doing, and what is in the cgroup."""

    cpus: np.ndarray
    """(CPUs,) CPU"""
    memcg: np.ndarray
    """(1,) MEMCG"""
    owner: np.ndarray
    """(folios,) uint16: CPU whose process touched a folio, of those on the LRU: a ring, as long as
    it can get."""
    isolated: np.ndarray
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
        machine.isolated[here, place] = machine.owner[memcg.oldest]
        memcg.oldest = (memcg.oldest + 1) % machine.owner.size
    memcg.lru -= cpu.isolated
    entries = 1 if folio.order == PMD_ORDER else 1 << folio.order
    machine.count[0].aged += cpu.isolated * entries


@forceinline
def shrink_next(si, machine, here, folio):
    """Write out the next folio that a CPU has isolated; False = device full."""
    cpu = machine.cpus[here]
    elsewhere = machine.always or machine.isolated[here, cpu.isolated - 1] != here
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
        isolated=np.zeros((params.cpus, SWAP_CLUSTER_MAX), np.uint16),
        plug=np.zeros(params.cpus, PLUG),
        always=params.architecture == "arm64",
        limit=limit,
        count=np.zeros(1, COUNTS),
    )

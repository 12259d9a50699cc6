"""The swap slot allocator of Linux 7.2 in plain Python: the judge of the model's `v7_2`.

After mm/swapfile.c of 7.2.12. A cluster is where its list is: what flags say in the kernel and in
the model follows from that. Devices, freeing, and what is left out are those of `oracle`; there are
no slot caches, so a slot is asked for and given back at once.
"""

from tests.swap.model import oracle
from tests.swap.model.oracle import PMD_ORDER, SWAP_NR_ORDERS
from tests.swap.model.oracle_lists import SWAPFILE_CLUSTER, list_move_tail

PATHS = ("current", "free", "nonfull", "frag", "steal", "scan", "fail")
"""Where an allocation's cluster came from, in the order of the model's counters."""

free_swap_slot = oracle.free_swap_slot
swap_entry_range_free = oracle.swap_entry_range_free
drain_slots_cache = oracle.drain_slots_cache


class Swap(oracle.Swap):
    """One device of 7.2: no caches, and neighbours in the free list are neighbours on it."""

    columns = 1

    def __init__(self, pages, cpus, stealing):
        super().__init__(pages, cpus, slot_cache=False, stealing=stealing)
        self.path = [[0] * SWAP_NR_ORDERS for _ in PATHS]

    def state(self):
        """With the lists that allocations came from."""
        return super().state() | {"path": self.path}


def lists_to_try(si, order):
    """Lists in the order of the search, whether all of a list is gone through, and its name."""
    if order < PMD_ORDER:
        yield si.nonfull_clusters[order], True, "nonfull"
    yield si.free_clusters, False, "free"
    if order < PMD_ORDER:
        yield si.frag_clusters[order], False, "frag"
    if order == 0 and si.stealing:
        for other in range(1, SWAP_NR_ORDERS):
            yield si.frag_clusters[other], True, "steal"
            yield si.nonfull_clusters[other], True, "steal"


def folio_alloc_swap(si, cpu, order):
    """First slot for a folio of 2**order pages, 0 for none."""
    found, source = allocated(si, cpu, order)
    si.path[PATHS.index(source)][order] += 1
    return found


def allocated(si, cpu, order):
    """And the list that its cluster was on."""
    current = si.percpu_cluster[cpu][order]
    if current:
        ci = si.cluster_info[current // SWAPFILE_CLUSTER]
        partly_used = ci.on is not si.free_clusters and ci.on is not si.full_clusters
        if partly_used and (order == 0 or ci.order == order):
            found = search(si, cpu, ci, current, order)
            if found:
                return found, "current"
    for clusters, whole, source in lists_to_try(si, order):
        while clusters:
            ci = clusters.first()
            del clusters[ci.index]
            ci.on = None
            found = search(si, cpu, ci, ci.offset(), order)
            if found:
                return found, source
            if not whole:
                break
    return 0, "fail"


def search(si, cpu, ci, offset, order):
    """alloc_swap_scan_cluster(): the range, where the CPU goes on, and the cluster's list."""
    size = 1 << order
    behind = ci.offset() + SWAPFILE_CLUSTER
    si.visited[order] += 1
    found = following = 0
    if SWAPFILE_CLUSTER - ci.count >= size:
        for start in range(offset, behind - size + 1, size):
            taken = [
                slot >= si.max or si.swap_map[slot] != 0 for slot in range(start, start + size)
            ]
            si.scanned[order] += taken.index(True) + 1 if any(taken) else size
            if not any(taken):
                found = start
                break
    if found:
        ci.order = ci.order if ci.count else order
        si.swap_map[found : found + size] = bytes([1]) * size
        oracle.swap_range_alloc(si, found, size)
        si.nr_swap_pages -= size
        ci.count += size
        if ci.count < SWAPFILE_CLUSTER and behind - found >= 2 * size:
            following = found + size
    if ci.count == SWAPFILE_CLUSTER:
        home, ci.flags = si.full_clusters, oracle.CLUSTER_FLAG_FULL
    else:
        home, ci.flags = si.frag_clusters[ci.order], oracle.CLUSTER_FLAG_FRAG
    if ci.on is not home:
        list_move_tail(ci, home)
    si.percpu_cluster[cpu][order] = following
    return found

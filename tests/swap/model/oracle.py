"""The swap slot allocator of Linux 6.12.117 in plain Python: the judge of the numba model.

Written from mm/swapfile.c, mm/swap_slots.c and include/linux/swap.h alone, one function per kernel
function, with objects and ordered dictionaries where the model has flat arrays, so that the two
share no mistake but a misreading of the source.

What it leaves out, and what that changes:

- Locks, swapoff, discard, hibernation, bad pages: one device, nothing runs at the same time.
- The swap cache. Writes and reads are synchronous, as on zram, so a slot in use has no folio behind
  it: reclaiming a slot that only has `SWAP_HAS_CACHE` finds nothing. Such slots sit in the per-CPU
  slot caches.
- `swap_reclaim_work`, queued when the device fills up: it would find no folio either, and only
  turns the list of full clusters, whose order nothing reads.
"""

from tests.swap.model import oracle_scan
from tests.swap.model.oracle_lists import SWAPFILE_CLUSTER, Cluster, ClusterList, list_move_tail

PMD_ORDER = 9
SWAP_NR_ORDERS = PMD_ORDER + 1
SWAP_BATCH = 64
SWAP_SLOTS_CACHE_SIZE = SWAP_BATCH
THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE = 5 * SWAP_SLOTS_CACHE_SIZE
THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE = 2 * SWAP_SLOTS_CACHE_SIZE

SWAP_HAS_CACHE, SWAP_MAP_BAD, SWAP_NEXT_INVALID = 0x40, 0x3F, 0

CLUSTER_FLAG_FREE, CLUSTER_FLAG_NONFULL, CLUSTER_FLAG_FRAG, CLUSTER_FLAG_FULL = 1, 2, 4, 8

# setup_clusters(): as many columns as clusters share a cache line of cluster_info, or a swap
# address space. x86-64 without lock debugging: spinlock 4, count 2, flags 1, order 1, list 16
# bytes.
L1_CACHE_BYTES = 64
SIZEOF_SWAP_CLUSTER_INFO = 4 + 2 + 1 + 1 + 16
SWAP_ADDRESS_SPACE_PAGES = 1 << 14
SWAP_CLUSTER_COLS = max(
    -(-L1_CACHE_BYTES // SIZEOF_SWAP_CLUSTER_INFO),
    -(-SWAP_ADDRESS_SPACE_PAGES // SWAPFILE_CLUSTER),
)


class SlotsCache:
    """struct swap_slots_cache of one CPU."""

    def __init__(self):
        self.slots = []
        self.slots_ret = []


class Swap:
    """One active device, the per-CPU state, and what the kernel keeps once for all devices.

    Parameters
    ----------
    pages : int
        Size of the device in 4 KiB pages, the header page included.
    cpus : int
        CPUs online.
    slot_cache : bool
        swap_slot_cache_enabled: order-0 allocations and single freed slots pass per-CPU caches.
    free_cache : bool
        Whether, then, freed slots do.
    alloc_mode : str
        A choice of the laboratory's switch lorelab/swap/alloc_mode (lib/kernel/swap/patches): 6.12
        itself, or what orders above 0 ("nonfull-first": all orders) do in its place.
    stealing : bool
        Another such switch: whether order 0 takes slots of other orders' clusters.
    rotational : bool
        No cluster_info: the clusters stay as they were set up.
    """

    merged = True  # otherwise Chris Li's v4: no frag lists, and nothing is read past
    columns = SWAP_CLUSTER_COLS

    def __init__(
        self,
        pages,
        cpus=1,
        slot_cache=True,
        free_cache=True,
        alloc_mode="upstream",
        stealing=True,
        rotational=False,
    ):
        self.max = pages
        self.pages = pages - 1
        self.inuse_pages = 0
        self.lowest_bit = 1
        self.highest_bit = pages - 1
        self.available = True
        self.swap_map = bytearray(pages)
        self.swap_map[0] = SWAP_MAP_BAD
        self.total_swap_pages = self.pages
        self.nr_swap_pages = self.pages

        self.cpus = cpus
        self.alloc_mode = alloc_mode
        self.stealing = stealing
        self.rotational = rotational
        self.cluster_next = 1
        self.cluster_nr = 0
        self.swap_slot_cache_enabled = slot_cache
        self.free_cache = free_cache
        self.swap_slot_cache_active = False
        self.swp_slots = [SlotsCache() for _ in range(cpus)]
        self.percpu_cluster = [[SWAP_NEXT_INVALID] * SWAP_NR_ORDERS for _ in range(cpus)]
        self.scanned = [0] * SWAP_NR_ORDERS
        self.visited = [0] * SWAP_NR_ORDERS
        setup_clusters(self)

    def state(self):
        """Everything that decides what happens next, in plain types, to be compared."""
        return {
            "free": list(self.free_clusters),
            "nonfull": [list(each) for each in self.nonfull_clusters],
            "frag": [list(each) for each in self.frag_clusters],
            "full": sorted(self.full_clusters),
            "count": [ci.count for ci in self.cluster_info],
            "order": [ci.order for ci in self.cluster_info],
            "flags": [ci.flags for ci in self.cluster_info],
            "next": [list(each) for each in self.percpu_cluster],
            "swap_map": list(self.swap_map),
            "inuse_pages": self.inuse_pages,
            "nr_swap_pages": self.nr_swap_pages,
            "bounds": (self.lowest_bit, self.highest_bit),
            "cluster_next": (self.cluster_next, self.cluster_nr),
            "scanned": self.scanned,
            "visited": self.visited,
        }


# mm/swapfile.c: setting up


def setup_clusters(si):
    nr_clusters = -(-si.max // SWAPFILE_CLUSTER)
    si.cluster_info = [Cluster(i) for i in range(nr_clusters)]
    inc_cluster_info_page(si, 0)
    for page in range(si.max, nr_clusters * SWAPFILE_CLUSTER):
        inc_cluster_info_page(si, page)

    si.free_clusters = ClusterList()
    si.full_clusters = ClusterList()
    si.nonfull_clusters = [ClusterList() for _ in range(SWAP_NR_ORDERS)]
    si.frag_clusters = [ClusterList() for _ in range(SWAP_NR_ORDERS)]
    si.frag_cluster_nr = [0] * SWAP_NR_ORDERS

    for column in range(si.columns):
        for ci in si.cluster_info[column :: si.columns]:
            if ci.count:
                ci.flags = CLUSTER_FLAG_NONFULL
                list_move_tail(ci, si.nonfull_clusters[0])
            else:
                ci.flags = CLUSTER_FLAG_FREE
                list_move_tail(ci, si.free_clusters)


def inc_cluster_info_page(si, page):
    si.cluster_info[page // SWAPFILE_CLUSTER].count += 1


# mm/swapfile.c: allocating


def vm_swap_full(si):
    return si.nr_swap_pages * 2 < si.total_swap_pages


def cluster_scan_range(si, start, order):
    need_reclaim = False
    for offset in range(start, start + (1 << order)):
        si.scanned[order] += 1
        if si.swap_map[offset] == SWAP_HAS_CACHE and si.merged and vm_swap_full(si):
            need_reclaim = True
        elif si.swap_map[offset]:
            return False
    # cluster_reclaim_range(): no folio in the swap cache, so nothing is reclaimed.
    return not need_reclaim


def cluster_alloc_range(si, ci, start, order):
    nr_pages = 1 << order
    if ci.flags & CLUSTER_FLAG_FREE:
        if nr_pages < SWAPFILE_CLUSTER:
            list_move_tail(ci, si.nonfull_clusters[order])
            ci.flags = CLUSTER_FLAG_NONFULL
        ci.order = order

    for offset in range(start, start + nr_pages):
        si.swap_map[offset] = SWAP_HAS_CACHE
    swap_range_alloc(si, start, nr_pages)
    ci.count += nr_pages

    if ci.count == SWAPFILE_CLUSTER:
        if ci.flags & CLUSTER_FLAG_FRAG:
            si.frag_cluster_nr[ci.order] -= 1
        list_move_tail(ci, si.full_clusters)
        ci.flags = CLUSTER_FLAG_FULL


def alloc_swap_scan_cluster(si, offset, order):
    """Returns the next offset to try in this cluster, and the offset found (0 for none)."""
    nr_pages = 1 << order
    si.visited[order] += 1
    ci = si.cluster_info[offset // SWAPFILE_CLUSTER]
    last = min(ci.offset() + SWAPFILE_CLUSTER, si.max) - nr_pages
    if last < 0 or ci.count + nr_pages > SWAPFILE_CLUSTER:
        return SWAP_NEXT_INVALID, 0

    found = 0
    while offset <= last and not found:
        if cluster_scan_range(si, offset, order):
            cluster_alloc_range(si, ci, offset, order)
            found = offset
            if ci.count == SWAPFILE_CLUSTER:
                return SWAP_NEXT_INVALID, found
        elif order and si.alloc_mode == "v3":
            return SWAP_NEXT_INVALID, 0
        offset += nr_pages
    return (offset if offset <= last else SWAP_NEXT_INVALID), found


def swap_reclaim_full_clusters(si):
    if si.full_clusters:
        list_move_tail(si.full_clusters.first(), si.full_clusters)


def cluster_alloc_swap_entry(si, cpu, order):
    cluster = si.percpu_cluster[cpu]

    if cluster[order] != SWAP_NEXT_INVALID:
        offset, found = alloc_swap_scan_cluster(si, cluster[order], order)
        if found:
            cluster[order] = offset
            return found

    frags = 0
    if si.alloc_mode == "nonfull-first" and order < PMD_ORDER:
        offset, found, frags = alloc_from_nonfull(si, order)
        if found:
            cluster[order] = offset
            return found

    if si.free_clusters:
        ci = si.free_clusters.first()
        cluster[order], found = alloc_swap_scan_cluster(si, ci.offset(), order)
        assert found, "a free cluster has room"
        return found

    if si.alloc_mode in ("v6.10", "v3") and order:
        cluster[order] = SWAP_NEXT_INVALID
        return 0

    if vm_swap_full(si):
        swap_reclaim_full_clusters(si)

    offset = SWAP_NEXT_INVALID
    found = 0
    if order < PMD_ORDER and not si.merged:
        for ci in list(si.nonfull_clusters[order].values()):
            offset, found = alloc_swap_scan_cluster(si, ci.offset(), order)
            if found:
                break
    elif order < PMD_ORDER:
        if not frags:
            offset, found, frags = alloc_from_nonfull(si, order)
        while frags < si.frag_cluster_nr[order] and not found:
            ci = si.frag_clusters[order].first()
            list_move_tail(ci, si.frag_clusters[order])
            offset, found = alloc_swap_scan_cluster(si, ci.offset(), order)
            frags += 1

    if not found and order == 0 and si.stealing:
        offset, found = steal_from_higher_order(si, offset)

    cluster[order] = offset
    return found


def alloc_from_nonfull(si, order):
    """Also returns how many clusters went to the frag list on the way."""
    offset, found, frags = SWAP_NEXT_INVALID, 0, 0
    while si.nonfull_clusters[order] and not found:
        ci = si.nonfull_clusters[order].first()
        list_move_tail(ci, si.frag_clusters[order])
        ci.flags = CLUSTER_FLAG_FRAG
        si.frag_cluster_nr[order] += 1
        offset, found = alloc_swap_scan_cluster(si, ci.offset(), order)
        frags += 1
    return offset, found, frags


def steal_from_higher_order(si, offset):
    """The last step of cluster_alloc_swap_entry(), for order 0."""
    for order in range(1, SWAP_NR_ORDERS):
        for clusters in (si.frag_clusters[order], si.nonfull_clusters[order]):
            if clusters:
                offset, found = alloc_swap_scan_cluster(si, clusters.first().offset(), 0)
                assert found, "a cluster that is not full has room for order 0"
                return offset, found
    return offset, 0


def swap_range_alloc(si, offset, nr_entries):
    end = offset + nr_entries - 1
    if offset == si.lowest_bit:
        si.lowest_bit += nr_entries
    if end == si.highest_bit:
        si.highest_bit -= nr_entries
    si.inuse_pages += nr_entries
    if si.inuse_pages == si.pages:
        si.lowest_bit = si.max
        si.highest_bit = 0
        si.available = False


def get_swap_pages(si, cpu, n_goal, order):
    """Allocates up to `n_goal` entries of 2**order slots; returns their first slots."""
    size = 1 << order
    avail_pgs = si.nr_swap_pages // size
    if avail_pgs <= 0:
        return []
    n_goal = min(n_goal, SWAP_BATCH, avail_pgs)
    si.nr_swap_pages -= n_goal * size

    entries = []
    if si.rotational and order == 0:
        entries = oracle_scan.scan_swap_map_slots(si, n_goal)
    elif si.available and si.highest_bit and not si.rotational:
        while len(entries) < n_goal:
            offset = cluster_alloc_swap_entry(si, cpu, order)
            if not offset:
                break
            entries.append(offset)

    si.nr_swap_pages += (n_goal - len(entries)) * size
    return entries


# mm/swapfile.c: freeing


def dec_cluster_info_page(si, ci, nr_pages):
    assert ci.count >= nr_pages and not ci.flags & CLUSTER_FLAG_FREE
    ci.count -= nr_pages
    if not ci.count:
        free_cluster(si, ci)
    elif not ci.flags & CLUSTER_FLAG_NONFULL:
        if ci.flags & CLUSTER_FLAG_FRAG:
            si.frag_cluster_nr[ci.order] -= 1
        list_move_tail(ci, si.nonfull_clusters[ci.order])
        ci.flags = CLUSTER_FLAG_NONFULL


def free_cluster(si, ci):
    """And __free_cluster(), which this calls where there is no discard."""
    if ci.flags & CLUSTER_FLAG_FRAG:
        si.frag_cluster_nr[ci.order] -= 1
    list_move_tail(ci, si.free_clusters)
    ci.flags = CLUSTER_FLAG_FREE
    ci.order = 0


def swap_range_free(si, offset, nr_entries):
    end = offset + nr_entries - 1
    si.lowest_bit = min(si.lowest_bit, offset)
    if end > si.highest_bit:
        if not si.highest_bit:
            si.available = True
        si.highest_bit = end
    si.nr_swap_pages += nr_entries
    si.inuse_pages -= nr_entries


def swap_entry_range_free(si, offset, nr_pages):
    """A range inside one cluster goes back to the device at once."""
    for slot in range(offset, offset + nr_pages):
        assert si.swap_map[slot] not in (0, SWAP_MAP_BAD), f"slot {slot} is not in use"
        si.swap_map[slot] = 0
    if not si.rotational:
        dec_cluster_info_page(si, si.cluster_info[offset // SWAPFILE_CLUSTER], nr_pages)
    swap_range_free(si, offset, nr_pages)


def swapcache_free_entries(si, entries):
    # Sorted by device only, and only where there are several: the order of freeing stands.
    for offset in entries:
        swap_entry_range_free(si, offset, 1)


# mm/swap_slots.c


def use_swap_slot_cache(si):
    return si.swap_slot_cache_active and si.swap_slot_cache_enabled


def check_cache_active(si):
    if not si.swap_slot_cache_enabled:
        return False
    if not si.swap_slot_cache_active:
        if si.nr_swap_pages > si.cpus * THRESHOLD_ACTIVATE_SWAP_SLOTS_CACHE:
            si.swap_slot_cache_active = True
    elif si.nr_swap_pages < si.cpus * THRESHOLD_DEACTIVATE_SWAP_SLOTS_CACHE:
        deactivate_swap_slots_cache(si)
    return si.swap_slot_cache_active


def deactivate_swap_slots_cache(si):
    si.swap_slot_cache_active = False
    drain_slots_cache(si)


def drain_slots_cache(si):
    for cache in si.swp_slots:
        swapcache_free_entries(si, cache.slots)
        cache.slots = []
        swapcache_free_entries(si, cache.slots_ret)
        cache.slots_ret = []


def free_swap_slot(si, cpu, offset):
    """One slot whose last user is gone, through the per-CPU cache of freed slots."""
    assert si.swap_map[offset] == 1, f"slot {offset} is not in use"
    if not (use_swap_slot_cache(si) and si.free_cache):
        swapcache_free_entries(si, [offset])
        return
    cache = si.swp_slots[cpu]
    if len(cache.slots_ret) >= SWAP_SLOTS_CACHE_SIZE:
        swapcache_free_entries(si, cache.slots_ret)
        cache.slots_ret = []
    si.swap_map[offset] = SWAP_HAS_CACHE
    cache.slots_ret.append(offset)


def folio_alloc_swap(si, cpu, order):
    """First slot for a folio of 2**order pages, 0 for none."""
    offset = 0
    if order == 0 and check_cache_active(si):
        cache = si.swp_slots[cpu]
        if not cache.slots:
            cache.slots = get_swap_pages(si, cpu, SWAP_SLOTS_CACHE_SIZE, 0)
        if cache.slots:
            offset = cache.slots.pop(0)
    if not offset:
        offset = next(iter(get_swap_pages(si, cpu, 1, order)), 0)
    for slot in range(offset, offset + (1 << order) if offset else 0):
        si.swap_map[slot] = 1
    return offset

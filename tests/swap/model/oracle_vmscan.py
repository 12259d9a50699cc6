"""Reclaim of partly mapped folios once more: lists of objects, for the model to be held against.

Written from mm/vmscan.c, mm/shrinker.c and mm/huge_memory.c of Linux 6.12. Where the model counts
pages of folio number so and so, here they stand in lists: on the LRU, isolated, in the queue.
"""

from dataclasses import dataclass, field


@dataclass(eq=False)
class Folio:
    pages: int
    mapped: int


@dataclass
class Cgroup:
    """Its `lru` has the oldest folio first; of the queue, the one that was put there first."""

    folios: int
    order: int
    mapped: int
    splits_first: bool
    lru: list = field(default_factory=list)
    split_queue: list = field(default_factory=list)
    nr_deferred: int = 0
    anon_cost: int = 0
    slots: int = 0
    written: int = 0
    splits: int = 0
    shrinker_splits: int = 0

    def __post_init__(self):
        self.lru = [Folio(1 << self.order, self.mapped) for _ in range(self.folios)]
        self.split_queue = list(self.lru)

    def inactive(self):
        return sum(folio.pages for folio in self.lru)

    def split(self, folio):
        """The pages it turns into; those without a mapping have nobody but a list to hold them."""
        self.splits += 1
        self.split_queue.remove(folio)
        return [Folio(1, int(page < folio.mapped)) for page in range(folio.pages)]


def shrink_folio_list(cgroup, folio_list):
    """Pages reclaimed, and pages that went to pageout()."""
    nr_reclaimed = nr_pageout = 0
    while folio_list:
        folio = folio_list.pop(0)
        if folio.pages > 1 and cgroup.splits_first:
            folio, *tails = cgroup.split(folio)
            folio_list[:0] = tails
        cgroup.slots += 1
        nr_pageout += folio.pages
        if not folio.mapped:
            continue  # swap_writepage() frees the slot: dirty again, so kept, and freed later
        if folio in cgroup.split_queue:
            cgroup.split_queue.remove(folio)
        cgroup.written += folio.pages
        nr_reclaimed += folio.pages
    return nr_reclaimed, nr_pageout


def shrink_inactive_list(cgroup, nr_to_scan):
    taken = []
    while sum(folio.pages for folio in taken) < nr_to_scan and cgroup.lru:
        taken.append(cgroup.lru.pop(0))
    nr_scanned = sum(folio.pages for folio in taken)
    if not taken:
        return 0
    nr_reclaimed, nr_pageout = shrink_folio_list(cgroup, taken)
    cgroup.anon_cost += 32 * nr_pageout + nr_scanned - nr_reclaimed
    if cgroup.anon_cost > cgroup.inactive() // 4:
        cgroup.anon_cost //= 2
    return nr_reclaimed


def scan_count(cgroup, priority):
    if priority == 0:
        return cgroup.inactive()
    # Twice the cost of anonymous pages against once, for that is all the cost there is.
    anon, file = 2 * cgroup.anon_cost, cgroup.anon_cost
    ap = 60 * (anon + file + 1) // (anon + 1)
    fp = 140 * (anon + file + 1) // (file + 1)
    return (cgroup.inactive() >> priority) * ap // (ap + fp)


def deferred_split_scan(cgroup, nr_to_scan):
    victims = cgroup.split_queue[:nr_to_scan]
    for folio in victims:
        at = cgroup.lru.index(folio)
        cgroup.lru[at : at + 1] = [page for page in cgroup.split(folio) if page.mapped]
    cgroup.shrinker_splits += len(victims)
    return len(victims)


def shrink_slab(cgroup, priority):
    freeable = len(cgroup.split_queue)
    if not freeable:
        return
    new, old = 2 * (freeable >> priority), cgroup.nr_deferred
    total = min((old >> priority) + new, 2 * freeable)
    done = 0
    while total >= min(128, freeable):
        asked = min(128, total)
        if not deferred_split_scan(cgroup, asked):
            break
        total -= asked
        done += asked
    cgroup.nr_deferred = min(max(old + new - done, 0), 2 * freeable)


def try_to_free_mem_cgroup_pages(cgroup, nr_pages):
    goal = max(nr_pages, 32)
    for priority in [*range(12, -1, -1)] * 2:
        nr_reclaimed = 0
        left = scan_count(cgroup, priority)
        while left and nr_reclaimed < goal:
            nr_reclaimed += shrink_inactive_list(cgroup, min(left, 32))
            left -= min(left, 32)
        cgroup.reclaimed += nr_reclaimed
        shrink_slab(cgroup, priority)
        if cgroup.reclaimed >= goal or (priority == 0 and cgroup.reclaimed):
            break
    return cgroup.reclaimed


def memory_reclaim(cgroup, nr_to_reclaim):
    tries, nr_reclaimed = 17, 0
    while nr_reclaimed < nr_to_reclaim and tries:
        cgroup.reclaimed = 0
        got = try_to_free_mem_cgroup_pages(cgroup, (nr_to_reclaim - nr_reclaimed) // 4)
        nr_reclaimed += got
        tries -= not got
    return nr_reclaimed >= nr_to_reclaim


def run(folios, order, mapped, splits_first, requests):
    """The counters that depend on who splits which folio, by the model's names."""
    cgroup = Cgroup(folios, order, mapped, splits_first)
    for _ in range(requests):
        if not memory_reclaim(cgroup, (folios << order) // requests):
            break
    return {
        "swapped": cgroup.written,
        "splits": cgroup.splits,
        "slot_allocations": cgroup.slots,
        "shrinker_splits": cgroup.shrinker_splits,
    }

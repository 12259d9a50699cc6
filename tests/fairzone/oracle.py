"""The zones, the policies and reclaim once more, in plain Python with other means.

Lists are ordered dictionaries and a page is what the file says about it. Slow, and meant to be
compared with the model page by page. Zones and policies are in `oracle_zones`.
"""

from collections import OrderedDict, deque

from tests.fairzone.oracle_zones import V, Zones


class Machine(Zones):
    """The lists, kswapd, direct reclaim and the page cache on the zones."""

    def __init__(self, variant, local, remote, cpus, exact, min_free_kib, nap, dirty_ratio=20):
        super().__init__(variant, local, remote, cpus, exact, min_free_kib, dirty_ratio)
        self.cache = {}  # file page -> zone
        self.bits = {}  # file page -> set of "active", "referenced", "dirty", "reclaim"
        self.shadows = {}  # file page -> (list, age)
        self.dirtied = deque()
        self.read = self.written = 0
        self.kswapd = None  # a generator while kswapd is awake
        self.credit = 0
        self.nap_pages, self.nap = nap, 0
        self.node_list = [OrderedDict(), OrderedDict()]
        self.node_age = 0
        self.decides_first = False
        self.seen = 0  # refaults that were activated, when reclaim last ended

    def alloc(self, cpu, writes):
        z = self.fair(cpu, writes)
        while z is None:
            self.count["slowpaths"] += 1
            if self.v in (V.V3_12, V.V3_13):
                self.reset(cpu)
            self.wake()
            z = self.plain(cpu, False, writes)
            if z is None and not self.direct():
                self.writeback(32)
        return z

    # Lists and reclaim

    def lru(self, z):
        return self.node_list if self.v == V.NODE_LRU else z.lists

    def tick(self, z):
        if self.v == V.NODE_LRU:
            self.node_age += 1
            return self.node_age
        z.age += 1
        return z.age

    def shrink_inactive(self, lists, nr):
        freed = 0
        nr = min(nr, len(lists[0]))
        for _ in range(nr):
            page, _ = lists[0].popitem(last=False)
            bits = self.bits[page]
            if "dirty" in bits:
                bits.discard("referenced")
                bits.add("reclaim")
                self.count["rotated"] += 1
                lists[0][page] = None
                continue
            z = self.cache.pop(page)
            self.shadows[page] = (z, self.tick(z))
            del self.bits[page]
            z.free += 1
            z.reclaimed += 1
            freed += 1
        return nr, freed

    def shrink_active(self, lists, nr):
        for _ in range(min(nr, len(lists[1]))):
            page, _ = lists[1].popitem(last=False)
            self.bits[page].discard("active")
            lists[0][page] = None

    def shrink_lruvec(self, lists, priority, wanted, whole):
        """Yields the pages looked at, chunk by chunk; returns scanned and freed."""
        left = [len(lists[0]) >> priority, len(lists[1]) >> priority]
        scanned = freed = 0
        short = len(lists[1]) > len(lists[0])
        first = short or self.count["refaults_activated"] != self.seen
        while True:
            cost = 0
            if left[0]:
                nr = min(left[0], 32)
                left[0] -= nr
                looked, gone = self.shrink_inactive(lists, nr)
                scanned, freed, cost = scanned + looked, freed + gone, looked
            if left[1]:
                nr = min(left[1], 32)
                left[1] -= nr
                if first if self.decides_first else len(lists[1]) > len(lists[0]):
                    self.shrink_active(lists, nr)
                    cost += nr
            if freed >= wanted and not whole:
                left = [0, 0]
            yield cost
            if left == [0, 0]:
                return scanned, freed

    def balanced(self, z, gap=0, klass=None):
        return z.free > z.high + gap + (0 if klass is None else self.kept(z, klass))

    def has_pages(self, z):
        return any(self.lru(z))

    def all_balanced(self):
        top = len(self.local) - 1
        if self.v == V.NODE_LRU:
            return any(self.balanced(z, 0, top) for z in self.local)
        return all(self.balanced(z) for z in self.local if self.has_pages(z))

    def wake(self):
        if self.kswapd or all(self.balanced(z) for z in self.local):
            return
        self.count["wakeups"] += 1
        self.count["low_wmark_hit_quickly"] += self.nap > 0
        self.start()

    def start(self):
        self.count["pageoutrun"] += 1
        self.nap, self.credit, self.kswapd = 0, 0, self.balance_pgdat()

    def balance_pgdat(self):
        """Yields what each chunk costs, until the node is balanced."""
        priority = 12
        while True:
            if self.v == V.NODE_LRU:
                if self.all_balanced():
                    return
                walk = self.local[:1]
                wanted = sum(max(z.high, 32) for z in self.local)
            else:
                lacking = [z for z in self.local if self.has_pages(z) and not self.balanced(z)]
                if not lacking:
                    return
                end = lacking[-1].idx
                walk = self.local[: end + 1]
            harder, total = True, 0
            for z in walk:
                if self.v != V.NODE_LRU:
                    wanted = max(32, z.high)
                    gap = min(z.low, -(-z.managed // 100))
                    if self.balanced(z, gap, end):
                        harder = False
                        continue
                scanned, freed = yield from self.shrink_lruvec(self.lru(z), priority, wanted, False)
                total += freed
                if scanned >= wanted:
                    harder = False
            if harder or not total:
                priority -= 1
            done = self.all_balanced()
            if not done and priority < 1:
                self.count["pageoutrun"] += 1
                priority = 12
                self.seen = self.count["refaults_activated"]
            if done:
                self.sleep()
            yield 1
            if done:
                return

    def pace(self, pages, rate):
        if self.nap:
            if self.nap > pages:
                self.nap -= pages
            else:
                self.nap = 0
                if not self.all_balanced():
                    self.count["high_wmark_hit_quickly"] += 1
                    self.start()
        if self.kswapd:
            self.credit += pages * rate
        while self.kswapd and self.credit > 0:
            cost = next(self.kswapd, None)
            if cost is None:
                self.sleep()
            else:
                self.credit -= 1024 * cost

    def sleep(self):
        self.seen = self.count["refaults_activated"]
        self.kswapd, self.nap = None, self.nap_pages

    def direct(self):
        self.count["direct_reclaims"] += 1
        freed = 0
        for priority in range(12, -1, -1):
            every = [self.node_list] if self.v == V.NODE_LRU else [z.lists for z in self.order]
            for lists in every:
                steps = self.shrink_lruvec(lists, priority, 32, priority == 12)
                while True:
                    try:
                        next(steps)
                    except StopIteration as stop:
                        freed += stop.value[1]
                        break
            if freed >= 32:
                break
        self.seen = self.count["refaults_activated"]
        return freed

    # The page cache

    def add(self, z, page):
        where = 0
        bits = self.bits[page] = set()
        if page in self.shadows:
            old, age = self.shadows.pop(page)
            now = self.node_age if self.v == V.NODE_LRU else old.age
            if now - age <= len(self.lru(old)[1]):
                where = 1
                bits.add("active")
                self.tick(z)
                self.count["refaults_activated"] += 1
        self.cache[page] = z
        self.lru(z)[where][page] = None

    def accessed(self, page):
        bits = self.bits[page]
        if "referenced" not in bits:
            bits.add("referenced")
        elif "active" not in bits:
            z = self.cache[page]
            del self.lru(z)[0][page]
            self.lru(z)[1][page] = None
            bits.add("active")
            bits.discard("referenced")
            self.tick(z)
            self.count["activated"] += 1

    def write(self, cpu, page):
        taken = page not in self.cache
        if taken:
            self.add(self.alloc(cpu, True), page)
        self.accessed(page)
        if "dirty" not in self.bits[page]:
            self.bits[page].add("dirty")
            self.cache[page].dirty += 1
            self.dirtied.append(page)
        able = sum(z.managed - min(z.reserve[-1] + z.high, z.managed) for z in self.local)
        limit = able * self.dirty_ratio // 100
        while len(self.dirtied) > (limit + limit // 2) // 2:
            self.writeback(1)
        return taken

    def writeback(self, nr):
        for _ in range(min(nr, len(self.dirtied))):
            page = self.dirtied.popleft()
            z, bits = self.cache[page], self.bits[page]
            z.dirty -= 1
            bits.discard("dirty")
            if "reclaim" in bits:
                bits.discard("reclaim")
                if "active" not in bits:
                    self.lru(z)[0].move_to_end(page, last=False)
            self.written += 1

    def readahead(self, cpu, page, nr, end):
        got = 0
        for each in range(page, min(page + nr, end)):
            if each not in self.cache:
                self.add(self.alloc(cpu, False), each)
                got += 1
        self.read += got
        return got

    def one_file(self, first, pages, chunk, rate):
        """Read one file, kswapd's turn after each chunk that was read ahead."""
        taken = 0
        for page in range(first, first + pages):
            if page not in self.cache:
                ahead = first + (page - first) // chunk * chunk
                taken += self.readahead(0, page, min(chunk, ahead + chunk - page), first + pages)
            self.accessed(page)
            if taken >= chunk:
                self.pace(taken, rate)
                taken = 0
        self.pace(taken, rate)

    def sequential(self, pages_each, threads, chunk, burst, rate, writes):
        taken = 0
        for offset in range(0, pages_each, chunk):
            for thread in range(threads):
                end = (thread + 1) * pages_each
                start = thread * pages_each + offset
                for page in range(start, min(start + chunk, end)):
                    cpu = thread % self.cpus
                    if writes:
                        taken += self.write(cpu, page)
                    else:
                        if page not in self.cache:
                            taken += self.readahead(cpu, page, chunk, end)
                        self.accessed(page)
                    if taken >= burst:
                        self.pace(taken, rate)
                        taken = 0
        self.pace(taken, rate)

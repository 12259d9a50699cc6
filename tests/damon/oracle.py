"""kdamond of Linux 6.12.117 in plain Python: the judge of the numba model.

Written from mm/damon/core.c, mm/damon/vaddr.c, mm/damon/ops-common.c and include/linux/damon.h
alone. A target's regions are a Python list that is rebuilt where the kernel relinks, numbers are
Python's own, and the world is two functions: `below(ceil)` for get_random_u32_below() and
`young(address)` for what a page walk finds. Actions take no time and move no memory.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise

PAGE = 4096
GOAL = 10_000
ULONG_MAX = 2**64 - 1
INITIAL_JIFFIES = 2**32 - 300 * 1000


@dataclass
class Region:
    start: int
    end: int
    nr_accesses: int = 0
    bp: int = 0
    age: int = 0
    last: int = 0
    sampling_addr: int = 0

    @property
    def sz(self):
        return self.end - self.start


@dataclass
class Scheme:
    sz: tuple
    nr_accesses: tuple
    age: tuple
    action: str = "stat"
    apply_interval: int = 0
    reset_ms: int = 0
    quota_ms: int = 0
    quota_sz: int = 0
    weights: tuple = (0, 0)
    goals: list = field(default_factory=list)
    filters: list = field(default_factory=list)
    next_apply: int = 0
    esz: int = 0
    esz_bp: int = 0
    total_charged_sz: int = 0
    charged_sz: int = 0
    charged_from: int = 0
    charge_target: object = None
    charge_addr: int = 0
    min_score: int = 0
    stat: dict = field(
        default_factory=lambda: dict.fromkeys(
            ("nr_tried", "sz_tried", "nr_applied", "sz_applied", "qt_exceeds"), 0
        )
    )


def down(x):
    return x // PAGE * PAGE


def up(x):
    return -(-x // PAGE) * PAGE


class Kdamond:
    """One context; `kernel` is a dictionary with the static variables that contexts share."""

    def __init__(self, targets, attrs, below, young, schemes=(), kernel=None):
        self.mappings = targets
        self.targets = [[] for _ in targets]
        self.sample, self.aggr, self.update, self.min, self.max = attrs
        self.below, self.young = below, young
        self.schemes = list(schemes)
        self.kernel = {"last_nr_regions": 0} if kernel is None else kernel
        self.passed = 0
        self.now = 0
        self.aggregated = None

    # include/linux/damon.h

    def rand(self, low, high):
        return low + self.below((high - low) % 2**32)

    # mm/damon/vaddr.c

    def three_regions(self, mappings):
        gaps = [(after[0] - before[1], before[1], after[0]) for before, after in pairwise(mappings)]
        # The first of equals stays ahead, as only a larger gap takes over.
        largest = sorted(gaps, key=lambda gap: -gap[0])[:2]
        if len(largest) < 2 or largest[1][0] == 0:
            return None
        (_, a, b), (_, c, d) = sorted(largest, key=lambda gap: gap[1])
        cuts = [mappings[0][0], a, b, c, d, mappings[-1][1]]
        cuts = [up(cut) for cut in cuts]
        return list(zip(cuts[::2], cuts[1::2], strict=True))

    def start(self):
        self.next_aggr = self.aggr // self.sample
        self.next_update = self.update // self.sample
        for s in self.schemes:
            s.next_apply = (s.apply_interval or self.aggr) // self.sample
        for t, mappings in enumerate(self.mappings):
            ranges = self.three_regions(mappings)
            if ranges is None:
                continue
            piece = max(sum(end - start for start, end in ranges) // self.min, PAGE)
            for start, end in ranges:
                self.targets[t] += self.evenly(start, end, (end - start) // piece)
        self.sz_limit = self.limit()

    def evenly(self, start, end, pieces):
        size = down((end - start) // pieces) if pieces else 0
        if size == 0:
            return [Region(start, end)]
        starts = [start + k * size for k in range(pieces)]
        return [Region(a, b) for a, b in zip(starts, [*starts[1:], end], strict=True)]

    # mm/damon/core.c: regions

    def all(self):
        return [r for regions in self.targets for r in regions]

    def limit(self):
        return max(sum(r.sz for r in self.all()) // self.min, PAGE)

    def set_regions(self, t, ranges):
        def meets(r, one):
            return r.start < one[1] and one[0] < r.end

        old = [r for r in self.targets[t] if any(meets(r, one) for one in ranges)]
        new, at = [], 0
        for one in ranges:
            # A region that reaches over two ranges belongs to the first that it meets.
            inside = []
            while at < len(old) and old[at].start < one[1]:
                (inside if meets(old[at], one) else new).append(old[at])
                at += 1
            if not inside:
                new.append(Region(down(one[0]), up(one[1])))
                continue
            inside[0].start, inside[-1].end = down(one[0]), up(one[1])
            for before, after in pairwise(inside):
                new.append(before)
                if before.end != after.start:
                    new.append(Region(before.end, after.start))
            new.append(inside[-1])
        self.targets[t] = new + old[at:]

    def merge_once(self, regions, thres, ageing):
        kept = []
        for r in regions:
            if ageing:
                r.age = 0 if abs(r.nr_accesses - r.last) > thres else r.age + 1
            left = kept[-1] if kept else None
            if (
                left
                and left.end == r.start
                and abs(left.nr_accesses - r.nr_accesses) <= thres
                and left.sz + r.sz <= self.sz_limit
            ):
                total = left.sz + r.sz
                left.nr_accesses = (left.nr_accesses * left.sz + r.nr_accesses * r.sz) // total
                left.age = (left.age * left.sz + r.age * r.sz) // total
                left.bp = left.nr_accesses * 10_000
                left.end = r.end
            else:
                kept.append(r)
        return kept

    def merge(self, thres):
        highest = self.aggr // self.sample
        ageing = True
        while True:
            self.targets = [self.merge_once(rs, thres, ageing) for rs in self.targets]
            ageing = False
            if len(self.all()) <= self.max or thres >= highest:
                return
            thres = max(1, 2 * thres) if thres < highest // 2 else highest

    def split(self):
        nr = len(self.all())
        if nr > self.max // 2:
            return
        thirds = nr == self.kernel["last_nr_regions"] and nr < self.max // 3
        for t, regions in enumerate(self.targets):
            self.targets[t] = [piece for r in regions for piece in self.cut(r, 3 if thirds else 2)]
        self.kernel["last_nr_regions"] = nr

    def cut(self, r, pieces):
        right = []
        for _ in range(pieces - 1):
            if r.sz <= 2 * PAGE:
                break
            size = down(self.rand(1, 10) * r.sz // 10)
            if 0 < size < r.sz:
                right.insert(0, replace(r, start=r.start + size))
                r.end = r.start + size
        return [r, *right]

    def split_at(self, t, r, size):
        index = self.targets[t].index(r)
        self.targets[t].insert(index + 1, replace(r, start=r.start + size))
        r.end = r.start + size

    # mm/damon/core.c: schemes

    def score(self, r, s):
        if s.action != "pageout":
            return 99
        frequency = r.bp // 10_000 * 100 // max(self.aggr // self.sample, 1)
        bits = min((r.age * self.aggr // 1_000_000).bit_length(), 32)
        age = (32 + (bits if frequency else -bits)) * 100 // 64
        hot = s.weights[0] * frequency + s.weights[1] * age
        if sum(s.weights):
            hot //= sum(s.weights)
        return 99 - max(min(hot * 99 // 100, 99), 0)

    def matches(self, r, s):
        return all(
            low <= value <= high
            for (low, high), value in (
                (s.sz, r.sz),
                (s.nr_accesses, r.bp // 10_000),
                (s.age, r.age),
            )
        )

    def effective_quota(self, s):
        sizes = [s.quota_sz] if s.quota_sz else []
        if s.goals:
            score = max(now * GOAL // wanted for wanted, now in s.goals)
            s.esz_bp = self.feed_loop(max(s.esz_bp, 10_000), score)
            sizes.append(s.esz_bp // 10_000)
        if s.quota_ms:
            # No action takes time here, so the throughput stays the first guess: 1024 pages/ms.
            timed = PAGE * 1024 * s.quota_ms
            timed = min(timed, sizes.pop()) if s.goals else timed
            sizes.append(max(timed, PAGE))
        s.esz = min(sizes)

    @staticmethod
    def feed_loop(last, score):
        if score >= 2 * GOAL:
            return 10_000
        diff = abs(score - GOAL)
        if not diff:
            return last
        # Where the product would not fit in 64 bits the division comes first; the sum saturates.
        change = last * diff // GOAL if last < ULONG_MAX // diff else last // GOAL * diff
        if score > GOAL:
            return max(last - change, 10_000)
        return last + change if last < ULONG_MAX - change else ULONG_MAX

    def adjust_quota(self, s):
        if not (s.esz or s.quota_ms or s.quota_sz or s.goals):
            return
        now = INITIAL_JIFFIES + self.now * 1000 // 1_000_000
        if not s.total_charged_sz and not s.charged_from:
            s.charged_from = now
        if not s.charged_from <= now < s.charged_from + s.reset_ms:
            s.stat["qt_exceeds"] += bool(s.esz and s.charged_sz >= s.esz)
            s.total_charged_sz += s.charged_sz
            s.charged_from, s.charged_sz = now, 0
            self.effective_quota(s)
        sizes = [0] * 100
        for r in self.all():
            if self.matches(r, s):
                sizes[self.score(r, s)] += r.sz
        top = max((score for score in range(100) if sizes[score]), default=0)
        s.min_score = next((score for score in range(top, 0, -1) if sum(sizes[score:]) >= s.esz), 0)

    def skip_charged(self, t, r, s):
        skip = False
        if s.charge_target is not None:
            if t != s.charge_target:
                return True
            if s.charge_addr and r.end <= s.charge_addr:
                skip = True
            elif s.charge_addr and r.start < s.charge_addr:
                skip = True
                size = down(s.charge_addr - r.start)
                if size or r.sz > PAGE:
                    self.split_at(t, r, size or PAGE)
        if r is self.targets[t][-1]:
            s.charge_target, s.charge_addr = None, 0
        return skip

    def filtered(self, t, r, s):
        for kind, matching, low, high in s.filters:
            if kind == "target":
                matched = t == low
            else:
                low, high = down(low), down(high)
                if low <= r.start and r.end <= high:
                    matched = True
                elif r.end <= low or high <= r.start:
                    matched = False
                else:
                    matched = r.start >= low
                    self.split_at(t, r, (high if matched else low) - r.start)
            if matched == matching:
                return True
        return False

    def apply(self, t, r, s):
        sz = r.sz
        if s.esz and s.charged_sz + sz > s.esz:
            sz = down(s.esz - s.charged_sz)
            if sz:
                self.split_at(t, r, sz)
        if sz:
            if self.filtered(t, r, s):
                return
            sz = r.sz
            s.charged_sz += sz
            if s.esz and s.charged_sz >= s.esz:
                s.charge_target, s.charge_addr = t, r.end
            if s.action != "stat":
                r.age = 0
        s.stat["nr_tried"] += 1
        s.stat["sz_tried"] += sz

    def apply_schemes(self):
        due = [s for s in self.schemes if self.passed >= s.next_apply]
        for s in due:
            self.adjust_quota(s)
        if not due:
            return
        for t, regions in enumerate(self.targets):
            index = 0
            while index < len(regions):
                r = regions[index]
                for s in due:
                    if s.esz and s.charged_sz >= s.esz:
                        continue
                    if self.skip_charged(t, r, s) or not self.matches(r, s):
                        continue
                    if s.esz and self.score(r, s) < s.min_score:
                        continue
                    self.apply(t, r, s)
                index += 1
        for s in due:
            s.next_apply = self.passed + (s.apply_interval or self.aggr) // self.sample

    # kdamond_fn()

    def one_sample(self):
        """One time round the loop of kdamond_fn(), without the sleep."""
        for r in self.all():
            r.sampling_addr = self.rand(r.start, r.end)
        self.passed += 1
        self.now += self.sample
        window = max(self.aggr // self.sample, 1)
        for r in self.all():
            accessed = self.young(r.sampling_addr)
            r.bp += 10_000 * accessed - r.last * 10_000 // window
            r.nr_accesses += accessed
        over = self.passed >= self.next_aggr
        if over:
            self.merge(max((r.nr_accesses for r in self.all()), default=0) // 10)
        if self.schemes:
            self.apply_schemes()
        if over:
            self.next_aggr += self.aggr // self.sample
            self.aggregated = [
                (t, r.start, r.end, r.nr_accesses, r.age)
                for t, regions in enumerate(self.targets)
                for r in regions
            ]
            for r in self.all():
                r.last, r.nr_accesses = r.nr_accesses, 0
            self.split()
        if self.passed >= self.next_update:
            self.next_update += self.update // self.sample
            for t, mappings in enumerate(self.mappings):
                ranges = self.three_regions(mappings)
                if ranges:
                    self.set_regions(t, ranges)
            self.sz_limit = self.limit()
        return over

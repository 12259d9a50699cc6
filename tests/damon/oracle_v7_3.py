"""kdamond of Linux 7.3.4 in plain Python: the judge of `lorelab.damon.model.v7_3`.

Written from mm/damon/core.c, mm/damon/vaddr.c, include/linux/damon.h, include/linux/prandom.h and
lib/random32.c of 7.3.4 alone; `tests.damon.oracle` has what 6.12 does alike. Numbers come from the
generator, and what a page walk finds from `young(address)`.
"""

from dataclasses import replace

from tests.damon.oracle import PAGE, Kdamond, Region, down, up

U32 = 2**32 - 1


class Random:
    """struct rnd_state."""

    WORDS = ((6, 13, ~1, 18), (2, 27, ~7, 2), (13, 21, ~15, 7), (3, 12, ~127, 13))

    def __init__(self, words):
        self.words = list(words)

    @classmethod
    def seeded(cls, seed):
        i = (seed >> 32 ^ seed << 10 ^ seed) & U32
        return cls(i + least if i < least else i for least in (2, 8, 16, 128))

    def u32(self):
        self.words = [
            ((s & c) << d ^ ((s << a & U32) ^ s) >> b) & U32
            for s, (a, b, c, d) in zip(self.words, self.WORDS, strict=True)
        ]
        s1, s2, s3, s4 = self.words
        return s1 ^ s2 ^ s3 ^ s4


class Kdamond73(Kdamond):
    """One context without schemes; `kernel` has the static variables that contexts share."""

    def __init__(self, targets, attrs, state, young, kernel=None):
        kernel = {"last_nr_regions": 0, "rotation": 0} if kernel is None else kernel
        super().__init__(targets, attrs, None, young, (), kernel)
        self.random = Random(state)
        self.drawn = []

    def rand(self, low, high):
        span = high - low
        if span <= U32:
            return low + (self.random.u32() * span >> 32)
        return low + ((self.random.u32() << 32 | self.random.u32()) * span >> 64)

    def start(self):
        self.next_aggr = self.aggr // self.sample
        self.next_update = self.update // self.sample
        for t, mappings in enumerate(self.mappings):
            if ranges := self.three_regions(mappings):
                self.set_regions(t, ranges)
        self.apply_min()

    def apply_min(self):
        self.sz_limit = up(self.limit())
        for t, regions in enumerate(self.targets):
            self.targets[t] = [piece for r in regions for piece in self.pieces(r)]

    def pieces(self, r):
        while r.sz > self.sz_limit:
            at = r.start + self.sz_limit
            yield replace(r, end=at)
            r = replace(r, start=at)
        yield r

    def restarts(self, r, thres):
        return abs(r.nr_accesses - r.last) > thres or (r.nr_accesses == 0) != (r.last == 0)

    def merge_once(self, regions, thres, ageing):
        kept = []
        for r in regions:
            if ageing:
                r.age = 0 if self.restarts(r, thres) else r.age + 1
            left = kept[-1] if kept else None
            close = left and left.end == r.start and left.sz + r.sz <= self.sz_limit
            if not close or abs(left.nr_accesses - r.nr_accesses) > thres:
                kept.append(r)
                continue
            total = left.sz + r.sz
            left.nr_accesses = (left.nr_accesses * left.sz + r.nr_accesses * r.sz) // total
            left.age = (left.age * left.sz + r.age * r.sz) // total
            left.end = r.end
        return kept

    def split(self):
        nr = len(self.all())
        if self.max // 2 < nr < self.max:
            self.split_some(self.max // (self.max - nr))
        elif nr <= self.max // 2:
            thirds = nr == self.kernel["last_nr_regions"] and nr < self.max // 3
            for t, regions in enumerate(self.targets):
                self.targets[t] = [p for r in regions for p in self.cut(r, 3 if thirds else 2)]
        self.kernel["last_nr_regions"] = nr

    def split_some(self, step):
        turn = self.kernel["rotation"] % step
        self.kernel["rotation"] += 1
        at = 0
        for t, regions in enumerate(self.targets):
            found = []
            for r in regions:
                if at % step == turn and r.sz >= 2 * PAGE:
                    size = down(self.rand(1, 10) * r.sz // 10)
                    if 0 < size < r.sz:
                        found.append(replace(r, end=r.start + size))
                        r = replace(r, start=r.start + size)
                found.append(r)
                at += 1
            self.targets[t] = found

    def one_sample(self):
        """One time round the loop of kdamond_fn(); whether a window ended."""
        self.aggregated, self.drawn = None, []
        for r in self.all():
            r.sampling_addr = self.rand(r.start, r.end)
            self.drawn.append(r.sampling_addr)
        self.now += self.sample
        self.passed += 1
        highest = 0
        for r in self.all():
            r.nr_accesses += bool(self.young(r.sampling_addr))
            highest = max(highest, r.nr_accesses)
        return self.after_checks(highest)

    def after_checks(self, highest):
        """What comes after the checks of a sample; whether a window ended."""
        over = self.passed >= self.next_aggr
        if over:
            self.merge(highest // 10)
            self.apply_min()
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
                if ranges := self.three_regions(mappings):
                    self.set_regions(t, ranges)
        return over


__all__ = ["Kdamond73", "Random", "Region"]

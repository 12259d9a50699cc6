"""The oracle of kdamond, with the log that a guest would send of it."""

import numpy as np

from lorelab.damon.kernel import boot
from tests.damon.following import World
from tests.damon.oracle import INITIAL_JIFFIES, Kdamond

BARE = (0x10000000, 0x10004000)
SPACE = [(0x1000, 0x900000), BARE, (BARE[1], 0x18000000), (0x40000000, 0x40008000)]
MAX_REGIONS = 60


class Logged(Kdamond):
    """A kdamond of 100 ms windows over `SPACE`, in which `BARE` has no pages of its own."""

    def __init__(self, seed, schemes=(), last_nr_regions=0):
        world = World(seed)
        attrs = (5_000, 100_000, 60_000_000, 10, MAX_REGIONS)
        static = {"last_nr_regions": last_nr_regions}
        super().__init__([SPACE], attrs, world.below, world.young, schemes, static)
        self.log, self.checks = [], 0
        self.start()

    def note(self, kind, x, y=0, n=0, age=0):
        self.log.append((x, y, self.checks, n, age, kind, self.now))

    def rand(self, low, high):
        drawn = super().rand(low, high)
        self.note(boot.RAND, low, high, drawn - low)
        return drawn

    def filtered(self, t, r, s):
        # The tracepoint is behind the filters; the action comes next.
        self.note(boot.TRIED + self.schemes.index(s), r.start, r.end, r.bp // 10_000, r.age)
        if not (r.start < BARE[1] and BARE[0] < r.end):
            s.stat["nr_applied"] += 1
            s.stat["sz_applied"] += r.sz
        return super().filtered(t, r, s)

    def split(self):
        for _, start, end, nr_accesses, age in self.aggregated:
            self.note(boot.AGGREGATED, start, end, nr_accesses, age)
        super().split()

    def run(self, samples, marks=None):
        """What the guest says of so many samples, of a program that runs for five seconds.

        With `marks`, high, mid and low of the one scheme, free memory goes up and down.
        """
        young = self.young
        self.young = lambda address: self.checked(address, young(address))
        working, looks = True, 0
        for _ in range(samples):
            while marks:
                looks += 1
                free = 500 + abs(looks * 7 % 400 - 200)
                if not marks[2] <= free <= marks[0]:
                    working = False
                elif free < marks[1]:
                    working = True
                self.note(boot.FREE, free * 1000 + 999, 1_000_000, 0 if working else 500)
                if working:
                    break
                self.now += 500_000
            self.one_sample()
        vmas = np.array(SPACE, np.uint64)
        return boot.Run(
            boot.Program(
                regions=np.array([[0x10000000, 0x800000], [0x10800000, 0x800000]], np.uint64),
                own=vmas[:0],
                mappings=vmas,
                bare=np.array([BARE]),
                truth=np.array([[0, 2], [3_000_000_000, 3]], np.uint64),
                ended=5_000_000_000,
                draws=1,
            ),
            boot.Kdamond(watched=0, work_ns=1, sleeps=1, applying_ns=0),
            log=np.array(self.log, boot.EVENT),
            schemes=[scheme.stat for scheme in self.schemes],
            memory={"refaults": 7},
            watermarks=[[*marks, 500_000]] if marks else [],
        )

    def checked(self, address, accessed):
        self.checks += 1
        self.note(boot.CHECK, address, INITIAL_JIFFIES + self.now // 1000, accessed)
        return accessed


LOG_STARTS = 2**32 - 10  # us; the log's clock wraps


def played():
    """Region a in the first second, b in the next; DAMON sees each a window late."""
    second = 10**9
    log = []
    at = LOG_STARTS
    for window in range(20):
        hot = (window - 1) // 10
        for region in range(2):
            start = 0x10000 + region * 0x10000
            log.append((start, start + 0x10000, 20 * window, 20 * (region == hot), 0,
                        boot.AGGREGATED, (at + (window + 1) * 100_000) % 2**32))  # fmt: skip
    none = np.zeros((0, 2), np.uint64)
    return boot.Run(
        boot.Program(
            regions=np.array([[0x10000, 0x10000], [0x20000, 0x10000]], np.uint64),
            own=none,
            mappings=none,
            bare=none,
            truth=np.array([[at * 1000, 2], [at * 1000 + second, 3]], np.uint64),
            ended=at * 1000 + 2 * second,
            draws=300,
        ),
        boot.Kdamond(watched=0, work_ns=2_000_000, sleeps=1, applying_ns=0),
        np.array(log, boot.EVENT),
        [],
    )

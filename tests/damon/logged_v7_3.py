"""The oracle of 7.3's kdamond, with the log that a guest would send of it."""

import numpy as np

from lorelab.damon.kernel import boot
from tests.damon.following import World
from tests.damon.logged import MAX_REGIONS, SPACE
from tests.damon.oracle_v7_3 import Kdamond73, Random

SAMPLES = 20


class Logged73(Kdamond73):
    """A kdamond of 100 ms windows over `SPACE`."""

    def __init__(self, seed, last_nr_regions=0, rotation=0):
        world = World(seed)
        attrs = (5_000, SAMPLES * 5_000, 60_000_000, 10, MAX_REGIONS)
        static = {"last_nr_regions": last_nr_regions, "rotation": rotation}
        super().__init__([SPACE], attrs, Random.seeded(seed).words, world.young, static)
        self.began = {"state": self.random.words, **static}
        self.log = []
        self.start()

    def note(self, kind, x, y=0, n=0, age=0):
        self.log.append((x, y, 0, n, age, kind, self.now))

    def checked(self, address, accessed):
        self.note(boot.CHECK, address, n=accessed)
        return accessed

    def split(self):
        for _, start, end, nr_accesses, age in self.aggregated:
            self.note(boot.AGGREGATED, start, end, nr_accesses, age)
        super().split()

    def run(self, samples):
        """What the guest says of so many samples, of a program that runs for five seconds."""
        young = self.young
        self.young = lambda address: self.checked(address, young(address))
        for _ in range(samples):
            self.one_sample()
        vmas = np.array(SPACE, np.uint64)
        none = vmas[:0]
        truth = np.array([[0, 2], [3_000_000_000, 3]], np.uint64)
        regions = np.array([[0x10000000, 0x800000], [0x10800000, 0x800000]], np.uint64)
        return boot.Run(
            boot.Program(regions, none, vmas, none, truth, ended=5_000_000_000, draws=1),
            boot.Kdamond(watched=0, work_ns=1, sleeps=1, applying_ns=0),
            log=np.array(self.log, boot.EVENT),
            schemes=[],
            began=self.began,
        )

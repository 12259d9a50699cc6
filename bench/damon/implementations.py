"""kdamond three times, each run on the same history: C, numba, plain Python."""

import ctypes
from time import process_time
from typing import NamedTuple

import numpy as np

from bench import compiled
from lorelab.damon.model import core, state
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.model.state import njit
from tests.damon import oracle

SAMPLE_US, WINDOW, SEED = 5_000, 20, 1
NEVER_US = 3_600_000_000
"""Between looks at the mappings: they stay, so C has no part for it."""
ROW = np.dtype([("start", "u8"), ("end", "u8"), ("nr_accesses", "u4"), ("age", "u4")])
VMAS = [
    (1 << 30, (1 << 30) + (1 << 20)),
    (1 << 32, (1 << 32) + (1 << 40)),
    (1 << 46, (1 << 46) + 4096),
]
"""Mappings of the target: 1 TiB between a heap and a stack."""


MASK = 2**64 - 1


class History(NamedTuple):
    """What a run is given."""

    least: int
    most: int
    windows: int
    checks: np.ndarray  # (n,) u1: what each access check finds, in order


def history(least: int, most: int, windows: int, rate: float, seed: int) -> History:
    """Bounds of the regions, and checks each of which hits with chance `rate`."""
    longest = windows * WINDOW * (2 * most + 8)
    hits = np.random.default_rng(seed).random(longest, np.float32) < rate
    return History(least, most, windows, hits.view(np.uint8))


def load_c() -> ctypes.CDLL:
    """Compile damon_6_12.c."""
    library = compiled.load("damon/damon_6_12.c")
    u64, pointer = ctypes.c_uint64, ctypes.c_void_p
    library.start.restype = pointer
    library.start.argtypes = [pointer, u64, u64, u64, pointer, u64]
    library.run.argtypes, library.run.restype = [pointer, u64, pointer], u64
    library.checked.argtypes, library.checked.restype = [pointer], u64
    library.stop.argtypes = [pointer]
    return library


def run_c(library: ctypes.CDLL, given: History):
    """Each `run_*` gives the rows reported, the seconds taken, and the checks made."""
    ranges, rows = np.array(VMAS, np.uint64), _rows(given)
    checks = given.checks.ctypes.data
    damon = library.start(ranges.ctypes.data, given.least, given.most, WINDOW, checks, SEED)
    start = process_time()
    n = library.run(damon, given.windows, rows.ctypes.data)
    seconds = process_time() - start
    made = library.checked(damon)
    library.stop(damon)
    return rows[:n], seconds, made


def _rows(given: History) -> np.ndarray:
    return np.zeros(given.windows * (2 * given.most + 8), ROW)


@njit
def _run(ctx, pages, windows, rows):
    n = 0
    while windows:
        core.kdamond_prepare(ctx, pages)
        reported = core.kdamond_check(ctx, pages)
        for k in range(max(reported, 0)):
            rows[n].start, rows[n].end = ctx.trace[k].start, ctx.trace[k].end
            rows[n].nr_accesses, rows[n].age = ctx.trace[k].nr_accesses, ctx.trace[k].age
            n += 1
        if reported >= 0:
            windows -= 1
    return n


def run_numba(given: History):
    ctx = state.damon_new_ctx(
        [(0, *vma) for vma in VMAS],
        sample_us=SAMPLE_US,
        aggr_us=SAMPLE_US * WINDOW,
        update_us=NEVER_US,
        min_regions=given.least,
        max_regions=given.most,
        seed=SEED,
    )
    pages = new_pages(np.zeros(0, PATTERN), np.zeros(1, PHASE), [], recorded=given.checks)
    core.kdamond_start(ctx, pages)
    rows = _rows(given)
    start = process_time()
    n = _run(ctx, pages, given.windows, rows)
    return rows[:n], process_time() - start, int(pages.info["next_check"][0])


class Below:
    """get_random_u32_below() on splitmix64, as the model has it."""

    def __init__(self, seed):
        self.random = seed

    def next(self):
        self.random = (self.random + 0x9E3779B97F4A7C15) & MASK
        z = self.random
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return (z ^ (z >> 31)) >> 32

    def __call__(self, ceil):
        if ceil == 0:
            return self.next()
        mult = ceil * self.next()
        if mult & 0xFFFFFFFF < ceil:
            bound = (2**32 - ceil) % ceil
            while mult & 0xFFFFFFFF < bound:
                mult = ceil * self.next()
        return mult >> 32


def run_python(given: History):
    checks = iter(given.checks.tolist())
    attributes = (SAMPLE_US, SAMPLE_US * WINDOW, NEVER_US, given.least, given.most)
    kdamond = oracle.Kdamond([VMAS], attributes, Below(SEED), lambda address: next(checks))
    kdamond.start()
    rows, windows = [], given.windows
    start = process_time()
    while windows:
        if kdamond.one_sample():
            rows += [row[1:] for row in kdamond.aggregated]
            windows -= 1
    seconds = process_time() - start
    return np.array(rows, ROW), seconds, len(given.checks) - sum(1 for _ in checks)

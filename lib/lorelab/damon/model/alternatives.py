"""Other ways to learn which memory is in use: a scan of all pages, ideal hardware, and none."""

from typing import NamedTuple

import numpy as np

from lorelab.damon.model.memory import PAGE_SIZE, rand
from lorelab.damon.model.program import account_truth, play
from lorelab.damon.model.state import SNAPSHOT
from lorelab.damon.model.young import pages_prepare, seen
from lorelab.damon.params import Variant
from lorelab.numerics import ONE, PAGE, ZERO, U, njit

PERIOD = U(10_007)
"""Accesses between two that ideal hardware reports; a prime, so that no stride keeps step."""
BIN_PAGES = U(512)


@njit
def scan_window(pages, counts, samples, sample_us):
    """Check every page in every interval of a window (page idle tracking).

    Parameters
    ----------
    counts : (pages,) uint32 array
        Receives how often each page was found touched.
    """
    info = pages.info[0]
    counts[:] = 0
    for _ in range(samples):
        pages_prepare(pages)
        play(pages, sample_us * U(1000))
        account_truth(pages)
        for page in range(U(len(counts))):
            at = info.base + page * PAGE_SIZE
            if seen(info, pages.patterns, at, at + PAGE_SIZE):
                counts[page] += 1
        play(pages, U(len(counts)) * info.check_ns)


@njit
def address_of(info, p, n):
    """Address of access `n` of a pattern in an interval, from 0; of a random one, drawn anew."""
    if p.random:
        return p.start + (rand(info) * p.sz >> U(32))
    return p.start + (p.first + n) % p.around * p.stride


@njit
def ideal_window(pages, counts, last, samples, sample_us, due):
    """Let hardware report every `PERIOD`-th access; counts intervals with a report, by 2 MiB.

    Parameters
    ----------
    counts, last : (pages / 512,) uint32 arrays
        Receive the counts; and the interval, from 1, of the last report.

    Returns
    -------
    reports, due : uint64
        Reports made, and accesses until the next one, to be handed in for the next window.
    """
    info = pages.info[0]
    reports = ZERO
    counts[:] = 0
    last[:] = 0
    for interval in range(samples):
        pages_prepare(pages)
        play(pages, sample_us * U(1000))
        account_truth(pages)
        for k in range(info.lowest, info.highest):
            p = pages.patterns[k]
            while due < p.n:
                place = (address_of(info, p, due) - info.base) // PAGE_SIZE // BIN_PAGES
                if last[place] != interval + ONE:
                    last[place] = interval + ONE
                    counts[place] += 1
                reports += ONE
                due += PERIOD
            due -= p.n
    return reports, due


@njit
def one_page_window(pages, samples, sample_us):
    """Check one page of all memory in every interval of a window; how often it was touched."""
    info = pages.info[0]
    hits = ZERO
    for _ in range(samples):
        pages_prepare(pages)
        at = info.base + (rand(info) * U(len(pages.truth) - 1) >> U(32)) * PAGE_SIZE
        play(pages, sample_us * U(1000))
        account_truth(pages)
        if seen(info, pages.patterns, at, at + PAGE_SIZE):
            hits += ONE
    return hits


class Watched(NamedTuple):
    """What a window saw, as if it were of regions."""

    regions: np.ndarray  # (n,) SNAPSHOT
    checks: int
    samples: int


def _as_regions(counts, base, pages_each):
    rows = np.zeros(len(counts), SNAPSHOT)
    rows["start"] = base + np.arange(len(counts), dtype=U) * U(pages_each * PAGE)
    rows["end"] = rows["start"] + U(pages_each * PAGE)
    rows["nr_accesses"] = counts
    return rows


def scanned(pages, samples, sample_us):
    """Windows of a scan of all pages, for as long as somebody asks for one."""
    base, counts = int(pages.info["base"][0]), np.zeros(len(pages.truth) - 1, np.uint32)
    while True:
        scan_window(pages, counts, U(samples), U(sample_us))
        yield Watched(_as_regions(counts, base, 1), len(counts) * samples, samples)


def reported(pages, samples, sample_us):
    """Windows of ideal hardware, for as long as somebody asks for one."""
    base, bins = int(pages.info["base"][0]), (len(pages.truth) - 1) // int(BIN_PAGES)
    counts, last = np.zeros((2, bins), np.uint32)
    due = 0
    while True:
        checks, due = ideal_window(pages, counts, last, U(samples), U(sample_us), U(due))
        yield Watched(_as_regions(counts, base, int(BIN_PAGES)), int(checks), samples)


def one_region(pages, samples, sample_us):
    """Windows of one region over all memory, of which one page is checked in each interval."""
    base, each = int(pages.info["base"][0]), len(pages.truth) - 1
    while True:
        hits = one_page_window(pages, U(samples), U(sample_us))
        yield Watched(_as_regions(np.array([hits]), base, each), samples, samples)


def all_cold(pages, samples, sample_us):
    """Windows of a monitor that checks nothing, and reports that nothing was accessed."""
    for window in one_region(pages, samples, sample_us):
        window.regions["nr_accesses"] = 0
        yield window._replace(checks=0)


WINDOWS = {Variant.PAGE_SCAN: scanned, Variant.IDEAL: reported}
"""Of the variants that have no regions."""
NULLS = {"all cold": all_cold, "one region": one_region}
"""What takes no monitor to report: beside it the error of a rate says how much one has found."""

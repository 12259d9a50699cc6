"""Accessed bits against a walk of every access."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.damon.model.memory import ALWAYS, CHANGE, DRAW, PATTERN, PHASE, new_pages
from lorelab.damon.model.program import play
from lorelab.damon.model.state import U
from lorelab.damon.model.young import damon_va_young, pages_prepare, seen, touched
from lorelab.damon.params import Speeds

PAGE = 4096
SLOW = Speeds(access_ns=1000)


BASE = 1 << 30


class Machine:
    """A page table with accessed bits, and a TLB that drops the least recently used page."""

    def __init__(self, tlb):
        self.young = set()
        self.tlb, self.cached = tlb, OrderedDict()

    def access(self, address):
        page = address // PAGE
        if page in self.cached:
            self.cached.move_to_end(page)
            return
        self.young.add(page)
        if self.tlb:
            self.cached[page] = None
            if len(self.cached) > self.tlb:
                self.cached.popitem(last=False)


def check_walk(size, stride, shift, tlb, every, intervals):
    """Against a walk of every access."""
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"] = BASE + shift, size
    patterns["stride"], patterns["probability"] = stride, 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 1, 10**15, 1
    pages = new_pages(patterns, phases, [], speeds=SLOW, tlb=tlb, switch_us=every)
    machine = Machine(tlb)
    offset = now = 0
    switch = every
    for accesses in intervals:
        pages_prepare(pages)
        machine.young.clear()
        play(pages, U(accesses * 1000))
        for _ in range(accesses):
            if every and now >= switch:
                machine.cached.clear()
                switch += every
            machine.access(BASE + shift + offset)
            offset += stride
            if offset >= size:
                offset = 0
            now += 1
        for page in range(BASE // PAGE - 1, (BASE + shift + size) // PAGE + 3):
            fields = (pages.info[0], pages.patterns, pages.own, pages.flags, pages.recorded)
            young = bool(damon_va_young(*fields, U(page * PAGE + 7)))
            # Below a page's stride the model also shows the page in which a lap or interval begins.
            assert young == (page in machine.young) or (young and tlb and stride < PAGE)


@settings(max_examples=60, derandomize=True)
@given(
    st.integers(1, 40 * PAGE),
    st.sampled_from([64, 1000, PAGE, 3 * PAGE, 10_000]),
    st.integers(0, PAGE - 1),
    st.integers(0, 60),
    st.integers(0, 400),
    st.lists(st.integers(1, 900), min_size=1, max_size=8),
)
def test_sequential_accesses_set_the_bits_a_walk_would(size, stride, shift, tlb, every, intervals):
    check_walk(size, stride, shift, tlb, every, intervals)


@pytest.mark.parametrize("tlb", [0, 3, 8])
@pytest.mark.parametrize(("size", "stride"), [(6 * PAGE, PAGE), (30 * PAGE, 3 * PAGE), (9000, 700)])
def test_a_short_walk(size, stride, tlb):
    check_walk(size, stride, 100, tlb, 17, [1, 5, 40, 3])


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_random_pattern_is_seen_as_often_as_an_access_missed_the_tlb(n):
    """Of 4 pages, flushed before the last of 1 + n accesses, where one came since the last flush.

    An access after the flush misses. One before it misses where none came to the page before.
    """
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"], patterns["random"] = BASE, 4 * PAGE, 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["total_probability"] = 1, 1
    pages = new_pages(patterns, phases, [], speeds=SLOW, tlb=64)
    pages.info["highest"] = 1
    [p] = pages.patterns
    p["n"], p["head_n"], p["tail_n"], p["unseen"] = 1 + n, n, 1, 2
    found = sum(
        bool(seen(pages.info[0], pages.patterns, U(BASE), U(BASE + PAGE))) for _ in range(4000)
    )
    first = 0.75**2 * (1 - 0.75**n)
    chance = 1 - 0.75 * (1 - first)
    assert abs(found / 4000 - chance) < 4 * (chance * (1 - chance) / 4000) ** 0.5


def test_a_random_pattern_touches_a_page_as_often_as_an_access_hits_it():
    """Three accesses to 4 pages; a page beside them is never touched."""
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"], patterns["random"] = BASE, 4 * PAGE, 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["total_probability"] = 1, 1
    pages = new_pages(patterns, phases, [], speeds=SLOW)
    pages.info["highest"] = 1
    pages.patterns["n"] = 3
    for page, chance in ((3, 1 - 0.75**3), (4, 0)):
        low, high = U(BASE + page * PAGE), U(BASE + (page + 1) * PAGE)
        found = sum(bool(touched(pages.info[0], pages.patterns, low, high)) for _ in range(2000))
        assert abs(found / 2000 - chance) <= 4 * (chance * (1 - chance) / 2000) ** 0.5


def own_seen(tlb, switch_us, intervals=80, interval_ms=10):
    """By interval, whether code, data and log are seen, and the pattern that is in use."""
    patterns = np.zeros(2, PATTERN)
    patterns["start"], patterns["sz"] = [BASE, BASE + 16 * PAGE], 10 * PAGE - 1
    patterns["stride"], patterns["prob_start"], patterns["probability"] = PAGE, [0, 1], 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 2, 10**15, 2
    own = [(n * PAGE, (n + 1) * PAGE, when) for n, when in enumerate((ALWAYS, DRAW, CHANGE))]
    pages = new_pages(patterns, phases, [], own, speeds=SLOW, tlb=tlb, switch_us=switch_us, seed=3)
    seen = []
    for _ in range(intervals):
        pages_prepare(pages)
        play(pages, U(interval_ms * 1_000_000))
        fields = (pages.info[0], pages.patterns, pages.own, pages.flags, pages.recorded)
        young = [bool(damon_va_young(*fields, U(page * PAGE))) for page in range(3)]
        seen.append((*young, int(pages.info["pattern"][0])))
    return map(np.array, zip(*seen, strict=True))


def test_own_pages_are_seen_as_the_program_gets_to_them():
    draws = [int(k * 131.072 // 10) for k in range(7)]
    code, data, log, pattern = own_seen(0, 0)
    assert code.all()
    assert np.flatnonzero(data).tolist() == draws
    # The log is written where the pattern is another one than before, at a draw.
    changed = (np.flatnonzero(np.diff(pattern)) + 1).tolist()
    assert len(changed) > 1 and np.flatnonzero(log).tolist()[-len(changed) :] == changed
    code, data, _, _ = own_seen(1000, 0)
    assert np.flatnonzero(code).tolist() == np.flatnonzero(data).tolist() == [0]
    code, data, _, _ = own_seen(1000, 50_000)
    assert np.flatnonzero(code).tolist() == list(range(0, 80, 5))
    assert np.flatnonzero(data).tolist() == draws

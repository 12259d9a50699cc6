"""The memory that is watched, against one that keeps every bit and walks every access."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.damon import masim
from lorelab.damon.accessed import damon_va_young, pages_prepare
from lorelab.damon.actions import damon_va_apply_scheme, fault_in, lru_add_drain
from lorelab.damon.pages import ALWAYS, CHANGE, DRAW, PATTERN, PHASE, new_pages
from lorelab.damon.program import play
from lorelab.damon.state import U
from lorelab.errors import BadInput

PAGE = 4096
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


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(1, 40 * PAGE),
    st.sampled_from([64, 1000, PAGE, 3 * PAGE, 10_000]),
    st.integers(0, PAGE - 1),
    st.integers(0, 60),
    st.integers(0, 400),
    st.lists(st.integers(1, 900), min_size=1, max_size=8),
)
def test_sequential_accesses_set_the_bits_a_walk_would(size, stride, shift, tlb, every, intervals):
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"] = BASE + shift, size
    patterns["stride"], patterns["probability"] = stride, 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 1, 10**15, 1
    pages = new_pages(patterns, phases, [], access_ns=1000, tlb=tlb, switch_us=every)
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


def own_seen(tlb, switch_us, intervals=80, interval_ms=10):
    """By interval, whether code, data and log are seen, and the pattern that is in use."""
    patterns = np.zeros(2, PATTERN)
    patterns["start"], patterns["sz"] = [BASE, BASE + 16 * PAGE], 10 * PAGE - 1
    patterns["stride"], patterns["prob_start"], patterns["probability"] = PAGE, [0, 1], 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 2, 10**15, 2
    own = [(n * PAGE, (n + 1) * PAGE, when) for n, when in enumerate((ALWAYS, DRAW, CHANGE))]
    pages = new_pages(
        patterns, phases, [], own, access_ns=1000, tlb=tlb, switch_us=switch_us, seed=3
    )
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


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "takes a paragraph of regions"),
        ("a, 100\n\np\n10\nb, 0, 64, 1\n", "line 5: unknown region b: takes a"),
        ("a, 100\n\np\n10\na, 0, 64, 1, up\n", "line 5: unknown mode up: takes ro, wo or rw"),
        ("a, big\n\np\n10\na, 0, 64, 1\n", "line 1: bytes: 'big': takes a number"),
        ("a, 100\na, 5\n\np\n10\na, 0, 64, 1\n", "line 2: region a is there twice"),
        ("a, 100\n\np\nten\na, 0, 64, 1\n", "line 4: milliseconds: 'ten'"),
        ("a, 100\n\np\n10\n", "line 3: 'p': takes a phase"),
        ("a, 100\n\np\n10\na, 0, 64\n", "line 5: 'a, 0, 64': takes region, random"),
        ("a, 100\n\np\n10\na, 0, 64, 0\n", "has no weight above 0"),
        ("a, 100\n\np\n10\na, 0, 0, 1\n", "stride: '0': takes a number from 1"),
        (f"a, {'0' * 19}1{'9' * 5000}\n\np\n10\na, 0, 1, 1\n", "takes a number from 1"),
    ],
)
def test_a_masim_file_that_cannot_be_is_refused_in_one_line(text, complaint):
    with pytest.raises(BadInput) as refused:
        masim.parse(text, "some.cfg")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="a, 10\n#\x00é-", max_size=80))
def test_any_text_is_a_configuration_or_one_line(text):
    try:
        config = masim.parse(text, "fuzz")
    except BadInput as refused:
        assert "\n" not in str(refused)
    else:
        assert config.regions and config.phases


def test_masims_own_configurations():
    zigzag = masim.builtin("zigzag")
    assert zigzag.regions == {"a": 100_000_000, "b": 100_000_000}
    assert [phase.ms for phase in zigzag.phases] == [10_000] + [5_000] * 12
    assert [phase.accesses[0].region for phase in zigzag.phases[1:4]] == ["a", "b", "a"]
    assert masim.seconds(masim.builtin("stairs-30secs")) == 30


def test_comments_modes_and_initial_data_are_read():
    text = "#regions\n# name, bytes\na, 256, none\n\n# one\nfirst\n10\n# what\na, 1, 64, 80, wo\n"
    assert masim.parse(text, "default").phases[0].accesses == (masim.Access("a", True, 64, 80),)


@pytest.mark.parametrize(("touched", "waiting"), [(30, 30), (31, 0), (40, 9)])
@pytest.mark.parametrize("drain", ["nothing", "pageout elsewhere", "scan"])
def test_damon_sees_no_page_that_waits_for_its_lru_list(touched, waiting, drain):
    """The first 31 go on together; then a page out of any range sends on what waits."""
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"] = BASE, touched * PAGE - 1
    patterns["stride"], patterns["probability"] = PAGE, 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 1, 10**15, 1
    pages = new_pages(patterns, phases, [], access_ns=1000, memory=True)

    def seen():
        pages_prepare(pages)
        play(pages, U(2 * touched * 1000))
        fault_in(pages)
        fields = (pages.info[0], pages.patterns, pages.own, pages.flags, pages.recorded)
        return [bool(damon_va_young(*fields, U(BASE + page * PAGE))) for page in range(touched)]

    seen()
    if drain == "pageout elsewhere":
        damon_va_apply_scheme(pages, U(BASE - PAGE), U(BASE), U(2))
    elif drain == "scan":
        lru_add_drain(pages)
    hidden = waiting if drain == "nothing" else 0
    assert seen() == [True] * (touched - hidden) + [False] * hidden

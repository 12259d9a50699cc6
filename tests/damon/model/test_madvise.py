"""Pages on their way to an LRU list."""

import numpy as np
import pytest

from lorelab.damon.model.madvise import (
    damon_va_apply_scheme,
    fault_in,
    hpage_collapse_scan_pmd,
    khugepaged_scan_mm_slot,
    lru_add_drain,
)
from lorelab.damon.model.memory import (
    ADVISED,
    HUGE,
    PATTERN,
    PHASE,
    RESIDENT,
    SWAPPED,
    new_pages,
)
from lorelab.damon.model.program import play
from lorelab.damon.model.state import U
from lorelab.damon.model.young import damon_va_young, pages_prepare
from lorelab.damon.params import Speeds

PAGE = 4096


BASE = 1 << 30


@pytest.mark.parametrize(("touched", "waiting"), [(30, 30), (31, 0), (40, 9)])
@pytest.mark.parametrize("drain", ["nothing", "pageout elsewhere", "scan"])
def test_damon_sees_no_page_that_waits_for_its_lru_list(touched, waiting, drain):
    """The first 31 go on together; then a page out of any range sends on what waits."""
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"] = BASE, touched * PAGE - 1
    patterns["stride"], patterns["probability"] = PAGE, 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 1, 10**15, 1
    pages = new_pages(patterns, phases, [], speeds=Speeds(access_ns=1000), memory=True)

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


@pytest.mark.parametrize(("out", "present"), [(1, 500), (64, 256), (64, 255), (65, 400), (0, 1)])
def test_a_collapse_brings_back_what_was_out_and_fills_the_rest(out, present):
    """khugepaged takes 64 pages out at most, and then needs half of the rest to be there."""
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"] = BASE, 512 * PAGE
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 1, 10**9, 1
    pages = new_pages(patterns, phases, [], speeds=Speeds(), memory=True)
    pages.flags[: out + present] = [SWAPPED] * out + [RESIDENT] * present
    hpage_collapse_scan_pmd(pages, U(0))
    made = out <= 64 and (present >= 256 or not out)
    counted = {name: pages.info[0][name] for name in ("collapses", "refaults", "bloat")}
    assert counted == {
        "collapses": made,
        "refaults": out if made else 0,
        "bloat": 512 - out - present if made else 0,
    }
    assert (pages.flags == (RESIDENT | ADVISED | HUGE)).all() == made


def two_blocks():
    """4 MiB that one pattern has touched, all of it there."""
    patterns = np.zeros(1, PATTERN)
    patterns["start"], patterns["sz"] = BASE, 1024 * PAGE
    patterns["stride"], patterns["probability"] = PAGE, 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = 1, 10**15, 1
    speeds = Speeds(access_ns=1000, page_ns=700)
    pages = new_pages(patterns, phases, [(0, BASE, BASE + 2048 * PAGE)], speeds=speeds, memory=True)
    pages.flags[:] = RESIDENT
    pages.todo[:] = 0
    return pages


def test_khugepaged_takes_only_what_is_marked_all_over():
    pages = two_blocks()
    pages.flags[512:] |= ADVISED
    pages.flags[:511] |= ADVISED
    while khugepaged_scan_mm_slot(pages, U(4096)) and pages.info["khugepaged_at"]:
        pass
    assert not (pages.flags[:512] & HUGE).any() and (pages.flags[512:] & HUGE).all()
    assert pages.info["collapses"] == 1


def test_paging_out_a_page_of_a_huge_one_splits_it():
    pages = two_blocks()
    pages.flags[:] |= ADVISED | HUGE
    applied, took = damon_va_apply_scheme(pages, U(BASE + 5 * PAGE), U(BASE + 8 * PAGE), U(2))
    assert (applied, took) == (3 * PAGE, 3 * 700)
    assert pages.info["paged_out"] == 3 and pages.info["acted_ns"] == 3 * 700
    assert (pages.flags[[0, 4, 8, 511]] == RESIDENT | ADVISED).all()
    assert (pages.flags[5:8] == SWAPPED | ADVISED).all()
    assert (pages.flags[512:] == RESIDENT | ADVISED | HUGE).all()
    assert pages.todo.tolist() == [3, 0]


def test_a_page_comes_back_as_a_refault_where_it_was_out():
    pages = two_blocks()
    pages.flags[:2], pages.flags[2] = 0, SWAPPED
    pages.todo[0] = 3
    pages_prepare(pages)
    play(pages, U(1024 * 1000))
    fault_in(pages)
    assert (pages.info["faults"], pages.info["refaults"]) == (2, 1)
    assert (pages.flags & (RESIDENT | SWAPPED) == RESIDENT).all() and not pages.todo.any()

"""Which pattern the program is at, and which pages it touched."""

import numpy as np
import pytest

from lorelab.damon.model import alternatives
from lorelab.damon.model.memory import PATTERN, PHASE, new_pages
from lorelab.damon.model.program import account_truth, play
from lorelab.damon.model.state import U
from lorelab.damon.model.young import pages_prepare
from lorelab.damon.params import Speeds

PAGE = 4096
BASE = 1 << 30
BATCH = 131_072


def program(*, size, stride=PAGE, random=0, count=1, **speeds):
    """Patterns beside each other that are drawn with the same chance, for as long as it runs."""
    patterns = np.zeros(count, PATTERN)
    patterns["start"] = BASE + np.arange(count) * (1 << 21)
    patterns["sz"], patterns["stride"], patterns["random"] = size, stride, random
    patterns["prob_start"], patterns["probability"] = np.arange(count), 1
    phases = np.zeros(1, PHASE)
    phases["end"], phases["time_ns"], phases["total_probability"] = count, 10**15, count
    given = Speeds(access_ns=1000, **speeds)
    return new_pages(patterns, phases, [], speeds=given, truth=True, seed=3)


def shares(pages):
    return np.cumsum(pages.truth)


def test_a_pattern_is_drawn_for_each_batch():
    pages = program(size=PAGE, count=3)
    drawn = []
    for _ in range(60):
        play(pages, U(BATCH * 1000))
        drawn.append(int(pages.info["pattern"][0]))
    counts = np.bincount(drawn)
    assert len(counts) == 3 and counts.min() > 8


@pytest.mark.parametrize(
    ("size", "stride", "accesses", "touched"),
    [
        (8 * PAGE, PAGE, 3, [0, 1, 2]),
        (8 * PAGE, PAGE, 8, range(8)),
        (8 * PAGE, 2 * PAGE, 3, [0, 2, 4]),
        (8 * PAGE, 1024, 9, [0, 1, 2]),
        (8 * PAGE, 2 * PAGE, 40, [0, 2, 4, 6]),
    ],
)
def test_the_truth_of_a_sequential_pattern(size, stride, accesses, touched):
    pages = program(size=size, stride=stride)
    pages_prepare(pages)
    play(pages, U(accesses * 1000))
    account_truth(pages)
    assert np.flatnonzero(shares(pages)).tolist() == list(touched)
    assert set(shares(pages)) <= {0, 1}


def test_the_truth_of_a_random_pattern_is_the_chance_of_each_page():
    pages = program(size=4 * PAGE, random=1)
    pages_prepare(pages)
    play(pages, U(3 * 1000))
    account_truth(pages)
    assert shares(pages)[:4] == pytest.approx([1 - 0.75**3] * 4)
    assert shares(pages)[4:] == pytest.approx(0)


def test_page_idle_tracking_looks_at_every_page_in_every_interval():
    pages = program(size=3 * PAGE, check_ns=50)
    counts = np.zeros(512, np.uint32)
    alternatives.scan_window(pages, counts, U(4), U(1000))
    assert counts.tolist() == [4] * 3 + [0] * 509
    assert shares(pages)[:5].tolist() == [4, 4, 4, 0, 0]
    assert pages.info["now"] == 4 * (1_000_000 + 512 * 50)

"""Regions against what the program says it did."""

import numpy as np
import pytest

from lorelab.damon.experiments import masim as observed
from lorelab.damon.model.state import SNAPSHOT, U
from lorelab.damon.workload import masim, truth
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput
from tests.damon.running import SPEEDS


def test_the_program_says_all_that_it_does_in_order(short, said):
    began, pattern = said.truth.T.astype(np.int64)
    assert began[0] == 0 and (np.diff(began) >= 0).all()
    assert (np.diff(pattern)[1:] != 0).all() and set(pattern) == {0, 1, 2}
    [change] = truth.changes(short, said)
    # A phase ends with its last batch, of 131,072 accesses at 25 ns, and what kdamond took.
    assert 0.4 <= change < 0.42 and 0.8 <= said.ended / 1e9 < 0.84
    starts = masim.starts(configuration(short))
    assert said.regions.tolist() == [[starts["a"], 4_000_000], [starts["b"], 2_000_000]]


def test_the_truth_by_what_it_says_is_that_of_the_pages(short, said):
    """All of a region is touched in 25 us, so in each interval in which the program is at it."""
    mine = truth.observed(short, said, SPEEDS)
    both = mine.merge(observed.observe(short, SPEEDS), on="seconds", suffixes=("", "_pages"))
    assert len(both) == len(mine) >= 4
    for name in ("regions", "checks", "wss", "outside"):
        assert (both[name] == both[f"{name}_pages"]).all()
    [change] = truth.changes(short, said)
    late = both[both["seconds"] - both["took"] > change]
    assert len(late) >= 2
    for name in ("true_wss", "hot", "misplaced"):
        assert (late[name] == late[f"{name}_pages"]).all()
    assert np.allclose(late["error"], late["error_pages"])


def test_a_truth_that_is_moved_shows(short, said):
    right = truth.observed(short, said, SPEEDS)
    moved = said.truth.copy()
    moved[1:, 0] += 200_000_000
    wrong = truth.observed(short, said._replace(truth=moved), SPEEDS)
    assert wrong["error"].mean() > right["error"].mean() + 0.005


def test_windows_that_outlast_the_program_are_bad_input(short, said):
    first = said._replace(windows=said.windows[:1])
    with pytest.raises(BadInput, match=r"^aggr_us=100000: no window begins and ends in the 0\.8 s"):
        truth.observed(short, first, SPEEDS)


def test_a_window_is_whole_that_begins_and_ends_with_the_program():
    none = np.zeros(0, np.uint64)
    windows = [truth.Window(end, 1, none) for end in (5, 10, 20, 30, 31)]
    said = truth.Observation(none, np.array([[10, 0]], np.uint64), 30, windows)
    assert [(start, window.end_ns) for start, window in truth.whole(said)] == [(10, 20), (20, 30)]


@pytest.mark.parametrize(("end", "missed", "seen"), [(4, 2, 2), (1, 1, 1)])
def test_a_window_weighed_by_hand(end, missed, seen):
    """Eight pages in two regions. Two are touched in all 20 samples, two in 5 of them.

    The first region ends between pages that differ, or in the middle of two alike ones.
    """
    page, base = 4096, 1 << 30
    regions = np.zeros(2, SNAPSHOT)
    regions["start"], regions["end"] = base + np.array([[0, end], [end, 8]]) * page
    regions["nr_accesses"] = [20, 0]
    touched = np.array([0, 20, 20, 0, 0, 5, 5, 0, 0, 0], float)
    truth_ = np.diff(touched)
    found = truth.weigh(regions, 20.0, truth_, 20.0, U(base))
    # Two pages too many are called hot, or one too few; and 5 of 20 is not half.
    expected = {"wss": end, "true_wss": 4, "apart": missed + 2 * 0.25, "misplaced": missed}
    expected |= {"hot": 2, "hot_seen": seen}
    assert found._asdict() == {name: n * page for name, n in expected.items()}
    assert not truth_.any()

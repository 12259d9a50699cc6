"""Regions against what the program says it did."""

import numpy as np
import pytest

from lorelab.damon.experiments import masim as observed
from lorelab.damon.experiments import truth
from lorelab.damon.params import Masim, Speeds
from lorelab.damon.workload import masim
from lorelab.damon.workload.setup import configuration
from lorelab.errors import BadInput

SHORT = (
    "a, 4000000\nb, 2000000\n\nboth\n400\na, 0, 4096, 1\nb, 0, 4096, 1\n\nb\n400\nb, 0, 4096, 1\n"
)


SPEEDS = Speeds(access_ns=25, check_ns=90_000, cpus=1, tick_us=1000)


@pytest.fixture(scope="module")
def params(tmp_path_factory):
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return Masim(workload=str(path))


@pytest.fixture(scope="module")
def said(params):
    return truth.simulated(params, SPEEDS)


def test_the_program_says_all_that_it_does_in_order(params, said):
    began, pattern = said.truth.T.astype(np.int64)
    assert began[0] == 0 and (np.diff(began) >= 0).all()
    assert (np.diff(pattern)[1:] != 0).all() and set(pattern) == {0, 1, 2}
    [change] = truth.changes(params, said)
    # A phase ends with its last batch, of 131,072 accesses at 25 ns, and what kdamond took.
    assert 0.4 <= change < 0.42 and 0.8 <= said.ended / 1e9 < 0.84
    starts = masim.starts(configuration(params))
    assert said.regions.tolist() == [[starts["a"], 4_000_000], [starts["b"], 2_000_000]]


def test_the_truth_by_what_it_says_is_that_of_the_pages(params, said):
    """All of a region is touched in 25 us, so in each interval in which the program is at it."""
    mine = truth.observed(params, said, SPEEDS)
    both = mine.merge(observed.observe(params, SPEEDS), on="seconds", suffixes=("", "_pages"))
    assert len(both) == len(mine) >= 4
    for name in ("regions", "checks", "wss", "outside"):
        assert (both[name] == both[f"{name}_pages"]).all()
    [change] = truth.changes(params, said)
    late = both[both["seconds"] - both["took"] > change]
    assert len(late) >= 2
    for name in ("true_wss", "hot", "misplaced"):
        assert (late[name] == late[f"{name}_pages"]).all()
    assert np.allclose(late["error"], late["error_pages"])


def test_a_truth_that_is_moved_shows(params, said):
    right = truth.observed(params, said, SPEEDS)
    moved = said.truth.copy()
    moved[1:, 0] += 200_000_000
    wrong = truth.observed(params, said._replace(truth=moved), SPEEDS)
    assert wrong["error"].mean() > right["error"].mean() + 0.005


def test_windows_that_outlast_the_program_are_bad_input(params, said):
    first = said._replace(windows=said.windows[:1])
    with pytest.raises(BadInput, match=r"^aggr_us=100000: no window begins and ends in the 0\.8 s"):
        truth.observed(params, first, SPEEDS)

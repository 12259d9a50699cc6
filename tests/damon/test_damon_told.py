"""One truth for model and kernel: what the program says, and what follows from it by page."""

from collections import Counter

import numpy as np
import pytest
from eevdf_oracle import Queue
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lorelab.damon import masim, told, workload
from lorelab.damon.pages import new_pages
from lorelab.damon.params import Masim
from lorelab.damon.program import slept, work
from lorelab.damon.setting import configuration
from lorelab.damon.state import U
from lorelab.errors import BadInput

SHORT = (
    "a, 4000000\nb, 2000000\n\nboth\n400\na, 0, 4096, 1\nb, 0, 4096, 1\n\nb\n400\nb, 0, 4096, 1\n"
)


@pytest.fixture(scope="module")
def params(tmp_path_factory):
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return Masim(workload=str(path), access_ns=25, check_ns=90_000, cpus=1, tick_us=1000)


@pytest.fixture(scope="module")
def said(params):
    return told.simulated(params)


def test_the_program_says_all_that_it_does_in_order(params, said):
    began, pattern = said.truth.T.astype(np.int64)
    assert began[0] == 0 and (np.diff(began) >= 0).all()
    assert (np.diff(pattern)[1:] != 0).all() and set(pattern) == {0, 1, 2}
    [change] = told.changes(params, said)
    # A phase ends with its last batch, of 131,072 accesses at 25 ns, and what kdamond took.
    assert 0.4 <= change < 0.42 and 0.8 <= said.ended / 1e9 < 0.84
    starts = masim.starts(configuration(params))
    assert said.regions.tolist() == [[starts["a"], 4_000_000], [starts["b"], 2_000_000]]


def test_the_truth_by_what_it_says_is_that_of_the_pages(params, said):
    """All of a region is touched in 25 us, so in each interval in which the program is at it."""
    mine = told.observed(params, said, params.access_ns, params.check_ns)
    both = mine.merge(workload.observe(params), on="seconds", suffixes=("", "_pages"))
    assert len(both) == len(mine) >= 4
    for name in ("regions", "checks", "wss", "outside"):
        assert (both[name] == both[f"{name}_pages"]).all()
    [change] = told.changes(params, said)
    late = both[both["seconds"] - both["took"] > change]
    assert len(late) >= 2
    for name in ("true_wss", "hot", "misplaced"):
        assert (late[name] == late[f"{name}_pages"]).all()
    assert np.allclose(late["error"], late["error_pages"])


def test_a_truth_that_is_moved_shows(params, said):
    right = told.observed(params, said, params.access_ns, params.check_ns)
    truth = said.truth.copy()
    truth[1:, 0] += 200_000_000
    wrong = told.observed(params, said._replace(truth=truth), params.access_ns, params.check_ns)
    assert wrong["error"].mean() > right["error"].mean() + 0.005


def test_distributions_count_every_region_of_every_window_looked_at(params, said):
    """By loops over plain numbers; sizes of one region each are in the bucket that holds them."""
    found = told.distributions(params, said)
    inside, before = [], -1
    checks = []
    for end, each, rows in said.windows:
        if before >= 0 and end <= said.ended:
            inside.append(rows.tolist())
            checks.append(each)
        before = end
    assert not any(each % 20 for each in checks)
    assert found["windows_by_sampled"].to_dict() == Counter(each // 20 for each in checks)
    assert len(inside) == len(told.observed(params, said, params.access_ns, params.check_ns))
    of = said.windows[0][2].dtype.names
    regions = [dict(zip(of, row, strict=True)) for rows in inside for row in rows]
    assert found["windows_by_regions"].to_dict() == Counter(len(rows) for rows in inside)
    assert found["regions_by_count"].to_dict() == Counter(r["nr_accesses"] for r in regions)
    assert found["regions_by_age"].to_dict() == Counter(r["age"] for r in regions)
    pages = [(r["end"] - r["start"]) // 4096 for r in regions]
    lowest = [max(one for one in told.BUCKETS.tolist() if one <= n) for n in pages]
    assert found["regions_by_size"].to_dict() == Counter(lowest)
    assert told.BUCKETS[0] == 1 and (told.BUCKETS[9:] / told.BUCKETS[8:-1] < 1.25).all()


def test_windows_that_outlast_the_program_are_bad_input(params, said):
    first = said._replace(windows=said.windows[:1])
    with pytest.raises(BadInput, match=r"^aggr_us=100000: no window begins and ends in the 0\.8 s"):
        told.observed(params, first, params.access_ns, params.check_ns)


def test_with_a_cpu_of_its_own_kdamond_sleeps_as_long_as_it_asks():
    info = new_pages(*masim.program(masim.builtin("whole"))).info[0]
    for now in (0, 700_000, 10**12 + 1):
        info["now"] = now
        assert slept(info, U(5_000_001)) == 5_000_001


@pytest.mark.parametrize(
    ("now", "ms", "wakes"),
    [
        # Up to 20 ms by a timer of its own; then the wheel's, which is a jiffy late at least.
        (0, 20, 20),
        (0, 21, 22),
        (0, 62, 63),
        (0, 63, 64),
        (1, 63, 72),
        (0, 100, 104),
        (3, 100, 104),
        (4, 100, 112),
        (0, 503, 504),
        (0, 504, 512),
        (8, 504, 576),
    ],
)
def test_a_long_sleep_ends_where_the_timer_wheel_has_a_bucket(now, ms, wakes):
    """At a tick, when the program has a new slice: kdamond has the CPU at the next one."""
    info = new_pages(*masim.program(masim.builtin("whole")), tick_us=1000, cpus=1).info[0]
    info["now"] = now * 1_000_000 + (300_000 if ms > 20 else 0)
    turn = wakes + 1
    assert info["now"] + slept(info, U(ms * 1_000_000)) == turn * 1_000_000


@settings(deadline=None)
@given(st.lists(st.integers(20_000, 9_000_000), min_size=20), st.integers(2_000_000, 20_000_000))
@example([215_774] * 100, 5_000_000)
@example([2_145_413] * 100, 5_000_000)
@example([607_998] * 100, 19_784_004)
def test_kdamond_gets_the_cpu_back_as_the_scheduler_says(worked, asleep):
    queue = Queue(1_000_000)
    pages = new_pages(*masim.program(masim.builtin("whole")), tick_us=1000, cpus=1)
    info = pages.info[0]
    for ns in worked:
        assume(info["ahead"] != asleep)  # to the nanosecond, where deadlines of before decide
        took = int(slept(info, U(asleep)))
        assert took == queue.sleep(asleep)
        info["now"] += took
        work(pages, U(ns))
        queue.work(ns)

"""How long kdamond sleeps, and who runs next, against an oracle of EEVDF."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lorelab.damon.model.memory import new_pages
from lorelab.damon.model.scheduler import slept, work
from lorelab.damon.model.state import U
from lorelab.damon.params import Speeds
from lorelab.damon.workload import masim
from tests.damon.oracle_eevdf import Queue

ON_ONE_CPU = Speeds(cpus=1, tick_us=1000)


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
    info = new_pages(*masim.program(masim.builtin("whole")), speeds=ON_ONE_CPU).info[0]
    info["now"] = now * 1_000_000 + (300_000 if ms > 20 else 0)
    turn = wakes + 1
    assert info["now"] + slept(info, U(ms * 1_000_000)) == turn * 1_000_000


def check_turns(worked, asleep):
    """Against a queue of two tasks."""
    queue = Queue(1_000_000)
    pages = new_pages(*masim.program(masim.builtin("whole")), speeds=ON_ONE_CPU)
    info = pages.info[0]
    for ns in worked:
        if info["ahead"] == asleep:
            return  # to the nanosecond, where deadlines of before decide
        took = int(slept(info, U(asleep)))
        assert took == queue.sleep(asleep)
        info["now"] += took
        work(pages, U(ns))
        queue.work(ns)


@given(st.lists(st.integers(20_000, 9_000_000), min_size=20), st.integers(2_000_000, 20_000_000))
@example([215_774] * 100, 5_000_000)
@example([2_145_413] * 100, 5_000_000)
@example([607_998] * 100, 19_784_004)
def test_kdamond_gets_the_cpu_back_as_the_scheduler_says(worked, asleep):
    check_turns(worked, asleep)


@pytest.mark.parametrize("asleep", [5_000_000, 5_000_001, 3_300_000, 11_784_004])
@pytest.mark.parametrize("ns", [60_000, 215_774, 2_145_413, 6_500_000])
def test_kdamond_gets_the_cpu_back_in_twenty_turns(ns, asleep):
    check_turns([ns + 977 * turn for turn in range(20)], asleep)

"""A program that the model can't run to its end is refused before it begins."""

import pytest

from lorelab.errors import BadInput
from lorelab.vmalock.model.events import LONGEST
from lorelab.vmalock.params import Fork, Launch
from lorelab.vmalock.workload import programs
from lorelab.vmalock.workload.costs import body, ns


@pytest.mark.parametrize("more", [0, 1])
def test_forks_that_take_longer_than_there_is_time_are_refused(more):
    a_fork = ns("duplicate", Fork()) + 10**9
    params = Fork(vmas=1, think_ns=10**9, forks=LONGEST // a_fork + more)
    if more:
        with pytest.raises(BadInput, match="end within 1100: ask for less of forks, vmas"):
            programs.fork(params)
    else:
        assert programs.fork(params).globals["threads"][0] == 1


@pytest.mark.parametrize("more", [0, 1])
def test_so_are_pages_that_are_touched_too_slowly(more):
    mapped = ns("mmap", Launch()) * 3
    pages = (LONGEST - mapped) // (body(Launch()) + 10**9) + more
    params = Launch(threads=1, areas=4, pages=pages, think_ns=10**9)
    if more:
        with pytest.raises(BadInput, match="a thread goes on for 1100 s of the model's time"):
            programs.launch(params)
    else:
        assert programs.launch(params).globals["threads"][0] == 2


def test_what_is_stopped_in_time_may_be_as_long_as_it_likes():
    params = Fork(vmas=20_000, forks=10**5, think_ns=2000, threads=1)
    assert int(programs.fork(params).globals["stop"][0]) < LONGEST

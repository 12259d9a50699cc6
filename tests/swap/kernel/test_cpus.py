"""The allocator's test on several CPUs of a kernel: what the guest has, and what was recorded."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.judging.rows import compare, exact
from lorelab.lab import records
from lorelab.swap.params import AllocatorTest, Cpus

PINNED_TEST = experiment("swap/allocator-test")
RECORDED = records.recorded("swap/cpus", Cpus)
PINNED = [p for p in records.recorded(PINNED_TEST.name, AllocatorTest) if p.cpus > 1]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("swap/allocator-test", AllocatorTest(cpus=9)),
        ("swap/paths", AllocatorTest(cpus=9)),
        ("swap/cpus", Cpus(cpus=9)),
    ],
)
def test_the_guest_has_so_many_cpus(name, params):
    with pytest.raises(BadInput, match="cpus=9: the guest has up to 8"):
        experiment(name).measure([params])


def test_several_cpus_are_recorded():
    assert {2, 4} <= {params.cpus for params in RECORDED}
    assert {(params.cpus, bool(params.move_every)) for params in PINNED} >= {
        (2, False),
        (2, True),
        (4, False),
        (4, True),
    }


@pytest.mark.parametrize("params", PINNED, ids=str)
def test_a_task_that_is_told_where_to_be_gives_the_model_exactly(params):
    counted = PINNED_TEST.recorded(params).counters
    assert exact(compare(PINNED_TEST.simulate(params), counted))

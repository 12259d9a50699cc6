"""Every experiment of the performance model gives its counters, and what the chapter says of it."""

import pytest

from lorelab.experiments import experiment
from lorelab.vmalock.model.operation import ARRIVE, START
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import WAITS
from lorelab.vmalock.params import Contention, Fork, Launch, Merge, Variant, Zerocopy
from lorelab.vmalock.workload import programs

SMALL = {
    "vmalock/contention": Contention(ms=1),
    "vmalock/launch": Launch(threads=10, pages=8),
    "vmalock/zerocopy": Zerocopy(ms=1),
    "vmalock/fork": Fork(vmas=50, forks=3, threads=2),
    "vmalock/merge": Merge(ms=1),
}


def counters(name, params):
    return experiment(name).simulate(params).set_index("counter")["value"]


@pytest.mark.parametrize("variant", list(Variant))
@pytest.mark.parametrize("name", SMALL)
def test_each_runs_under_each_variant(name, variant):
    found = counters(name, SMALL[name].model_copy(update={"variant": variant}))
    assert found["writes"] > 0
    assert found["vma"] + found["mmap"] == found["faults"]
    assert found["fault_p50"] <= found["fault_p99"]


def test_a_launch_touches_every_page_once():
    for variant in Variant:
        found = counters("vmalock/launch", Launch(threads=7, pages=9, areas=3, variant=variant))
        assert found["faults"] == 7 * 9
        assert found["writes"] == 7 * (3 + 1)


@pytest.mark.parametrize("variant", [Variant.MMAP_LOCK, Variant.V6_12])
def test_threads_of_a_small_launch_start_and_end(variant):
    """Each maps its area when it is created, and touches its pages; the creator runs to its end."""
    found = counters("vmalock/launch", Launch(threads=3, pages=4, areas=1, cpus=2, variant=variant))
    assert (found["faults"], found["writes"]) == (3 * 4, 3 * (1 + 1))


def test_a_thread_that_another_one_creates_has_no_time_of_its_own():
    machine = programs.launch(Launch(threads=2, pages=1, areas=1))
    machine.globals["limit"] = 0
    assert not run(machine)
    assert machine.task["pc"].tolist() == [ARRIVE, START, START]
    thread = machine.tournament["key"][int(machine.globals["leaves"][0]) :][:3]
    assert (thread != WAITS).tolist() == [True, False, False]


def test_a_fork_marks_every_vma():
    found = counters("vmalock/fork", Fork(vmas=123, forks=4))
    assert found["marks"] == 4 * 123


def test_who_is_alone_never_waits():
    found = counters("vmalock/contention", Contention(cpus=1, threads=1, vmas=1, writer_share=0.5))
    assert found[["sleep_reader", "sleep_writer", "mmap", "vma_sleep", "retry"]].sum() == 0

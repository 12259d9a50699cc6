"""The allocator's test on several CPUs: what the model does when its task moves, and the kernel."""

from itertools import pairwise

import numpy as np
import pytest

from lorelab import agreement
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.lab import records
from lorelab.swap import cpus, kernel, kernel_cpus, task, workload
from lorelab.swap.clusters import U
from lorelab.swap.model import swapon
from lorelab.swap.params import AllocatorTest, Cpus, Variant

RECORDED = records.recorded(cpus.NAME, Cpus)
PINNED = [p for p in records.recorded(kernel.NAME, AllocatorTest) if p.cpus > 1]


def fallbacks(**given):
    params = AllocatorTest(options="-s", large_swapin=False, iterations=10, **given)
    return workload.run(params, "test")[1].tolist()


def test_cpus_that_the_task_never_sees_change_the_thresholds_alone():
    """5 x 64 free slots a CPU: 80 MiB has them whatever happens, 64 MiB does not."""
    assert fallbacks(device_mib=80) == fallbacks(device_mib=80, cpus=4)
    assert fallbacks(device_mib=64) != fallbacks(device_mib=64, cpus=2)


def test_a_task_that_moves_leaves_clusters_and_pages_behind():
    stays = fallbacks(device_mib=80, cpus=2)
    moved = fallbacks(device_mib=80, cpus=2, move_every=1000)
    assert moved != stays
    assert fallbacks(device_mib=80, cpus=1, move_every=1000) == stays


def test_it_moves_to_the_next_cpu_after_so_many_calls_of_rand():
    found = task.start(3, move_every=2)
    seen = []
    for _ in range(8):
        task.call_rand(found)
        seen.append(int(task.cpu_of(found)))
    assert seen == [0, 0, 1, 1, 2, 2, 0, 0]
    assert found.batch[:, 0].tolist() == [2, 2, 2], "and drains its batch before it goes"


def test_it_moves_when_it_is_told_to():
    moves = np.array([[2, 1], [2, 2], [4, 0]], np.uint64)
    found = task.start(3, moves=moves)
    assert [int(task.cpu_of(found)) for _ in range(6)] == [0, 0, 2, 2, 0, 0]


def test_pages_wait_for_the_lru_lists_in_a_batch_of_their_cpu():
    found = task.start(2)
    first = task.folio_add_lru(found)
    assert not task.folio_test_lru(found, first)
    found.place[task.CPU] = 1
    task.lru_add_drain(found)
    assert not task.folio_test_lru(found, first), "it waits on the CPU that it came in on"
    found.place[task.CPU] = 0
    rest = [task.folio_add_lru(found) for _ in range(29)]
    assert not task.folio_test_lru(found, first)
    last, after = task.folio_add_lru(found), task.folio_add_lru(found)
    assert all(task.folio_test_lru(found, entry) for entry in (first, *rest, last))
    assert not task.folio_test_lru(found, after)
    assert task.folio_test_lru(found, task.SMALL), "a page of a split folio never waits"
    assert U(task.SMALL) <= after < task.LARGE


def test_what_waits_is_not_paged_out():
    si = swapon(64 << 8, Variant.V6_12, cpus=2)
    here = task.start(2)
    pte = np.zeros(512, np.uint64)
    one, histogram = np.zeros(64 << 8, np.uint64), np.zeros((10, workload.BUCKETS), np.uint64)
    seen = workload.Seen(histogram, histogram.copy(), one, np.zeros(1, np.uint64))
    workload._touch(si, here, pte, U(0), U(40), False, False)
    here.place[task.CPU] = 1
    workload._madvise_pageout(si, here, pte, False, np.zeros(2, np.uint64), seen)
    assert (pte[:31] < task.SMALL).all() and (pte[31:40] >= task.SMALL).all()


def test_moves_are_drawn_anew_for_each_repeat_and_go_elsewhere():
    params = Cpus(cpus=4, moves=200)
    drawn = [cpus.moves(params, repeat, 1_000_000) for repeat in range(2)]
    assert drawn[0].tolist() == cpus.moves(params, 0, 1_000_000).tolist() != drawn[1].tolist()
    for moves in drawn:
        assert 100 < len(moves) < 400
        assert (np.diff(moves[:, 0].astype(int)) > 0).all()
        places = [0, *moves[:, 1].tolist()]
        assert all(a != b for a, b in pairwise(places))
        assert set(places) == set(range(4))


@pytest.mark.parametrize(
    ("run", "params"),
    [
        (kernel.allocator_test, AllocatorTest(cpus=9)),
        (kernel.paths, AllocatorTest(cpus=9)),
        (kernel_cpus.cpus, Cpus(cpus=9)),
    ],
)
def test_the_guest_has_so_many_cpus(run, params):
    with pytest.raises(BadInput, match="cpus=9: the guest has up to 8"):
        run([params])


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
    counted = records.load(kernel.NAME, params).counters
    assert agreement.exact(agreement.compare(workload.allocator_test(params), counted))


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_the_model_is_in_the_range_of_the_repeats(params):
    found = experiment(cpus.NAME)
    counted = found.recorded(params).counters
    assert set(counted["step"]) == set(range(1, 1 + cpus.REPEATS))
    assert found.weigh(params, found.recorded(params))["agrees"].all()

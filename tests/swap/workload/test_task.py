"""The test's task: when it moves, and what waits where for the LRU lists."""

import numpy as np

from lorelab.numerics import U
from lorelab.swap.workload import task


def test_it_moves_to_the_next_cpu_after_so_many_calls_of_rand():
    found = task.start(3, move_every=2)
    seen = []
    for _ in range(8):
        task.call_rand(found)
        seen.append(int(task.cpu_of(found)))
    assert seen == [0, 0, 1, 1, 2, 2, 0, 0]
    assert found.batch["number"].tolist() == [2, 2, 2], "and drains its batch before it goes"


def test_it_moves_when_it_is_told_to():
    moves = np.array([[2, 1], [2, 2], [4, 0]], np.uint64)
    found = task.start(3, moves=moves)
    assert [int(task.cpu_of(found)) for _ in range(6)] == [0, 0, 2, 2, 0, 0]


def test_pages_wait_for_the_lru_lists_in_a_batch_of_their_cpu():
    found = task.start(2)
    first = task.folio_add_lru(found)
    assert not task.folio_test_lru(found, first)
    found.place["cpu"] = 1
    task.lru_add_drain(found)
    assert not task.folio_test_lru(found, first), "it waits on the CPU that it came in on"
    found.place["cpu"] = 0
    rest = [task.folio_add_lru(found) for _ in range(29)]
    assert not task.folio_test_lru(found, first)
    last, after = task.folio_add_lru(found), task.folio_add_lru(found)
    assert all(task.folio_test_lru(found, entry) for entry in (first, *rest, last))
    assert not task.folio_test_lru(found, after)
    assert task.folio_test_lru(found, task.SMALL), "a page of a split folio never waits"
    assert U(task.SMALL) <= after < task.LARGE

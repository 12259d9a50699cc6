"""The task that runs `swap/allocator-test`, on a machine of one CPU or several.

Which CPU it is on decides whose current cluster and whose slot caches it uses, and, of the pages
that it brings in, which MADV_PAGEOUT finds: a page of order 0 waits in a folio batch of the CPU for
the LRU lists (`folio_add_lru()`, mm/swap.c), `madvise_cold_or_pageout_pte_range()` takes only what
is on those, and before that `lru_add_drain()` empties the batch of the one CPU it runs on.
"""

from typing import NamedTuple

import numba
import numpy as np

from lorelab.swap.clusters import ONE, ZERO, U

njit = numba.njit(cache=True, error_model="numpy")

PAGEVEC_SIZE = U(31)

# A page table entry: a swap slot, or one of these. What is added to SMALL names the folio batch
# that the page came in by.
NONE = U(0)
SMALL = U(1 << 62)
LARGE = U(1 << 63)

CPU, EVENTS, MOVED, CALLS = 0, 1, 2, 3


class Task(NamedTuple):
    """Where the test is, when it goes elsewhere, and what waits for the LRU lists."""

    place: np.ndarray
    """(4,): the CPU; swap-ins, drops and swap-outs so far; `moves` made; calls of rand()."""
    moves: np.ndarray
    """(n, 2): number of the swap-in, drop or swap-out before which it moves, and where to."""
    move_every: int
    """Calls of rand() after which it moves to the next CPU; 0: never."""
    batch: np.ndarray
    """(CPUs, 2): folio batches used up so far, from 1, and pages in the one at hand."""


def start(cpus: int, move_every: int = 0, moves: np.ndarray | None = None) -> Task:
    """Put a task on CPU 0."""
    batch = np.zeros((cpus, 2), np.uint64)
    batch[:, 0] = 1
    if moves is None:
        moves = np.zeros((0, 2), np.uint64)
    return Task(np.zeros(4, np.uint64), moves, U(move_every), batch)


@njit
def cpu_of(task):
    """CPU of the next swap-in, drop or swap-out."""
    place = task.place
    while place[MOVED] < len(task.moves) and task.moves[place[MOVED], 0] <= place[EVENTS]:
        place[CPU] = task.moves[place[MOVED], 1]
        place[MOVED] += ONE
    place[EVENTS] += ONE
    return place[CPU]


@njit
def call_rand(task):
    """Move on when it is time to, as lib/kernel/guest/preload.c does before a call of rand().

    It drains its batch first, for how full other tasks had made that is not known here.
    """
    place = task.place
    if task.move_every and place[CALLS] and place[CALLS] % task.move_every == ZERO:
        lru_add_drain(task)
        place[CPU] = (place[CPU] + ONE) % U(len(task.batch))
    place[CALLS] += ONE


@njit
def folio_add_lru(task):
    """Put a page of order 0 into the CPU's batch, which goes to the LRU lists once it is full.

    Returns
    -------
    uint64
        What the page's entry becomes.
    """
    batch = task.batch[task.place[CPU]]
    entry = SMALL + batch[0] * U(len(task.batch)) + task.place[CPU]
    batch[1] += ONE
    if batch[1] == PAGEVEC_SIZE:
        lru_add_drain(task)
    return entry


@njit
def lru_add_drain(task):
    """Empty the batch of the CPU at hand; a large folio, which may not wait, does it too."""
    task.batch[task.place[CPU], 0] += ONE
    task.batch[task.place[CPU], 1] = ZERO


@njit
def folio_test_lru(task, entry):
    """Whether a page of order 0 is on the LRU lists, its batch having gone there."""
    cpus = U(len(task.batch))
    name = entry - SMALL
    return name // cpus < task.batch[name % cpus, 0]

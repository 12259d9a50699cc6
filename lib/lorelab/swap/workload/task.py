"""The task that runs `swap/allocator-test`, on a machine of one CPU or several.

Which CPU it is on decides whose current cluster and whose slot caches it uses, and, of the pages
that it brings in, which MADV_PAGEOUT finds: a page of order 0 waits in a folio batch of the CPU for
the LRU lists (`folio_add_lru()`, mm/swap.c), `madvise_cold_or_pageout_pte_range()` takes only what
is on those, and before that `lru_add_drain()` empties the batch of the one CPU it runs on.
"""

from typing import NamedTuple

import numpy as np

from lorelab.numerics import ONE, ZERO, U, njit

PAGEVEC_SIZE = U(31)

# A page table entry: a swap slot, or one of these. What is added to SMALL names the folio batch
# that the page came in by.
NONE = U(0)
SMALL = U(1 << 62)
LARGE = U(1 << 63)

PLACE = np.dtype(
    [
        ("cpu", "u8"),
        ("events", "u8"),  # swap-ins, drops and swap-outs so far
        ("moved", "u8"),  # of `Task.moves`, those made
        ("calls", "u8"),  # of rand()
    ]
)
BATCH = np.dtype(
    [
        ("number", "u8"),  # folio batches used up so far, from 1
        ("pages", "u8"),  # in the one at hand
    ]
)


class Task(NamedTuple):
    """Where the test is, when it goes elsewhere, and what waits for the LRU lists."""

    place: np.ndarray
    """(1,) PLACE"""
    moves: np.ndarray
    """(n, 2): number of the swap-in, drop or swap-out before which it moves, and where to."""
    move_every: int
    """Calls of rand() after which it moves to the next CPU; 0: never."""
    batch: np.ndarray
    """(CPUs,) BATCH"""


def start(cpus: int, move_every: int = 0, moves: np.ndarray | None = None) -> Task:
    """Put a task on CPU 0."""
    if moves is None:
        moves = np.zeros((0, 2), np.uint64)
    return on_first(int(cpus), U(move_every), moves)


@njit
def on_first(cpus, move_every, moves):
    """Compiled half of `start`, with the same parameters."""
    batch = np.zeros(cpus, BATCH)
    for cpu in range(cpus):
        batch[cpu].number = ONE
    return Task(np.zeros(1, PLACE), moves, U(move_every), batch)


@njit
def cpu_of(task):
    """CPU of the next swap-in, drop or swap-out."""
    place = task.place[0]
    while place.moved < len(task.moves) and task.moves[place.moved, 0] <= place.events:
        place.cpu = task.moves[place.moved, 1]
        place.moved += ONE
    place.events += ONE
    return place.cpu


@njit
def call_rand(task):
    """Move on when it is time to, as lib/kernel/swap/guest/preload.c does before a call of rand().

    It drains its batch first, for how full other tasks had made that is not known here.
    """
    place = task.place[0]
    if task.move_every and place.calls and place.calls % task.move_every == ZERO:
        lru_add_drain(task)
        place.cpu = (place.cpu + ONE) % U(len(task.batch))
    place.calls += ONE


@njit
def folio_add_lru(task):
    """Put a page of order 0 into the CPU's batch, which goes to the LRU lists once it is full.

    Returns
    -------
    uint64
        What the page's entry becomes.
    """
    cpu = task.place[0].cpu
    batch = task.batch[cpu]
    entry = SMALL + batch.number * U(len(task.batch)) + cpu
    batch.pages += ONE
    if batch.pages == PAGEVEC_SIZE:
        lru_add_drain(task)
    return entry


@njit
def lru_add_drain(task):
    """Empty the batch of the CPU at hand; a large folio, which may not wait, does it too."""
    batch = task.batch[task.place[0].cpu]
    batch.number += ONE
    batch.pages = ZERO


@njit
def folio_test_lru(task, entry):
    """Whether a page of order 0 is on the LRU lists, its batch having gone there."""
    cpus = U(len(task.batch))
    name = entry - SMALL
    return name // cpus < task.batch[name % cpus].number

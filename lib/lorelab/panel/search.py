"""A search of `lorelab.checker` in compiled code of a panel: its arrays, and its end.

There are no exceptions with words in a page: one that finds no room is said by `full`.
"""

from typing import NamedTuple

import numba
import numpy as np

from lorelab.checker import BATCH, COUNTED, STATES_FULL, U, affordable, search_of
from lorelab.panel.runtime import full

MEMORY = 1 << 28
"""Bytes that a search takes at most in a page."""


class Room(NamedTuple):
    """What a search writes to; one after the other may have it."""

    states: np.ndarray  # (most and what a batch adds, words) u8; the first one is where it begins
    parents: np.ndarray  # (likewise,) u4
    table: np.ndarray  # (slots,) u8
    following: np.ndarray  # (successors of a batch, words) u8
    numbers: np.ndarray  # (likewise,) u8: steps
    count: np.ndarray  # (COUNTED,) u8


def most_of(words: int) -> int:
    """How many states of so many words a search in a page may reach.

    Examples
    --------
    >>> most_of(words=3)
    6100805
    """
    return affordable(words, MEMORY)


@numba.njit(error_model="numpy")
def room_for(most, words, most_following):
    """Make the room of a search that reaches `most` states."""
    spare = int(BATCH) * most_following
    return Room(
        np.empty((most + spare, words), np.uint64),
        np.empty(most + spare, np.uint32),
        np.empty(most * 4 // 3 + 2 * spare, np.uint64),
        np.empty((spare, words), np.uint64),
        np.empty(spare, np.uint64),
        np.zeros(COUNTED, np.uint64),
    )


@numba.njit(error_model="numpy")
def search(successors, invariant, setting, room, most):
    """Go on from the first of the states; what `lorelab.checker` counts is in `room.count`."""
    ended = search_of(
        successors, invariant, setting, room.states, room.parents, room.table, room.following,
        room.numbers, U(most), room.count,
    )  # fmt: skip
    if ended == STATES_FULL:
        full()
        raise MemoryError

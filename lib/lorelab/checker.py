"""Every state that a model can reach, breadth first, and the shortest way to a broken one.

A model is two compiled functions over states of a few uint64 words, each with a fixed signature,
so that this search is compiled once for all models (`explore` and `path` have examples, for which
numba's own `njit` compiles: an example has no file to keep that with):

- `successors` compiles `step(state, following, steps, setting)`. It writes each state that can
  follow into a row of `following`, every word of it, and the number of the step that leads there
  into `steps`, and gives how many these are.
- `invariant` compiles `broken(state, followed, setting)`. It gives the number of the invariant that
  `state` breaks, or 0. `followed` is how many states follow: a state that none follows, and that is
  not an end, is a deadlock.

`state` and `first` are (words,) uint64, `following` is (most_following, words), `steps` is
(most_following,), and `setting` is a uint64 array of any length that the two functions read: a
configuration is data, nothing is compiled again for it. Two equal rows of `following` count as two
transitions to one state. Helpers that the two call are compiled by `njit`.

A state is kept once, with the index of the state it was first reached from; `room` says what that
takes. The states are in the order in which they were reached, so a property is counted by a loop
over `Explored.states`. `never` looks for states from which no wanted one can be reached.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from lorelab.errors import BadInput

U = np.uint64
ZERO, ONE, TWO = U(0), U(1), U(2)
MEMORY = 1 << 30
"""Bytes that a search may take unless it is told otherwise."""
BATCH = U(64)
"""States whose successors are made before any is looked up: the waits for memory then overlap."""

njit = numba.njit(cache=True, error_model="numpy", _nrt=False)

_ARRAY = types.Array(types.uint64, 1, "C")
_ROWS = types.Array(types.uint64, 2, "C")
_SUCCESSORS = types.uint64(_ARRAY, _ROWS, _ARRAY, _ARRAY)
_INVARIANT = types.uint64(_ARRAY, types.uint64, _ARRAY)
successors = numba.njit(_SUCCESSORS, cache=True, error_model="numpy", _nrt=False)
"""Compiles `(state, following, steps, setting)`; see above."""
invariant = numba.njit(_INVARIANT, cache=True, error_model="numpy", _nrt=False)
"""Compiles `(state, followed, setting)`; see above."""

_INDEX = U(0xFFFFFFFF)
_MIX = U(0x9E3779B97F4A7C15)
_HALF = U(32)
DONE, BROKEN, STATES_FULL = U(0), U(1), U(2)
"""How a search ends."""
COUNTED = 5
"""What a search counts: states, transitions, depth, the broken invariant, the state that does."""
_SLOTS = U(1 << 16)
"""Of the hash table at first."""


class Model(NamedTuple):
    """What is searched."""

    successors: object
    """Compiled by `successors`."""
    invariant: object
    """Compiled by `invariant`."""
    words: int
    """uint64 words of a state."""
    most_following: int
    """States that can follow one at most."""


class Explored(NamedTuple):
    """What a search found; complete unless `broken`."""

    states: np.ndarray
    """(n, words) uint64: the states in the order in which they were reached."""
    parents: np.ndarray
    """(n,) uint32: index of the state that each was first reached from; the first one's is 0."""
    transitions: int
    """Steps taken from the states that were gone through."""
    depth: int
    """Steps of the shortest way to the state farthest away, of those gone through."""
    broken: int
    """Number of the invariant that state `index` breaks, 0 when all hold in every state."""
    index: int
    """Index of the broken state with the shortest way to it; 0 when there is none."""


def room(words: int, states: int) -> int:
    """Bytes that a search through so many states takes at most.

    A state takes its words, 4 bytes for its parent, and up to 16 bytes of the hash table.

    Examples
    --------
    >>> room(words=2, states=1000)
    36000
    """
    return states * (8 * words + 20)


def affordable(words: int, memory: int = MEMORY) -> int:
    """How many states of so many words fit into `memory` bytes.

    Examples
    --------
    >>> affordable(words=2, memory=36000)
    1000
    """
    return min(memory // room(words, 1), int(_INDEX) - 1)


def refuse(estimate: float, words: int, memory: int = MEMORY) -> None:
    """Raise when a search through about `estimate` states would not fit.

    Raises
    ------
    BadInput
        Says how many states there are about, what they take, and what there is.

    Examples
    --------
    >>> refuse(1e9, words=2, memory=2**30)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lorelab.errors.BadInput: about 1.0e+09 states, which take 33.5 GiB: more than 1.0 GiB; ...
    """
    if estimate > affordable(words, memory):
        raise BadInput(
            f"about {estimate:.1e} states, which take {room(words, int(estimate)) / 2**30:.1f} GiB:"
            f" more than {memory / 2**30:.1f} GiB; take a smaller configuration"
        )


def explore(model: Model, first: np.ndarray, setting: np.ndarray, memory: int = MEMORY) -> Explored:
    """Go through every state that can be reached from `first`, nearest first.

    It ends at the first state that breaks an invariant, so no shorter way breaks one.

    Parameters
    ----------
    model : Model
    first : (words,) array
        The first state.
    setting : (any,) array
        What the model's functions read besides.
    memory : int
        Bytes that may be taken.

    Raises
    ------
    BadInput
        There are more states than fit into `memory`; says how far it came.

    Examples
    --------
    >>> def step(state, following, steps, setting):
    ...     following[0, 0], steps[0] = state[0] + ONE, ONE
    ...     return ONE
    >>> broken = lambda state, followed, setting: U(state[0] == setting[0])
    >>> model = Model(numba.njit(_SUCCESSORS)(step), numba.njit(_INVARIANT)(broken), 1, 1)
    >>> explored = explore(model, np.array([0], U), np.array([5], U))
    >>> explored.depth, explored.broken, explored.states[explored.index].tolist()
    (5, 1, [5])
    """
    most = affordable(model.words, memory)
    spare = int(BATCH) * model.most_following
    # Pages that no state reaches are never touched, and so take no memory.
    states = np.empty((most + spare, model.words), U)
    parents = np.empty(most + spare, np.uint32)
    table = np.empty(most * 4 // 3 + 2 * spare, U)
    following = np.empty((spare, model.words), U)
    steps = np.empty(spare, U)
    setting = np.ascontiguousarray(setting, U)
    states[0] = first
    count = np.zeros(COUNTED, U)
    ended = _search(
        model.successors, model.invariant, setting, states, parents, table, following, steps,
        U(most), count,
    )  # fmt: skip
    reached, transitions, depth, broken, index = (int(n) for n in count)
    if ended == STATES_FULL:
        raise BadInput(
            f"more than {most} states, the first of which lie within {depth} steps, and that is"
            f" what {memory / 2**30:.1f} GiB hold; take a smaller configuration"
        )
    return Explored(states[:reached], parents[:reached], transitions, depth, broken, index)


def path(
    model: Model, explored: Explored, setting: np.ndarray, index: int | None = None
) -> list[tuple[int, np.ndarray]]:
    """The shortest way to a state.

    Parameters
    ----------
    index : int
        Index of the state; the broken one when left out.

    Returns
    -------
    list of (step, state)
        The number of each step and the (words,) state that it leads to; the first state, which no
        step leads to, is left out.

    Examples
    --------
    >>> def step(state, following, steps, setting):
    ...     following[0, 0], following[1, 0] = state[0] + ONE, state[0] * TWO
    ...     steps[0], steps[1] = ONE, TWO
    ...     return TWO
    >>> broken = lambda state, followed, setting: U(state[0] == setting[0])
    >>> model = Model(numba.njit(_SUCCESSORS)(step), numba.njit(_INVARIANT)(broken), 1, 2)
    >>> explored = explore(model, np.array([1], U), np.array([10], U))
    >>> [(number, int(state[0])) for number, state in path(model, explored, np.array([10], U))]
    [(1, 2), (2, 4), (1, 5), (2, 10)]
    """
    setting = np.ascontiguousarray(setting, U)
    following = np.empty((model.most_following, model.words), U)
    steps = np.empty(model.most_following, U)
    at = explored.index if index is None else index
    numbers, indices = np.empty(explored.depth, U), np.empty(explored.depth, U)
    length = int(
        _way(
            model.successors, setting, explored.states, explored.parents, U(at), following, steps,
            numbers, indices,
        )
    )  # fmt: skip
    return [(int(numbers[n]), explored.states[int(indices[n])]) for n in reversed(range(length))]


def never(model: Model, explored: Explored, setting: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """States from which no goal can be reached, whatever is done.

    None means that every run can still end well, and does if every step that can be taken again
    and again is taken at last (strong fairness).

    Parameters
    ----------
    explored : Explored
        A complete search: of one that broke off, what can be reached is not known.
    goals : (n,) bool array
        Which of `explored.states` are goals.

    Returns
    -------
    (m,) int64 array
        Their indices, the nearest first.

    Examples
    --------
    >>> def step(state, following, steps, setting):
    ...     following[0, 0], following[1, 0] = state[0] + ONE, state[0] + TWO
    ...     return TWO if state[0] < setting[0] else ZERO
    >>> broken = lambda state, followed, setting: ZERO
    >>> model = Model(numba.njit(_SUCCESSORS)(step), numba.njit(_INVARIANT)(broken), 1, 2)
    >>> setting = np.array([4], U)
    >>> explored = explore(model, np.array([0], U), setting)
    >>> explored.states[never(model, explored, setting, explored.states[:, 0] == 4)].tolist()
    [[5]]
    """
    reaches = goals.copy()
    table = np.zeros(len(explored.states) * 4 // 3 + 64, U)
    fill(table, U(len(table)), explored.states, U(len(explored.states)))
    following = np.empty((model.most_following, model.words), U)
    steps = np.empty(model.most_following, U)
    setting = np.ascontiguousarray(setting, U)
    # Steps mostly lead to states found later, so each pass goes from the last to the first.
    while _back(model.successors, setting, explored.states, table, following, steps, reaches):
        pass
    return np.flatnonzero(~reaches)


@njit
def _hash(state):
    mixed = ZERO
    for word in state:
        mixed = (mixed ^ word) * _MIX
        mixed ^= mixed >> _HALF
    return mixed * _MIX


@njit
def _slot(mixed, slots):
    return ((mixed >> _HALF) * slots) >> _HALF


@njit
def _find(table, slots, states, state, mixed):
    """Place of a state in the table; an entry there is 0, or index + 1 above the hash's low half.

    Open addressing with linear probing, in the first `slots` of the table.
    """
    slot = _slot(mixed, slots)
    tag = mixed << _HALF
    while table[slot]:
        entry = table[slot]
        if (entry ^ tag) <= _INDEX:
            index = (entry & _INDEX) - ONE
            same = True
            for w in range(len(state)):
                same &= states[index, w] == state[w]
            if same:
                return slot
        slot += ONE
        if slot == slots:
            slot = ZERO
    return slot


@njit
def fill(table, slots, states, reached):
    """Enter states that all differ into a table whose first `slots` are empty."""
    for index in range(reached):
        mixed = _hash(states[index])
        slot = _slot(mixed, slots)
        while table[slot]:
            slot += ONE
            if slot == slots:
                slot = ZERO
        table[slot] = (mixed << _HALF) | (U(index) + ONE)


_FUNCTIONS = types.FunctionType(_SUCCESSORS), types.FunctionType(_INVARIANT)
_PARENTS = types.Array(types.uint32, 1, "C")
_FLAGS = types.Array(types.boolean, 1, "C")


@numba.njit(
    types.uint64(
        *_FUNCTIONS, _ARRAY, _ROWS, _PARENTS, _ARRAY, _ROWS, _ARRAY,
        types.uint64, _ARRAY,
    ),
    cache=True, error_model="numpy",
)  # fmt: skip
def _search(successors, invariant, setting, states, parents, table, following, steps, most, count):
    """Go on from `states[0]`; writes `count` and returns how it ended."""
    reached, gone, transitions, depth, end = ONE, ZERO, ZERO, ZERO, ONE
    width = U(len(following)) // BATCH
    largest = U(len(table))
    slots = min(_SLOTS, largest)
    table[:slots] = ZERO
    parents[0] = ZERO
    fill(table, slots, states, reached)
    numbers = np.empty(BATCH, U)
    hashes = np.empty(len(following), U)
    touched = ZERO
    ended = DONE
    count[3], count[4] = ZERO, ZERO
    while gone < reached:
        if reached > most:
            ended = STATES_FULL
            break
        if (reached + BATCH * width) * U(4) > slots * U(3) and slots < largest:
            slots = min(TWO * slots, largest)
            table[:slots] = ZERO
            fill(table, slots, states, reached)
            continue
        if gone == end:
            depth += ONE
            end = reached
        batch = min(BATCH, end - gone)
        for b in range(batch):
            state = states[gone + b]
            n = successors(state, following[b * width :], steps, setting)
            numbers[b] = n
            count[3] = invariant(state, n, setting)
            if count[3]:
                count[4] = gone + b
                ended = BROKEN
                break
            for k in range(b * width, b * width + n):
                hashes[k] = _hash(following[k])
                touched ^= table[_slot(hashes[k], slots)]
        if ended == BROKEN:
            break
        for b in range(batch):
            transitions += numbers[b]
            for k in range(b * width, b * width + numbers[b]):
                slot = _find(table, slots, states, following[k], hashes[k])
                if not table[slot]:
                    states[reached] = following[k]
                    parents[reached] = gone + b
                    reached += ONE
                    table[slot] = (hashes[k] << _HALF) | reached
        gone += batch
    # A load whose value nobody takes would be left out.
    steps[0] = touched
    count[0], count[1], count[2] = reached, transitions, depth
    return ended


@numba.njit(
    types.uint64(
        _FUNCTIONS[0], _ARRAY, _ROWS, _PARENTS, types.uint64, _ROWS, _ARRAY, _ARRAY, _ARRAY
    ),
    cache=True, error_model="numpy",
)  # fmt: skip
def _way(successors, setting, states, parents, at, following, steps, numbers, indices):
    """Write steps and states of the way to a state, the last one first; returns how many."""
    length = ZERO
    while at:
        before = U(parents[at])
        for k in range(successors(states[before], following, steps, setting)):
            same = True
            for w in range(U(states.shape[1])):
                same &= following[k, w] == states[at, w]
            if same:
                numbers[length] = steps[k]
                break
        indices[length] = at
        length += ONE
        at = before
    return length


@numba.njit(
    types.uint64(_FUNCTIONS[0], _ARRAY, _ROWS, _ARRAY, _ROWS, _ARRAY, _FLAGS),
    cache=True, error_model="numpy",
)  # fmt: skip
def _back(successors, setting, states, table, following, steps, reaches):
    """Mark states one step before a marked one; returns how many."""
    marked = ZERO
    slots = U(len(table))
    for n in range(U(len(states))):
        index = U(len(states)) - ONE - n
        if reaches[index]:
            continue
        for k in range(successors(states[index], following, steps, setting)):
            slot = _find(table, slots, states, following[k], _hash(following[k]))
            if reaches[(table[slot] & _INDEX) - ONE]:
                reaches[index] = True
                marked += ONE
                break
    return marked


def _anew(function):
    # Where numba is off, as for mutants, it has no `py_func`.
    return numba.njit(error_model="numpy")(getattr(function, "py_func", function))


search_of = _anew(_search)
"""`_search` for compiled code that names the two functions of its model, as a panel's does."""
way_of = _anew(_way)
"""`_way`, for the same."""
back_of = _anew(_back)
"""`_back`, for the same."""

"""The search against puzzles whose answers are known, and against a plain search in Python."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab import checker
from lorelab.checker import ONE, ZERO, Model, U, explore, invariant, never, path, refuse, successors
from lorelab.errors import BadInput

NOTHING = np.zeros(1, U)
FOUR = U(4)


@invariant
def nothing_breaks(state, followed, setting):
    return ZERO


@successors
def slide(state, following, steps, setting):
    """Eight puzzle: four bits a cell, 0 is the hole; a step is named after the tile that moves."""
    hole = ZERO
    while (state[0] >> (FOUR * hole)) & U(15):
        hole += ONE
    n = ZERO
    for cell in range(U(9)):
        next_to = (cell == hole + ONE or hole == cell + ONE) and cell // U(3) == hole // U(3)
        if next_to or cell == hole + U(3) or hole == cell + U(3):
            tile = (state[0] >> (FOUR * cell)) & U(15)
            following[n, 0] = state[0] ^ (tile << (FOUR * cell)) ^ (tile << (FOUR * hole))
            steps[n] = tile
            n += ONE
    return n


EIGHT = Model(slide, nothing_breaks, words=1, most_following=4)
SOLVED = np.array([sum(tile << 4 * cell for cell, tile in enumerate([*range(1, 9), 0]))], U)


def test_the_eight_puzzle_has_half_of_its_orders_and_takes_31_moves():
    found = explore(EIGHT, SOLVED, NOTHING)
    assert len(found.states) == 181_440
    assert len(np.unique(found.states, axis=0)) == 181_440
    assert found.depth == 31
    assert len(path(EIGHT, found, NOTHING, index=181_439)) == 31
    assert not found.broken


# Peterson's lock, two threads: flag 0, flag 1, turn, and 3 bits each of where they are.
# `setting[0]` set: both look before they raise their flags.
OUT, FLAGGED, TURNED, IN = U(0), U(1), U(2), U(3)


@successors
def peterson(state, following, steps, setting):
    n = ZERO
    for me in range(U(2)):
        other = ONE - me
        at = (state[0] >> (U(3) + U(3) * me)) & U(7)
        flagged = (state[0] >> other) & ONE
        turn = (state[0] >> U(2)) & ONE
        after = state[0]
        to = at
        if at == OUT:
            if not setting[0] or not flagged:
                after |= ZERO if setting[0] else ONE << me
                to = FLAGGED
        elif at == FLAGGED:
            after = (after & ~FOUR) | other << U(2) | (ONE << me if setting[0] else ZERO)
            to = TURNED
        elif at == TURNED:
            if setting[0] or not flagged or turn == me:
                to = IN
        else:
            after &= ~(ONE << me)
            to = OUT
        if to != at:
            following[n, 0] = after ^ ((at ^ to) << (U(3) + U(3) * me))
            steps[n] = me * U(4) + at
            n += ONE
    return n


@invariant
def both_in(state, followed, setting):
    if not followed:
        return U(2)
    return U((state[0] >> U(3)) & U(7) == IN and (state[0] >> U(6)) & U(7) == IN)


LOCK = Model(peterson, both_in, words=1, most_following=2)


def test_peterson_excludes_and_lets_everyone_in():
    setting = np.array([0], U)
    found = explore(LOCK, NOTHING, setting)
    assert not found.broken
    for me in (0, 1):
        inside = (found.states[:, 0] >> U(3 + 3 * me)) & U(7) == IN
        assert inside.any()
        assert len(never(LOCK, found, setting, inside)) == 0


def test_a_lock_that_looks_first_lets_both_in_and_the_shortest_way_says_how():
    setting = np.array([1], U)
    found = explore(LOCK, NOTHING, setting)
    assert found.broken == 1
    steps = [step for step, _ in path(LOCK, found, setting)]
    assert len(steps) == 6
    assert sorted(steps) == [0, 1, 2, 4, 5, 6]
    assert (path(LOCK, found, setting)[-1][1] == found.states[found.index]).all()


# A graph given as data: node i leads to setting[3i], setting[3i + 1] and setting[3i + 2], or to as
# many of them as setting's last entry says. Three words, so that hashes have work to do.
@successors
def along(state, following, steps, setting):
    node = state[0]
    for k in range(setting[len(setting) - 1]):
        to = setting[U(3) * node + k]
        following[k, 0], following[k, 1], following[k, 2] = to, to * to, ~to
        steps[k] = k
    return U(0) if node == setting[len(setting) - 3] else setting[len(setting) - 1]


@invariant
def at_the_forbidden(state, followed, setting):
    return U(state[0] == setting[len(setting) - 2])


GRAPH = Model(along, at_the_forbidden, words=3, most_following=3)


def node(n):
    return np.array([n, n * n, ~U(n)], U)


def plain(links, width, end, forbidden):
    """The same, as a queue and dictionaries do it: distances, steps, the broken node."""
    distance, queue, transitions = {0: 0}, deque([0]), 0
    while queue:
        at = queue.popleft()
        if at == forbidden:
            return distance, transitions, at
        for to in links[3 * at : 3 * at + width] if at != end else []:
            transitions += 1
            if to not in distance:
                distance[to] = distance[at] + 1
                queue.append(to)
    return distance, transitions, None


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 400))
    links = draw(st.lists(st.integers(0, nodes - 1), min_size=3 * nodes, max_size=3 * nodes))
    return links, draw(st.integers(1, 3)), draw(st.integers(0, nodes)), draw(st.integers(0, nodes))


@given(graphs())
def test_a_graph_is_gone_through_as_a_plain_search_does(graph):
    links, width, end, forbidden = graph
    setting = np.array([*links, end, forbidden, width], U)
    found = explore(GRAPH, node(0), setting)
    distance, transitions, broken = plain(*graph)
    if broken is not None:
        assert found.broken == 1
        assert found.states[found.index, 0] == broken
        assert len(path(GRAPH, found, setting)) == distance[broken]
        return
    assert not found.broken
    assert found.transitions == transitions
    assert found.depth == max(distance.values())
    assert set(found.states[:, 0].tolist()) == set(distance)
    for index in range(0, len(found.states), 7):
        walked = path(GRAPH, found, setting, index)
        assert len(walked) == distance[int(found.states[index, 0])]
        at = 0
        for step, state in walked:
            assert links[3 * at + step] == state[0]
            at = int(state[0])


@given(graphs())
def test_never_finds_the_nodes_that_do_not_lead_to_the_end(graph):
    links, width, end, _ = graph
    setting = np.array([*links, end, 10_000, width], U)
    found = explore(GRAPH, node(0), setting)
    reached = found.states[:, 0].tolist()
    leads = {end}
    while True:
        more = {
            at for at in reached if at != end and leads & set(links[3 * at : 3 * at + width])
        } - leads
        if not more:
            break
        leads |= more
    lost = never(GRAPH, found, setting, found.states[:, 0] == U(end))
    assert found.states[lost, 0].tolist() == [at for at in reached if at not in leads]


def test_a_search_that_outgrows_its_memory_is_refused_and_says_how_far_it_came():
    with pytest.raises(BadInput, match=r"more than \d+ states, the first of which lie within \d+"):
        explore(EIGHT, SOLVED, NOTHING, memory=checker.room(1, 100_000))
    assert len(explore(EIGHT, SOLVED, NOTHING, memory=checker.room(1, 181_440)).states) == 181_440
    with pytest.raises(BadInput, match=r"more than 181439 states"):
        explore(EIGHT, SOLVED, NOTHING, memory=checker.room(1, 181_439))


def test_an_estimate_is_refused_only_when_it_does_not_fit():
    refuse(10_000_000, words=8)
    refuse(1000, words=2, memory=checker.room(2, 1000))
    with pytest.raises(BadInput, match=r"about 1\.0e\+03 states"):
        refuse(1001, words=2, memory=checker.room(2, 1000))
    with pytest.raises(BadInput, match=r"about 1\.0e\+09 states, which take 48\.\d GiB: more than"):
        refuse(1e9, words=4)


def test_ten_million_states_of_eight_words_fit_into_a_gibibyte():
    assert checker.room(words=8, states=10_000_000) < 1 << 30
    assert checker.affordable(words=8) > 10_000_000

"""Lifetimes step by step: the model's words beside packets that are objects, in any scope."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.gso.experiments import lifetimes
from lorelab.gso.model import lifetimes as model
from lorelab.gso.params import Lifetimes, Variant
from tests.gso.experiments.packets import Play

SCOPES = st.builds(
    Lifetimes,
    variant=st.sampled_from(Variant),
    segments=st.integers(1, 4),
    cpus=st.integers(1, 2),
    **dict.fromkeys(
        ("clone", "local", "direct", "member", "rx_orphan", "gather", "once"), st.booleans()
    ),
)


def following(state, chosen):
    """By step, the state that the model has after it."""
    states = np.zeros((model.MOST_FOLLOWING, 3), np.uint64)
    steps = np.zeros(model.MOST_FOLLOWING, np.uint64)
    n = int(lifetimes.MODEL.successors(state, states, steps, chosen))
    assert len({*steps[:n].tolist()}) == n
    return dict(zip(steps[:n].tolist(), states[:n], strict=True))


def broken(state, scope):
    """Numbers of the invariants that the model calls broken."""
    followed = np.uint64(0)
    found = {n: model.broken(state, followed, lifetimes.setting(scope, n)) for n in range(1, 11)}
    assert all(said in (0, number) for number, said in found.items())
    return {number for number, said in found.items() if said}


@settings(max_examples=200)
@given(SCOPES, st.integers(0, 2**32))
def test_each_step_is_that_of_objects_and_so_is_what_it_breaks(scope, seed):
    play, chance = Play(scope), random.Random(seed)
    state, chosen = lifetimes.first(scope), lifetimes.setting(scope)
    while True:
        assert tuple(state.tolist()) == play.words()
        assert broken(state, scope) == play.broken()
        after = following(state, chosen)
        assert sorted(after) == sorted(play.possible())
        if not after:
            return
        step = chance.choice(sorted(after))
        play.take(step)
        state = after[step]

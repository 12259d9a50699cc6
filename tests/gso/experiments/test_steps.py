"""Lifetimes step by step: the model's words beside packets that are objects, in any scope."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.gso.experiments import lifetimes
from lorelab.gso.model import invariants
from lorelab.gso.model import lifetimes as model
from lorelab.gso.params import Lifetimes, Variant
from tests.gso.experiments.packets import Play

SCOPES = st.builds(
    Lifetimes,
    variant=st.sampled_from(Variant),
    segments=st.integers(1, 4),
    cpus=st.integers(1, 2),
    **dict.fromkeys(
        (
            "clone",
            "local",
            "direct",
            "member",
            "rx_orphan",
            "gather",
            "once",
            "readable",
            "fails",
            "nested",
            "retransmit",
            "straddles",
            "joined",
        ),
        st.booleans(),
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
    found = {
        n: invariants.broken(state, followed, lifetimes.setting(scope, n)) for n in range(1, 11)
    }
    assert all(said in (0, number) for number, said in found.items())
    return {number for number, said in found.items() if said}


@settings(max_examples=200)
@given(SCOPES, st.integers(0, 2**32))
def test_each_step_is_that_of_objects_and_so_is_what_it_breaks(scope, seed):
    played(scope, seed)


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize(
    "place",
    [
        {"segments": 1, "rx_orphan": True},
        {"segments": 1, "rx_orphan": False},
        {"gather": False},
        {"gather": False, "readable": False},
        {"readable": False},
        {"fails": True},
        {"fails": True, "gather": False},
        {"nested": True},
        {"nested": True, "segments": 4},
        {"retransmit": True},
        {"retransmit": True, "nested": True, "readable": False},
        {"once": True},
        {"member": True},
        {"straddles": True},
        {"straddles": True, "readable": False},
        {"joined": True},
        {"joined": True, "straddles": True, "retransmit": True},
    ],
)
@pytest.mark.parametrize("variant", list(Variant))
def test_each_step_in_every_place(variant, place, cpus):
    """What is drawn leaves out some of these in most runs."""
    for seed in range(6):
        played(Lifetimes(variant=variant, cpus=cpus, **({"segments": 2} | place)), seed)


def played(scope, seed):
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

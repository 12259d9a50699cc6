"""`gso/lifetimes`: which invariants a way to hold the sender's pages keeps, in every order.

`lorelab.gso.model.lifetimes` has the states and steps, `lorelab.checker` searches them. Each
invariant is searched for alone, so its counterexample is the shortest there is.
"""

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.checker import Model, U, explore, path
from lorelab.gso.model import lifetimes as model
from lorelab.gso.model.invariants import INVARIANTS, broken
from lorelab.gso.params import TRAITS, Lifetimes
from lorelab.params import label

MODEL = Model(model.step, broken, words=3, most_following=model.MOST_FOLLOWING)


def setting(params: Lifetimes, invariant: int = 0) -> np.ndarray:
    """What the model reads: scope, the invariant that is looked for, traits."""
    scope = [int(getattr(params, name)) for name in model.SCOPE]
    traits = TRAITS[params.variant]
    return np.array(
        [*scope, invariant, *(int(getattr(traits, name)) for name in model.TRAIT_NAMES)], U
    )


def first(params: Lifetimes) -> np.ndarray:
    """The head in its queue, before it is segmented; shape (3,)."""
    counts = 1 << 10 | 1 << 6  # users, zerocopy
    if TRAITS[params.variant].at_send:
        counts = 1 << 10 | 1 << 7 | 1 << 4  # copied, told
    else:
        counts |= 1 | 1 << 14 | 1 << 15  # ref, the flag, the pages
        counts += params.joined * (1 | 1 << 29)  # ref, the later sk_buff
    return np.array([counts | params.retransmit << 27, 0, 0], U)


def simulate(params: Lifetimes) -> pd.DataFrame:
    """Search every order.

    Returns
    -------
    DataFrame
        `states`, `transitions` and `depth` of the whole search, and `broken_i1` to `broken_i9`:
        steps of the shortest way that breaks an invariant, 0 if none does.
    """
    whole = explore(MODEL, first(params), setting(params))
    found = {
        "states": ("states", [len(whole.states)]),
        "transitions": ("steps", [whole.transitions]),
        "depth": ("steps", [whole.depth]),
    }
    for number in INVARIANTS:
        steps = len(shortest(params, number))
        found[f"broken_i{number}"] = ("steps", [steps])
    return counters.table("gso/lifetimes", label(params.variant), "model", found, first=0)


def shortest(params: Lifetimes, number: int) -> list[tuple[int, np.ndarray]]:
    """Steps and states of the shortest way that breaks an invariant; empty if none does."""
    chosen = setting(params, number)
    explored = explore(MODEL, first(params), chosen)
    return path(MODEL, explored, chosen) if explored.broken else []

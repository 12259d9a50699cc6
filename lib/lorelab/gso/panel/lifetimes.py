"""The panel of `gso/lifetimes`: every order of one send, and the shortest ways to what breaks."""

import altair as alt
import numba
import numpy as np
import pandas as pd

from lorelab.checker import U, way_of
from lorelab.gso.experiments.lifetimes import first, setting, shortest, simulate
from lorelab.gso.model import lifetimes as model
from lorelab.gso.model.invariants import INVARIANTS, broken
from lorelab.gso.model.lifetimes import MOST_FOLLOWING, WANTED, step
from lorelab.gso.model.states import THINGS, cells
from lorelab.gso.pages import charts
from lorelab.gso.params import TRAITS, Lifetimes, Variant
from lorelab.panel import progress
from lorelab.panel.search import most_of, room_for, search
from lorelab.params import label

CHOICES: dict[str, tuple[str, ...]] = {}
COUNTERS = {"states": "states", "transitions": "steps", "depth": "steps"} | {
    f"broken_i{number}": "steps" for number in INVARIANTS
}
MORE = ("kind", "at", "taken", *THINGS)
"""Of a way, which is for the chart: the invariant that it breaks, how many steps were taken, the
last of them, and what the state is then."""
COUNTING = len(COUNTERS)
FIRST = 0
VARIANT = "variant"
NOTE = (
    "Every order of the segments is searched, and each of them may be dropped in the qdisc, so "
    "neither is a field."
)
RERUN = ("gso/model", ("segments",))
SETTINGS = np.array([setting(Lifetimes(variant=variant)) for variant in Variant])
FIRSTS = np.array([first(Lifetimes(variant=variant)) for variant in Variant])
"""Where a send begins, but for `retransmit` and `joined`."""
LENDS = np.array([not TRAITS[variant].at_send for variant in Variant])
NUMBERS = np.array(list(INVARIANTS), np.uint64)
WORDS = 3
MOST = most_of(WORDS)
LONGEST = 64
"""Steps of a way; no order of one send has as many."""


@numba.njit(error_model="numpy")  # not kept on disk: it calls what only a page has
def entry(params):
    """Search every order; the first row has `COUNTERS`, each other one a step of a way.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `Lifetimes`.
    """
    p = params[0]
    given = SETTINGS[p.variant].copy()
    scope = (
        p.segments, p.clone, p.local, p.direct, p.member, p.rx_orphan, p.gather, p.readable,
        p.fails, p.nested, p.retransmit, p.straddles, p.once, p.cpus,
    )  # fmt: skip
    for n in range(len(scope)):
        given[n] = U(scope[n])
    room = room_for(MOST, WORDS, MOST_FOLLOWING)
    states, count = room.states, room.count
    states[0] = FIRSTS[p.variant]
    states[0, 0] |= U(p.retransmit) << model.KEPT
    if p.joined and LENDS[p.variant]:
        states[0, 0] += U(1) << model.REF | model.WAITS << model.TAIL
    numbers, indices = np.empty(LONGEST, np.uint64), np.empty(LONGEST, np.uint64)
    rows = np.zeros((1 + len(NUMBERS) * (1 + LONGEST), COUNTING + len(MORE)), np.uint64)
    used = 1
    for wanted in range(1 + len(NUMBERS)):
        progress(wanted, 1 + len(NUMBERS))
        given[WANTED] = NUMBERS[wanted - 1] if wanted else U(0)
        search(step, broken, given, room, MOST)
        if not wanted:
            rows[0, :3] = count[:3]
        elif count[3]:
            length = way_of(
                step, given, states, room.parents, count[4], room.following, room.numbers,
                numbers, indices,
            )  # fmt: skip
            rows[0, 2 + wanted] = length
            for n in range(length + U(1)):
                row = rows[used, COUNTING:]
                row[0], row[1] = given[WANTED], n
                row[2] = numbers[length - n] if n else U(0)
                cells(states[indices[length - n] if n else U(0)], given, row[3:])
                used += 1
    return rows[:used]


def ways(params: Lifetimes) -> pd.DataFrame:
    """What `entry` gives, from the searches of the experiment.

    Returns
    -------
    DataFrame
        `variant`, `COUNTERS` and `MORE`: a row of counters, and one for each state of the shortest
        ways, whose `kind` is the invariant.
    """
    counted = simulate(params).set_index("counter")["value"]
    rows = [{name: int(counted[name]) for name in COUNTERS}]
    settings = setting(params)
    for number in INVARIANTS:
        way = shortest(params, number)
        states = [(0, first(params)), *way] if way else []
        for at, (taken, state) in enumerate(states):
            things = np.zeros(len(THINGS), np.uint64)
            cells(state, settings, things)
            rows.append(dict(zip(MORE, (number, at, taken, *map(int, things)), strict=True)))
    frame = pd.DataFrame(rows, columns=[*COUNTERS, *MORE]).fillna(0).astype(np.uint64)
    return frame.assign(variant=label(params.variant))


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's chart of this experiment."""
    return charts.ways(
        table.pivot_table(index=["step", "variant"], columns="counter", values="value")
    )

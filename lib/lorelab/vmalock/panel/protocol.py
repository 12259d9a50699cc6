"""The panel of `vmalock/protocol`: every interleaving, and the shortest one that breaks a rule."""

import altair as alt
import numba
import numpy as np
import pandas as pd

from lorelab.checker import U, back_of, fill, way_of
from lorelab.numerics import njit
from lorelab.panel.search import most_of, room_for, search
from lorelab.params import label
from lorelab.vmalock.experiments.protocol import searched
from lorelab.vmalock.model.protocol import state
from lorelab.vmalock.model.protocol.configurations import (
    CONFIGURATIONS,
    PROGRAMS,
)
from lorelab.vmalock.model.protocol.ops import BYTE, END
from lorelab.vmalock.model.protocol.rules import Rule, broken
from lorelab.vmalock.model.protocol.state import (
    CODE,
    CODE_LENGTH,
    COUNT,
    EXCLUSIVE,
    IN_RCU,
    MMAP_READERS,
    MMAP_WRITER,
    OTHER_USERS,
    PC,
    SEQ,
    SETTING,
    VM_LOCK_SEQ,
    VMA,
    get,
    tget,
    vget,
)
from lorelab.vmalock.model.protocol.successors import successor
from lorelab.vmalock.pages import interleaved
from lorelab.vmalock.pages.searches import interleaving
from lorelab.vmalock.panel.programs import (
    BEGUN,
    CHECKS,
    EVEN,
    KNOWN,
    LEFT_OUT,
    STATED,
    STATEMENTS,
    THREADS,
    WHO,
    configured,
)
from lorelab.vmalock.params import Protocol

SECOND = np.array(["other" in dict(each.threads) for each in CONFIGURATIONS.values()])
ENDS = U(Rule.ENDS)
CHOICES = {"configuration": tuple(CONFIGURATIONS), "without": ("", *KNOWN)}
COUNTERS = {
    "states": "states",
    "transitions": "transitions",
    "depth": "steps",
    "broken_rule": "rule",
    "counterexample": "steps",
}
MORE = (
    "kind", "at", "thread", "program", "statement", "mm_lock_seq", "mmap_lock", "vm_lock_seq",
    "count", "exclusive",
)  # fmt: skip
"""Of an interleaving, which is for the chart: 1, the step's number, who takes it and which it is,
and what it leaves behind; `mmap_lock` is how many read, or `interleaved.WRITTEN`."""
COUNTING, WIDTH = len(COUNTERS), len(COUNTERS) + len(MORE)
FIRST = 0
VARIANT = "variant"
RERUN = (
    "vmalock/model", ("variant", "configuration", "mutation", "without", "sequence_bits")
)  # fmt: skip
MOST = most_of(state.WORDS)
MOST_FOLLOWING = int(state.THREADS)
LONGEST = 256
"""Steps of an interleaving: more than three programs have that do not run in circles."""


@njit
def _ended(at, setting, chosen):
    """Whether every thread has come to its end, as `experiments.protocol.ended` has it."""
    if get(at, OTHER_USERS) != U(not SECOND[chosen]):
        return False
    for thread in range(THREADS[chosen]):
        code = CODE + U(thread) * CODE_LENGTH + tget(at, U(thread), PC)
        if setting[code] & BYTE != END or tget(at, U(thread), IN_RCU) != U(0):
            return False
    return True


@njit
def _left(at, vma, row):
    """What the chart shows of a state."""
    row[0] = get(at, SEQ)
    row[1] = U(interleaved.WRITTEN) if get(at, MMAP_WRITER) else get(at, MMAP_READERS)
    row[2] = vget(at, vma, VM_LOCK_SEQ)
    row[3], row[4] = vget(at, vma, COUNT), vget(at, vma, EXCLUSIVE)


@numba.njit(error_model="numpy")  # not kept on disk: it calls what only a page has
def entry(params):
    """Search every interleaving; the first row has `COUNTERS`, each other one a step.

    Parameters
    ----------
    params : (1,) array
        As `lorelab.flat.flat` makes it of `Protocol`.
    """
    p = params[0]
    given = np.zeros(SETTING + STATED, np.uint64)
    if not CHECKS[p.variant]:
        raise ValueError
    chosen, good = configured(p, given)
    if not good:
        raise ValueError
    even = np.int64(
        p.without == EVEN or (p.mutation != 0 and (LEFT_OUT[p.variant, p.mutation] == EVEN).any())
    )
    room = room_for(MOST, state.WORDS, MOST_FOLLOWING)
    states, following, numbers, count = room.states, room.following, room.numbers, room.count
    states[0] = BEGUN[p.variant, chosen, p.sequence_bits - 1, even]
    search(successor, broken, given, room, MOST)
    rule, index = count[3], count[4]
    if not rule:
        n = count[0]
        reaches = np.empty(n, np.bool_)
        for k in range(n):
            reaches[k] = _ended(states[k], given, chosen)
        again = room.table[: n * U(4) // U(3) + U(64)]
        again[:] = U(0)
        fill(again, U(len(again)), states, n)
        while back_of(successor, given, states[:n], again, following, numbers, reaches):
            pass
        for k in range(n):
            if not reaches[k]:
                rule, index = ENDS, U(k)
                break
    taken, indices = np.empty(LONGEST, np.uint64), np.empty(LONGEST, np.uint64)
    length = U(0)
    if rule:
        length = way_of(
            successor, given, states, room.parents, index, following, numbers, taken, indices
        )
    rows = np.zeros((1 + length, WIDTH), np.uint64)
    rows[0, 0], rows[0, 1], rows[0, 2], rows[0, 3], rows[0, 4] = (
        count[0], count[1], count[2], rule, length,
    )  # fmt: skip
    about = U(1)
    for n in range(length):
        vma = tget(states[indices[n]], taken[n] // CODE_LENGTH, VMA)
        if vma:
            about = vma
            break
    for n in range(length):
        back = length - U(1) - U(n)
        row = rows[n + 1, COUNTING:]
        thread = taken[back] // CODE_LENGTH
        row[0], row[1], row[2] = U(1), U(n + 1), thread
        row[3] = U(WHO[chosen, thread, 0])
        row[4] = given[STATEMENTS + taken[back]]
        _left(states[indices[back]], about, row[5:])
    return rows


def ways(params: Protocol) -> pd.DataFrame:
    """What `entry` gives, from the search of the experiment.

    Returns
    -------
    DataFrame
        `variant`, `COUNTERS` and `MORE`: a row of counters, and one for each step of the
        interleaving.
    """
    search = searched(params)
    way = interleaving(search)
    first = {
        "states": len(search.explored.states),
        "transitions": search.explored.transitions,
        "depth": search.explored.depth,
        "broken_rule": int(search.rule or 0),
        "counterexample": len(way),
    }
    rows = [first]
    for each in way.to_dict("records"):
        thread, program = each["thread"].split()
        numbers = {"write": interleaved.WRITTEN, "free": 0}
        rows.append(
            {
                "kind": 1,
                "at": each["step"],
                "thread": int(thread),
                "program": PROGRAMS.index(program),
                "statement": KNOWN.index(each["statement"]) + 1,
                "mmap_lock": int(numbers.get(each["mmap_lock"], each["mmap_lock"].split()[0])),
            }
            | {name: each[name] for name in ("mm_lock_seq", "vm_lock_seq", "count", "exclusive")}
        )
    frame = pd.DataFrame(rows, columns=[*COUNTERS, *MORE]).fillna(0).astype(np.uint64)
    return frame.assign(variant=label(params.variant))


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's chart of this experiment."""
    wide = table.pivot_table(index=["step", "variant"], columns="counter", values="value")
    return interleaved.chart(wide, KNOWN)

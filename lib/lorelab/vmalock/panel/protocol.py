"""The panel of `vmalock/protocol`: every interleaving, and the shortest one that breaks a rule.

What the experiment makes in Python of a configuration, its programs without some steps, is made
here by compiled code, of all programs at once, as the variants and the changes make them, and of
the names of their steps.
"""

from itertools import combinations
from typing import NamedTuple, get_args

import altair as alt
import numba
import numpy as np
import pandas as pd

from lorelab.checker import (
    BATCH,
    COUNTED,
    STATES_FULL,
    U,
    affordable,
    back_of,
    fill,
    search_of,
    way_of,
)
from lorelab.numerics import njit
from lorelab.panel import full
from lorelab.params import label
from lorelab.vmalock.experiments.protocol import interleaving, searched
from lorelab.vmalock.model.protocol import configurations, reader, state, steps, writers
from lorelab.vmalock.model.protocol.configurations import (
    CHANGES,
    CHECKED,
    CONFIGURATIONS,
    FREED_AT_ONCE,
    IN_A_STATE,
    MUTATIONS,
    PROGRAMS,
    TYPE_SAFE,
    Configuration,
)
from lorelab.vmalock.model.protocol.ops import BYTE, ELSEWHERE_AT, END, NEXT_AT, OTHERWISE_AT
from lorelab.vmalock.model.protocol.programs import called, load, steps_of
from lorelab.vmalock.model.protocol.rules import Rule, broken
from lorelab.vmalock.model.protocol.state import (
    CODE,
    CODE_LENGTH,
    COUNT,
    EXCLUSIVE,
    IN_RCU,
    MMAP_READERS,
    MMAP_WRITER,
    N_THREADS,
    OTHER_USERS,
    PC,
    READER,
    REFCOUNT,
    RULES,
    SECTION,
    SEQ,
    SEQ_MASK,
    SETTING,
    TYPESAFE,
    VM_LOCK_SEQ,
    VMA,
    get,
    tget,
    vget,
)
from lorelab.vmalock.model.protocol.successors import successor
from lorelab.vmalock.pages import interleaved
from lorelab.vmalock.params import TRAITS, Mutation, Protocol, Variant

BY_READERS = (
    reader.ANON_FIRST, reader.BLOCKING, reader.RANGE_FIRST, reader.MARK_FIRST,
    reader.DETACHED_CHECK,
)  # fmt: skip
BY_WRITERS = (
    writers.UNLOCK_FIRST, writers.STORE_LATE, writers.GROWS_AS_READER, writers.RESET,
    writers.EVEN_FIRST,
)  # fmt: skip
BUILT = (*BY_READERS, *BY_WRITERS)
"""Changes that make other programs of it; the other two change what becomes of freed memory."""
MOST_LEFT_OUT = 3
"""Names at once: the form's, and two of a mutation."""


class Programs(NamedTuple):
    """Every program there is, one behind the other."""

    index: np.ndarray
    """(variants, programs, pages, changes + 1, changes + 1) int16: which it is; -1 is none."""
    starts: np.ndarray
    """Of each one's steps."""
    code: np.ndarray
    """(steps,) uint64, as `programs.load` writes them."""
    names: np.ndarray
    """(steps, 3) uint8: numbers of the names that leave a step out; 0 is none."""
    sections: np.ndarray
    """(programs, 4) uint64, as `programs.load` writes them."""
    known: tuple[str, ...]
    """The names, from number 1 on; behind those of steps the `CHANGES`."""


def _programs() -> Programs:
    """Build them, each once."""
    index = np.full((len(Variant), len(PROGRAMS), 2, len(BUILT) + 1, len(BUILT) + 1), -1, np.int16)
    made: dict[tuple, int] = {}
    known: dict[str, int] = {}
    starts, code, names, sections = [0], [], [], []
    cases = [(), *combinations(BUILT, 1), *combinations(BUILT, 2)]
    for variant in CHECKED:
        for number, name in enumerate(PROGRAMS):
            mine = BY_READERS if name == "fault" else BY_WRITERS
            for page in (0, 1):
                built = {}
                for case in cases:
                    changes = frozenset(case) & frozenset(mine)
                    if changes not in built:
                        chosen = Configuration(((name, page),))
                        [program] = configurations.whole(variant, chosen, changes)
                        words = np.zeros(SETTING, U)
                        load(words, 0, program, page)
                        by = [called(step) for step in steps_of(program)]
                        key = (words.tobytes(), tuple(by))
                        if key not in made:
                            made[key] = len(made)
                            length = len(by) + 1
                            code.append(words[int(CODE) : int(CODE) + length])
                            for each in by:
                                numbers = [known.setdefault(one, len(known) + 1) for one in each]
                                names.append((*numbers, 0, 0)[:3])
                            names.append((0, 0, 0))
                            starts.append(starts[-1] + length)
                            sections.append(words[int(SECTION) : int(SECTION) + 4])
                        built[changes] = made[key]
                    places = [BUILT.index(change) + 1 for change in case]
                    one, other = (*places, 0, 0)[:2]
                    where = index[variant, number, page]
                    where[one, other] = where[other, one] = built[changes]
                    if one and not other:
                        where[one, one] = built[changes]
    for change in (*CHANGES, reader.DETACHED_CHECK):
        known.setdefault(change, len(known) + 1)
    arrays = np.array(starts), np.concatenate(code), np.array(names, np.uint8), np.array(sections)
    return Programs(index, *arrays, tuple(known))


ALL = _programs()
INDEX, STARTS, STEPS, NAMES, SECTIONS, KNOWN = ALL
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
BUILT_AS = np.array([0] + [BUILT.index(name) + 1 if name in BUILT else 0 for name in KNOWN])
"""What makes another program, by number of the name."""
IS_CHANGE = np.array([True] + [name in (*CHANGES, reader.DETACHED_CHECK) for name in KNOWN])
AT_ONCE, REUSED, EVEN = (
    KNOWN.index(name) + 1 for name in (FREED_AT_ONCE, TYPE_SAFE, writers.EVEN_FIRST)
)
TYPESAFES = np.array([TRAITS[variant].typesafe for variant in Variant])
REFCOUNTS = np.array([TRAITS[variant].refcount for variant in Variant], np.uint64)
CHECKS = np.array([variant in CHECKED for variant in Variant])
LOOKED_FOR = U(sum(1 << rule for rule in IN_A_STATE))
ENDS = U(Rule.ENDS)
SECOND = np.array(["other" in dict(each.threads) for each in CONFIGURATIONS.values()])
THREADS = np.array([len(each.threads) for each in CONFIGURATIONS.values()])
WHO = np.array(
    [
        [(PROGRAMS.index(name), page) for name, page in (*each.threads, *[("fault", 0)] * 3)][:3]
        for each in CONFIGURATIONS.values()
    ]
)
"""Program and page of each thread; what is behind `THREADS` is nobody."""
_DONE_BY = {
    name: list(CONFIGURATIONS).index(each.configuration) for name, each in MUTATIONS.items()
}
BROUGHT = np.array([_DONE_BY.get(name, 0) for name in get_args(Mutation)])
"""The configuration that a mutation brings."""
FLAGS = list(CONFIGURATIONS).index("flags")


def _left_out() -> np.ndarray:
    """Numbers of what a mutation leaves out or changes of a variant."""
    found = np.zeros((len(Variant), len(get_args(Mutation)), 2), np.int64)
    for variant in CHECKED:
        for place, name in enumerate(get_args(Mutation)):
            if name in MUTATIONS:
                numbers = [KNOWN.index(each) + 1 for each in configurations.mutated(variant, name)]
                found[variant, place, : len(numbers)] = sorted(numbers)
    return found


def _begun() -> np.ndarray:
    """`configurations.first`, by variant, configuration, bits less one, and `EVEN_FIRST`."""
    found = np.zeros((len(Variant), len(CONFIGURATIONS), 4, 2, state.WORDS), np.uint64)
    for variant in CHECKED:
        for number, chosen in enumerate(CONFIGURATIONS.values()):
            for bits in range(4):
                for even in (0, 1):
                    changes = frozenset({writers.EVEN_FIRST} if even else ())
                    begun = configurations.first(variant, chosen, bits + 1, changes)
                    found[variant, number, bits, even] = begun
    return found


LEFT_OUT, BEGUN = _left_out(), _begun()
STATEMENTS, STATED = U(SETTING), int(state.THREADS * CODE_LENGTH)
"""Where names of steps are, behind what the search is told."""
MEMORY = 1 << 28
"""Bytes that a search takes at most in a page."""
MOST = affordable(state.WORDS, MEMORY)
MOST_FOLLOWING = int(state.THREADS)
LONGEST = 256
"""Steps of an interleaving: more than three programs have that do not run in circles."""


@njit
def _load(given, thread, which, page, left):
    """`programs.load` of one without the steps that have one of the names in `left`.

    Returns whether there was a step for each of these; a bit each.
    """
    start, length = STARTS[which], STARTS[which + 1] - STARTS[which]
    gone = np.zeros(length, np.bool_)
    place = np.zeros(length + 1, np.uint64)
    hit = U(0)
    places = U(0)
    for n in range(length):
        for k in range(len(left)):
            for each in NAMES[start + n]:
                if left[k] and each == left[k]:
                    gone[n] = True
                    hit |= U(1) << U(k)
        place[n] = places
        if not gone[n]:
            places += U(1)
    code = CODE + U(thread) * CODE_LENGTH
    for n in range(length):
        if not gone[n]:
            word = STEPS[start + n]
            for at in (NEXT_AT, OTHERWISE_AT, ELSEWHERE_AT):
                to = (word >> at) & BYTE
                # A label that a step has not is 0, and so is one of the first step.
                while gone[to]:
                    to = (STEPS[start + np.int64(to)] >> NEXT_AT) & BYTE
                word = word & ~(BYTE << at) | place[to] << at
            given[code + place[n]] = word
            given[STATEMENTS + U(thread) * CODE_LENGTH + place[n]] = U(NAMES[start + n, 0])
    first = SECTION + U(4) * U(thread)
    for k in range(4):
        # The last of a section is one before the place of its end.
        behind = U(k & 1)
        to = SECTIONS[which, k] + behind
        if SECTIONS[which, k - k % 2] == U(1) and SECTIONS[which, k - k % 2 + 1] == U(0):
            given[first + U(k)] = SECTIONS[which, k]
            continue
        while gone[to]:
            to = (STEPS[start + np.int64(to)] >> NEXT_AT) & BYTE
        given[first + U(k)] = place[to] - behind
    given[READER + U(thread)] = U(page)
    return hit


@njit
def _configured(p, given):
    """Write what the search is told; returns the configuration, and whether it can be.

    As `configuration_of` and `configurations.setting` do.
    """
    chosen = p.configuration
    left = np.zeros(MOST_LEFT_OUT, np.int64)
    left[0] = p.without
    if p.mutation:
        left[1:] = LEFT_OUT[p.variant, p.mutation]
        if chosen == FLAGS:
            chosen = BROUGHT[p.mutation]
    given[SEQ_MASK] = (U(1) << U(p.sequence_bits)) - U(1)
    given[RULES] = LOOKED_FOR
    given[REFCOUNT] = REFCOUNTS[p.variant]
    reused = TYPESAFES[p.variant] or (left == REUSED).any()
    at_once = (left == AT_ONCE).any()
    given[TYPESAFE] = U(0)
    if reused and not at_once:
        given[TYPESAFE] |= steps.STAYS
    if reused or at_once:
        given[TYPESAFE] |= steps.AT_ONCE
    given[N_THREADS] = U(THREADS[chosen])
    built = np.zeros(2, np.int64)
    n = 0
    for k in range(MOST_LEFT_OUT):
        number = BUILT_AS[left[k]]
        if number and not (built[:n] == number).any():
            if n == 2:
                return chosen, False
            built[n] = number
            n += 1
    hit = U(0)
    for thread in range(THREADS[chosen]):
        program, page = WHO[chosen, thread]
        which = np.int64(INDEX[p.variant, program, page, built[0], built[1]])
        if which < 0:
            return chosen, False
        hit |= _load(given, thread, which, page, left)
    for k in range(MOST_LEFT_OUT):
        if not IS_CHANGE[left[k]] and not (hit >> U(k)) & U(1):
            return chosen, False  # no step is called so
    return chosen, True


@njit
def _ended(at, given, chosen):
    """Whether every thread has come to its end, as `experiments.protocol.ended` has it."""
    if get(at, OTHER_USERS) != U(not SECOND[chosen]):
        return False
    for thread in range(THREADS[chosen]):
        code = CODE + U(thread) * CODE_LENGTH + tget(at, U(thread), PC)
        if given[code] & BYTE != END or tget(at, U(thread), IN_RCU) != U(0):
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
        As `lorelab.panel.values.flat` makes it of `Protocol`.
    """
    p = params[0]
    given = np.zeros(SETTING + STATED, np.uint64)
    if not CHECKS[p.variant]:
        raise ValueError
    chosen, good = _configured(p, given)
    if not good:
        raise ValueError
    even = np.int64(
        p.without == EVEN or (p.mutation != 0 and (LEFT_OUT[p.variant, p.mutation] == EVEN).any())
    )
    spare = int(BATCH) * MOST_FOLLOWING
    states = np.empty((MOST + spare, state.WORDS), np.uint64)
    states[0] = BEGUN[p.variant, chosen, p.sequence_bits - 1, even]
    parents = np.empty(MOST + spare, np.uint32)
    table = np.empty(MOST * 4 // 3 + 2 * spare, np.uint64)
    following = np.empty((spare, state.WORDS), np.uint64)
    numbers = np.empty(spare, np.uint64)
    count = np.zeros(COUNTED, np.uint64)
    ended = search_of(
        successor, broken, given, states, parents, table, following, numbers, U(MOST), count
    )
    if ended == STATES_FULL:
        full()
        raise MemoryError
    rule, index = count[3], count[4]
    if not rule:
        n = count[0]
        reaches = np.empty(n, np.bool_)
        for k in range(n):
            reaches[k] = _ended(states[k], given, chosen)
        again = table[: n * U(4) // U(3) + U(64)]
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
            successor, given, states, parents, index, following, numbers, taken, indices
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
    found = searched(params)
    way = interleaving(found)
    first = {
        "states": len(found.explored.states),
        "transitions": found.explored.transitions,
        "depth": found.explored.depth,
        "broken_rule": int(found.rule or 0),
        "counterexample": len(way),
    }
    rows = [first]
    for each in way.to_dict("records"):
        thread, program = each["thread"].split()
        held = {"write": interleaved.WRITTEN, "free": 0}
        rows.append(
            {
                "kind": 1,
                "at": each["step"],
                "thread": int(thread),
                "program": PROGRAMS.index(program),
                "statement": KNOWN.index(each["statement"]) + 1,
                "mmap_lock": int(held.get(each["mmap_lock"], each["mmap_lock"].split()[0])),
            }
            | {name: each[name] for name in ("mm_lock_seq", "vm_lock_seq", "count", "exclusive")}
        )
    frame = pd.DataFrame(rows, columns=[*COUNTERS, *MORE]).fillna(0).astype(np.uint64)
    return frame.assign(variant=label(params.variant))


def chart(table: pd.DataFrame) -> alt.TopLevelMixin:
    """The page's chart of this experiment."""
    wide = table.pivot_table(index=["step", "variant"], columns="counter", values="value")
    return interleaved.chart(wide, KNOWN)

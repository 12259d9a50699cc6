"""What a search of `vmalock/protocol` is told, made by compiled code: `configured`.

The experiment makes the same words in Python (`configurations.setting`, `programs.load`): from
lists of steps and sets of names, for any threads written out and any number of names, and with a
line for what it refuses. A page's module has neither lists of steps nor names. So all programs that
its form can ask for are made beforehand, by those functions, and of each step the numbers of the
names that leave it out; compiled code leaves steps out, and lets jumps past them. Were Python to
call it, it would keep its own all the same, which says what the steps are called.

What the two make is the same: tests/vmalock/panel/test_protocol.py searches with either, for every
configuration, mutation and name of a step, for each variant, and for 150 points at random.
"""

from itertools import combinations
from typing import NamedTuple, get_args

import numpy as np

from lorelab.checker import (
    U,
)
from lorelab.numerics import njit
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
from lorelab.vmalock.model.protocol.ops import BYTE, ELSEWHERE_AT, NEXT_AT, OTHERWISE_AT
from lorelab.vmalock.model.protocol.programs import called, load, steps_of
from lorelab.vmalock.model.protocol.state import (
    CODE,
    CODE_LENGTH,
    N_THREADS,
    READER,
    REFCOUNT,
    RULES,
    SECTION,
    SEQ_MASK,
    SETTING,
    TYPESAFE,
)
from lorelab.vmalock.params import TRAITS, Mutation, Variant

BY_READERS = (
    reader.ANON_FIRST, reader.BLOCKING, reader.RANGE_FIRST, reader.MARK_FIRST,
    reader.WALKS_AGAIN, reader.DETACHED_CHECK,
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
    number_of: dict[tuple, int] = {}
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
                        if key not in number_of:
                            number_of[key] = len(number_of)
                            length = len(by) + 1
                            code.append(words[int(CODE) : int(CODE) + length])
                            for each in by:
                                numbers = [known.setdefault(one, len(known) + 1) for one in each]
                                names.append((*numbers, 0, 0)[:3])
                            names.append((0, 0, 0))
                            starts.append(starts[-1] + length)
                            sections.append(words[int(SECTION) : int(SECTION) + 4])
                        built[changes] = number_of[key]
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
INDEX, STARTS, STEPS, NAME_NUMBERS, SECTIONS, KNOWN = ALL
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
    left_out = np.zeros((len(Variant), len(get_args(Mutation)), 2), np.int64)
    for variant in CHECKED:
        for place, name in enumerate(get_args(Mutation)):
            if name in MUTATIONS:
                numbers = [KNOWN.index(each) + 1 for each in configurations.mutated(variant, name)]
                left_out[variant, place, : len(numbers)] = sorted(numbers)
    return left_out


def _begun() -> np.ndarray:
    """`configurations.first`, by variant, configuration, bits less one, and `EVEN_FIRST`."""
    states = np.zeros((len(Variant), len(CONFIGURATIONS), 4, 2, state.WORDS), np.uint64)
    for variant in CHECKED:
        for number, chosen in enumerate(CONFIGURATIONS.values()):
            for bits in range(4):
                for even in (0, 1):
                    changes = frozenset({writers.EVEN_FIRST} if even else ())
                    begun = configurations.first(variant, chosen, bits + 1, changes)
                    states[variant, number, bits, even] = begun
    return states


LEFT_OUT, BEGUN = _left_out(), _begun()
STATEMENTS, STATED = U(SETTING), int(state.THREADS * CODE_LENGTH)
"""Where names of steps are, behind what the search is told."""


@njit
def _load(setting, thread, which, page, left):
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
            for each in NAME_NUMBERS[start + n]:
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
            setting[code + place[n]] = word
            setting[STATEMENTS + U(thread) * CODE_LENGTH + place[n]] = U(NAME_NUMBERS[start + n, 0])
    first = SECTION + U(4) * U(thread)
    for k in range(4):
        # The last of a section is one before the place of its end.
        behind = U(k & 1)
        to = SECTIONS[which, k] + behind
        if SECTIONS[which, k - k % 2] == U(1) and SECTIONS[which, k - k % 2 + 1] == U(0):
            setting[first + U(k)] = SECTIONS[which, k]
            continue
        while gone[to]:
            to = (STEPS[start + np.int64(to)] >> NEXT_AT) & BYTE
        setting[first + U(k)] = place[to] - behind
    setting[READER + U(thread)] = U(page)
    return hit


@njit
def configured(p, setting):
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
    setting[SEQ_MASK] = (U(1) << U(p.sequence_bits)) - U(1)
    setting[RULES] = LOOKED_FOR
    setting[REFCOUNT] = REFCOUNTS[p.variant]
    reused = TYPESAFES[p.variant] or (left == REUSED).any()
    at_once = (left == AT_ONCE).any()
    setting[TYPESAFE] = U(0)
    if reused and not at_once:
        setting[TYPESAFE] |= steps.STAYS
    if reused or at_once:
        setting[TYPESAFE] |= steps.AT_ONCE
    setting[N_THREADS] = U(THREADS[chosen])
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
        hit |= _load(setting, thread, which, page, left)
    for k in range(MOST_LEFT_OUT):
        if not IS_CHANGE[left[k]] and not (hit >> U(k)) & U(1):
            return chosen, False  # no step is called so
    return chosen, True

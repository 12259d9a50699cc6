"""Small configurations: who runs, on which mappings; and the mutations that must be caught.

A configuration has up to eight threads, each with its program and the page that it works on. The
layout `two` has a VMA for each page, `one` a VMA of both, `stack` a VMA of page 1 that can grow.
"""

from typing import NamedTuple

import numpy as np

from lorelab.checker import Model, explore, refuse
from lorelab.errors import BadInput
from lorelab.numerics import U
from lorelab.vmalock.model.protocol import reader, rules, state, steps, successors, writers
from lorelab.vmalock.model.protocol.programs import Do, Program, leave_out, load, names, steps_of
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.params import TRAITS, Variant

MODEL = Model(successors.successor, rules.broken, state.WORDS, int(state.THREADS))
IN_A_STATE = frozenset(rule for rule in Rule if rule != Rule.ENDS)
"""The rules that a state alone can break."""
CHECKED = (Variant.MMAP_LOCK, Variant.V2, Variant.V6_12, Variant.V7_3)
"""Variants whose protocol is here."""
LAYOUTS = {"two": ((0, 0), (1, 1)), "one": ((0, 1),), "stack": ((1, 1),)}
"""First and last page of each VMA."""
PROGRAMS = ("fault", *writers.OPERATIONS)


class Configuration(NamedTuple):
    """Who runs on what."""

    threads: tuple[tuple[str, int], ...]
    """Program and page of each."""
    layout: str = "two"
    anon: bool = True
    """Whether the VMAs have their anon_vma at first."""


CONFIGURATIONS = {
    "flags": Configuration((("fault", 0), ("fault", 0), ("flags", 0))),
    "unmap": Configuration((("fault", 0), ("fault", 0), ("unmap", 0))),
    "writers": Configuration((("fault", 0), ("flags", 0), ("flags", 1))),
    "again": Configuration((("fault", 0), ("flags", 0), ("flags", 0))),
    "remap": Configuration((("fault", 0), ("unmap", 0), ("map", 0))),
    "split": Configuration((("fault", 0), ("fault", 1), ("split", 0)), "one"),
    "merge": Configuration((("fault", 0), ("fault", 1), ("merge", 0))),
    "grow": Configuration((("fault", 0), ("fault", 1), ("grow", 0)), "stack"),
    "fork": Configuration((("fault", 0), ("fault", 1), ("fork", 0)), "one"),
    "move": Configuration((("fault", 0), ("fault", 0), ("move", 0))),
    "anon": Configuration((("fault", 0), ("fault", 0), ("fork", 0)), "one", anon=False),
    "reuse": Configuration((("fault", 0), ("unmap", 0), ("other", 0))),
    "retry": Configuration((("fault", 0), ("unmap", 0)), anon=False),
    "resplit": Configuration((("fault", 1), ("split", 0), ("flags", 0)), "one"),
}
"""By name, in the order of the book."""


def configuration(words: str) -> Configuration:
    """The configuration called so, or written out as `fault:0+fault:1+fork:0@one`.

    Raises
    ------
    BadInput
        Names what is not understood.
    """
    if words in CONFIGURATIONS:
        return CONFIGURATIONS[words]
    said, _, layout = words.partition("@")
    threads = [thread.partition(":") for thread in said.split("+")]
    for name, _, page in threads:
        if name not in PROGRAMS or page not in ("0", "1"):
            raise BadInput(
                f"configuration={words}: takes one of {', '.join(CONFIGURATIONS)}, or threads as"
                f" fault:0+unmap:0, of {', '.join(PROGRAMS)}, on page 0 or 1, and @ with one of"
                f" the layouts {', '.join(LAYOUTS)}"
            )
    if len(threads) > state.THREADS:
        raise BadInput(f"configuration={words}: takes {state.THREADS} threads at most")
    if (layout or "two") not in LAYOUTS:
        raise BadInput(f"configuration={words}: a layout is one of {', '.join(LAYOUTS)}")
    return Configuration(tuple((name, int(page)) for name, _, page in threads), layout or "two")


FREED_AT_ONCE = "freed memory is given away at once"
TYPE_SAFE = "a freed VMA may be reused at once"
CHANGES = (
    reader.ANON_FIRST,
    reader.BLOCKING,
    reader.RANGE_FIRST,
    reader.MARK_FIRST,
    reader.WALKS_AGAIN,
    writers.UNLOCK_FIRST,
    writers.STORE_LATE,
    writers.GROWS_AS_READER,
    writers.RESET,
    writers.EVEN_FIRST,
    FREED_AT_ONCE,
    TYPE_SAFE,
)
"""What can be done to the protocol besides leaving out steps."""


class Mutation(NamedTuple):
    """A way to break the protocol that the search must see."""

    what: str
    without: frozenset[str]
    """Names of the steps left out, and `CHANGES` made; of a variant, those that it has."""
    configuration: str
    """One in which it breaks."""


def _mutation(what: str, configuration: str, *without: str) -> Mutation:
    return Mutation(what, frozenset(without), configuration)


MUTATIONS = {
    "m1": _mutation("fork does not mark", "fork", "vma_start_write in fork"),
    "m2": _mutation("detached is not checked", "unmap", reader.DETACHED_CHECK),
    "m3": _mutation("only the early check", "flags", "late check"),
    "m4": _mutation("marked without waiting for readers", "flags", writers.WAIT),
    "m5": _mutation("freed without RCU", "unmap", FREED_AT_ONCE),
    "m6": _mutation("anon_vma is checked before the lock", "move", reader.ANON_FIRST),
    "m7": _mutation("the range is not checked", "split", "range check"),
    "m8": _mutation("reused without a check of vm_mm", "reuse", "vm_mm check", TYPE_SAFE),
    "m9": _mutation("stack growth does not mark", "grow", "vma_start_write in stack growth"),
    "m10": _mutation("unlocked before the sequence is counted", "writers", writers.UNLOCK_FIRST),
    "m11": _mutation("mmap_lock is waited for under the VMA's lock", "anon", reader.BLOCKING),
    "m12": _mutation("marked after the VMA's lock is given back", "flags", writers.STORE_LATE),
}
"""Ten steps left out or changed, and two that are replaced or exchanged, by name."""


def mutations(variant: Variant) -> list[str]:
    """The mutations that a variant can have: who gives up without anon_vma waits for nothing."""
    waits = TRAITS[variant].anon_vma_prepare
    return [name for name in MUTATIONS if name != "m11" or waits]


def programs(variant: Variant, chosen: Configuration, without: frozenset[str]) -> list[Program]:
    """What each thread does, without the steps of these names and with the changes made.

    Raises
    ------
    BadInput
        The variant's protocol is not here, or no step is called so.
    """
    if variant not in CHECKED:
        raise BadInput(f"variant={variant.name}: its protocol is not modelled here")
    entire = whole(variant, chosen, without)
    known = dict.fromkeys(name for program in entire for name in names(program))
    if unknown := sorted(without - {*known, *CHANGES, reader.DETACHED_CHECK}):
        raise BadInput(
            f"without={unknown[0]}: takes the name of a step; there are {', '.join(known)}"
        )
    return [leave_out(program, without) for program in entire]


def whole(variant: Variant, chosen: Configuration, changes: frozenset[str]) -> list[Program]:
    """What each thread does, with the changes made and no step left out."""
    builders = {"fault": reader.fault, **writers.OPERATIONS}
    return [builders[name](TRAITS[variant], page, changes) for name, page in chosen.threads]


def step_names(variant: Variant, chosen: Configuration, work: bool = True) -> list[str]:
    """Every name that leaves something out of a configuration's programs; see `programs.names`."""
    entire = whole(variant, chosen, frozenset())
    return list(dict.fromkeys(name for program in entire for name in names(program, work)))


def mutated(variant: Variant, mutation: str) -> frozenset[str]:
    """What a mutation leaves out or changes of a variant."""
    chosen = MUTATIONS[mutation]
    known = {*step_names(variant, CONFIGURATIONS[chosen.configuration]), *CHANGES}
    return chosen.without & (known | {reader.DETACHED_CHECK})


def setting(
    variant: Variant,
    chosen: Configuration,
    sequence_bits: int,
    without: frozenset[str] = frozenset(),
    rules: frozenset[Rule] = IN_A_STATE,
) -> np.ndarray:
    """What the search is told.

    Parameters
    ----------
    variant : Variant
    chosen : Configuration
    sequence_bits : int
        The sequences count modulo 2**sequence_bits; 1 to 4.
    without : frozenset of str
        Names of steps left out, and changes made.
    rules : frozenset of Rule
        The rules whose breach ends the search.

    Returns
    -------
    (SETTING,) uint64 array
    """
    traits = TRAITS[variant]
    words = np.zeros(state.SETTING, U)
    words[int(state.SEQ_MASK)] = (1 << sequence_bits) - 1
    words[int(state.RULES)] = sum(1 << rule for rule in rules)
    words[int(state.REFCOUNT)] = traits.refcount
    reused = traits.typesafe or TYPE_SAFE in without
    stays = reused and FREED_AT_ONCE not in without
    at_once = reused or FREED_AT_ONCE in without
    words[int(state.TYPESAFE)] = int(steps.STAYS) * stays | int(steps.AT_ONCE) * at_once
    words[int(state.N_THREADS)] = len(chosen.threads)
    for thread, program in enumerate(programs(variant, chosen, without)):
        load(words, thread, program, chosen.threads[thread][1])
    return words


def first(
    variant: Variant,
    chosen: Configuration,
    sequence_bits: int,
    without: frozenset[str] = frozenset(),
) -> np.ndarray:
    """The state in which a configuration begins: nobody has begun, no page is there yet.

    Before a fork of VMAs with anon_vma, page 0 is there and can be written to. A VMA's number is
    the largest that there is, or with `writers.EVEN_FIRST` the largest even one.

    Returns
    -------
    (WORDS,) uint64 array
    """
    begun = np.zeros(state.WORDS, U)

    def put(field: tuple, value: int, place: int = 0, bits: int = 0) -> None:
        begun[int(field[0])] |= U(value << int(field[1]) + place * bits)

    for n, (start, last) in enumerate(LAYOUTS[chosen.layout]):
        fields = {
            state.START: start,
            state.LAST: last,
            state.PGOFF: start,
            state.VM_LOCK_SEQ: (1 << sequence_bits) - 1 - (writers.EVEN_FIRST in without),
            state.COUNT: int(TRAITS[variant].refcount),
            state.ANON: int(chosen.anon),
            state.MAY_WRITE: 1,
            state.LIFE: int(state.LIVE),
        }
        for field, value in fields.items():
            put(field, value, n, int(state.VMA_BITS))
        for page in range(start, last + 1):
            put(state.TREE, n + 1, page, 2)
    put(state.OTHER_USERS, 1)
    if chosen.anon and "fork" in dict(chosen.threads):
        put(state.PTE, int(state.WRITABLE))
    return begun


def step(variant: Variant, chosen: Configuration, without: frozenset[str], number: int) -> Do:
    """The step that the search calls by a number."""
    thread, place = divmod(number, int(state.CODE_LENGTH))
    return steps_of(programs(variant, chosen, without)[thread])[place]


def estimate(variant: Variant, chosen: Configuration, sequence_bits: int) -> float:
    """About how many states a configuration has, from those of its threads alone and in pairs.

    Kirkwood's superposition: the product of all pairs' numbers, over that of the single threads'
    as often as they are counted too much. No thread or one pair is estimated by itself.
    """
    threads = chosen.threads
    counts: dict[tuple, int] = {}

    def count(*some: tuple[str, int]) -> int:
        key = tuple(sorted(some))
        if key not in counts:
            part = chosen._replace(threads=key)
            words = setting(variant, part, sequence_bits, rules=frozenset())
            begun = first(variant, part, sequence_bits)
            counts[key] = len(explore(MODEL, begun, words).states)
        return counts[key]

    if len(threads) < 3:
        return float(count(*threads))
    pairs = [count(a, b) for n, a in enumerate(threads) for b in threads[n + 1 :]]
    alone = [count(a) for a in threads]
    return float(np.exp(np.log(pairs).sum() - (len(threads) - 2) * np.log(alone).sum()))


def check_size(variant: Variant, chosen: Configuration, sequence_bits: int) -> float:
    """The estimate, unless it is too large to search.

    Raises
    ------
    BadInput
        Says how many states there are about, and what they would take.
    """
    about = estimate(variant, chosen, sequence_bits)
    refuse(about, state.WORDS)
    return about

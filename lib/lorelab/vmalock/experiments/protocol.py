"""Does a configuration of the protocol keep its rules, and if not, how is the first one broken?"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from lorelab.checker import Explored, explore, never, path
from lorelab.counters import table
from lorelab.params import label
from lorelab.vmalock.model.protocol import configurations, state
from lorelab.vmalock.model.protocol.configurations import MODEL, MUTATIONS, Configuration
from lorelab.vmalock.model.protocol.programs import steps_of
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.params import Protocol, Variant


class Searched(NamedTuple):
    """A configuration, and what the search found."""

    variant: Variant
    chosen: Configuration
    without: frozenset[str]
    setting: np.ndarray
    explored: Explored
    rule: Rule | None
    """The first rule that breaks; `ENDS` where a thread may never come to its end."""
    index: int
    """Index of the state that breaks it."""


def search(
    variant: Variant,
    chosen: Configuration,
    sequence_bits: int,
    without: frozenset[str] = frozenset(),
    rules: frozenset[Rule] = configurations.IN_A_STATE,
    begun: np.ndarray | None = None,
) -> Searched:
    """Go through every interleaving, up to the first state that breaks a rule.

    Where no state does, it is looked whether every thread can still end from each of them. The
    search begins with `begun`, or where nobody has write-locked a VMA yet.
    """
    setting = configurations.setting(variant, chosen, sequence_bits, without, rules)
    if begun is None:
        begun = configurations.first(variant, chosen, sequence_bits, without)
    explored = explore(MODEL, begun, setting)
    rule, index = (Rule(explored.broken), explored.index) if explored.broken else (None, 0)
    if rule is None:
        lost = never(MODEL, explored, setting, ended(explored.states, variant, chosen, without))
        if len(lost):
            rule, index = Rule.ENDS, int(lost[0])
    return Searched(variant, chosen, without, setting, explored, rule, index)


def ended(
    states: np.ndarray, variant: Variant, chosen: Configuration, without: frozenset[str]
) -> np.ndarray:
    """In which states every thread has come to its end; (n,) bool.

    Outside any RCU section, that is, and with the second process' mm freed where there is one.
    """
    second = "other" in dict(chosen.threads)
    done = of_mm(states, state.OTHER_USERS) == (not second)
    for thread, program in enumerate(configurations.programs(variant, chosen, without)):
        done &= register(states, thread, state.PC) == len(steps_of(program))
        done &= register(states, thread, state.IN_RCU) == 0
    return done


def register(states: np.ndarray, thread: int, field: tuple) -> np.ndarray:
    """A register of a thread in each state; (n,) int64."""
    word, shift, mask = (int(part) for part in field)
    place = shift + thread % 4 * int(state.THREAD_BITS)
    return (states[:, word + thread // 4] >> np.uint64(place)).astype(np.int64) & mask


def of_mm(states: np.ndarray, field: tuple) -> np.ndarray:
    """A field of the address space in each state; (n,) int64."""
    word, shift, mask = (int(part) for part in field)
    return (states[:, word] >> np.uint64(shift)).astype(np.int64) & mask


def configuration_of(params: Protocol) -> tuple[Configuration, frozenset[str]]:
    """The configuration and what is left out of it; a mutation brings its own configuration.

    Raises
    ------
    BadInput
        A name is not known, or there are too many states.
    """
    without = frozenset(name.strip() for name in params.without.split(",") if name.strip())
    chosen = configurations.configuration(params.configuration)
    if params.mutation != "none":
        without |= configurations.mutated(params.variant, params.mutation)
        if params.configuration == "flags":
            chosen = configurations.CONFIGURATIONS[MUTATIONS[params.mutation].configuration]
    configurations.programs(params.variant, chosen, without)
    configurations.check_size(params.variant, chosen, params.sequence_bits)
    return chosen, without


def searched(params: Protocol) -> Searched:
    """What the search finds for these parameters; raises BadInput as `configuration_of`."""
    chosen, without = configuration_of(params)
    return search(params.variant, chosen, params.sequence_bits, without)


def simulate(params: Protocol) -> pd.DataFrame:
    """Counters of one search; `broken_rule` is 0 where all rules hold."""
    found = searched(params)
    length = len(path(MODEL, found.explored, found.setting, found.index)) if found.rule else 0
    counters = {
        "states": ("states", [len(found.explored.states)]),
        "transitions": ("transitions", [found.explored.transitions]),
        "depth": ("steps", [found.explored.depth]),
        "broken_rule": ("rule", [int(found.rule or 0)]),
        "counterexample": ("steps", [length]),
    }
    return table("vmalock/protocol", label(params.variant), "model", counters, first=0)

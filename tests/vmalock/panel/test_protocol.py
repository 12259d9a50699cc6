"""Programs, searches and interleavings as the page's compiled code makes them are the library's."""

from contextlib import suppress
from itertools import cycle, product
from typing import get_args

import pandas as pd
import pytest

from lorelab.errors import BadInput
from lorelab.flat import flat
from lorelab.vmalock.model.protocol.configurations import CHECKED, CONFIGURATIONS
from lorelab.vmalock.pages.interleaved import MOST_STEPS
from lorelab.vmalock.panel.protocol import CHOICES, COUNTERS, MORE, entry, ways
from lorelab.vmalock.params import Mutation, Protocol
from tests.panel.points import points

NAMES = [*COUNTERS, *MORE]


def compiled(params):
    return pd.DataFrame(entry(flat(params, CHOICES)), columns=NAMES)


def differ(cases):
    return [params for params in cases if not compiled(params).equals(ways(params)[NAMES])]


@pytest.mark.parametrize("variant", CHECKED)
def test_every_configuration_and_every_mutation(variant):
    whole = [Protocol(variant=variant, configuration=name) for name in CONFIGURATIONS]
    broken = [Protocol(variant=variant, mutation=name) for name in get_args(Mutation)]
    assert differ([*whole, *broken]) == []


@pytest.mark.parametrize(
    ("name", "variant"), list(zip(CONFIGURATIONS, cycle(CHECKED), strict=False))
)
def test_every_step_left_out(name, variant):
    found, refused = [], 0
    for without in CHOICES["without"]:
        params = Protocol(variant=variant, configuration=name, without=without, sequence_bits=2)
        try:
            said = ways(params)[NAMES]
        except BadInput:
            with pytest.raises(ValueError):
                compiled(params)
            refused += 1
            continue
        if not compiled(params).equals(said):
            found.append(params)
    assert found == []
    assert refused


def test_a_step_and_a_mutation_at_once():
    assert differ(params for params, _ in points("vmalock/protocol", 150, seed=3)) == []


def test_what_no_configuration_has_is_refused():
    with pytest.raises(ValueError):
        compiled(Protocol(configuration="flags", without="mmput of another"))


def test_the_slider_ends_at_the_longest_way_of_a_configuration_with_one_mutation():
    lengths = []
    for variant, name, mutation in product(CHECKED, CONFIGURATIONS, get_args(Mutation)):
        params = Protocol(variant=variant, configuration=name, mutation=mutation, sequence_bits=2)
        with suppress(ValueError):  # no step of it is called so
            lengths.append(compiled(params)["counterexample"].iloc[0])
    assert max(lengths) == MOST_STEPS

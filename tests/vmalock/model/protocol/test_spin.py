"""The same configurations in Promela: spin reaches the same verdicts and as many states."""

import pytest

from bench.vmalock import spin
from lorelab.vmalock.experiments.protocol import search
from lorelab.vmalock.model.protocol import configurations
from lorelab.vmalock.model.protocol.configurations import Configuration
from lorelab.vmalock.model.protocol.reader import DETACHED_CHECK
from lorelab.vmalock.model.protocol.writers import WAIT
from lorelab.vmalock.params import Variant

VERSIONS = (Variant.V2, Variant.V6_12, Variant.V7_3)
pytestmark = pytest.mark.skipif(not spin.there(), reason="no spin: apt-get install spin gcc")


def ours(variant, faults, writers, unmap, bits=3, flags_page=1, without=frozenset()):
    threads = [("fault", 0)] * faults
    threads += [("flags", 0 if n == 0 else flags_page) for n in range(writers)]
    threads += [("unmap", 0)] * unmap
    return search(variant, Configuration(tuple(threads)), bits, without)


@pytest.mark.parametrize(
    ("faults", "writers", "unmap", "bits", "flags_page"),
    [
        (2, 1, False, 3, 1),
        (2, 0, True, 3, 1),
        (1, 2, True, 4, 0),
    ],
)
@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_spin_reaches_as_many_states(variant, faults, writers, unmap, bits, flags_page):
    said = spin.check(variant, faults, writers, unmap, bits, flags_page)
    found = ours(variant, faults, writers, unmap, bits, flags_page)
    assert (said.errors, found.rule) == (0, None)
    # spin has a state before its `init` starts the threads, a step from it, and one after it.
    assert said.states == len(found.explored.states) + 1
    assert said.transitions == found.explored.transitions + 2


@pytest.mark.parametrize(
    ("word", "without", "unmap"),
    [
        ("NO_LATE", "late check", False),
        ("NO_WAIT", WAIT, False),
        ("NO_DETACHED", DETACHED_CHECK, True),
        ("FREE_AT_ONCE", configurations.FREED_AT_ONCE, True),
    ],
)
def test_spin_finds_what_is_broken(word, without, unmap):
    variant = Variant.V6_12
    said = spin.check(variant, 2, not unmap, unmap, without=word)
    assert said.errors == 1
    assert ours(variant, 2, not unmap, unmap, without=frozenset([without])).rule is not None


@pytest.mark.parametrize("variant", VERSIONS, ids=lambda v: v.name)
def test_spin_too_sees_a_writer_overtake_a_fault_once_the_sequence_is_around(variant):
    bits = 2
    writers = 4 if variant == Variant.V2 else 2
    assert spin.check(variant, 1, writers, False, bits).errors == 1
    found = ours(variant, 1, writers, False, bits)
    assert found.rule.name in ("EXCLUDED", "STABLE")

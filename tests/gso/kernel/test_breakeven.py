"""Instructions of a send: what is refused, and what the recorded runs have to be."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.gso.kernel import breakeven
from lorelab.gso.pages import views
from lorelab.gso.params import Breakeven


def test_a_variant_that_no_kernel_has():
    with pytest.raises(BadInput, match="the kernel has one of"):
        breakeven.measure([Breakeven(variant="no-zerocopy")])


@pytest.mark.parametrize(("length", "copied"), [(64, 0), (256, 192), (1024, 960)])
def test_a_copied_byte_is_an_instruction_and_a_lent_one_is_none(length, copied):
    """In the least of the repeats, where nothing else ran beside the sends."""
    assert views.instructions().notna().all(axis=None)
    assert least(length, zerocopy=False) == least(64, zerocopy=False) + breakeven.SENDS * copied
    assert least(length, zerocopy=True) == least(64, zerocopy=True)


def least(length, zerocopy):
    """Instructions of the cheapest of six times 20 sends."""
    record = experiment("gso/breakeven").recorded(Breakeven(length=length, zerocopy=zerocopy))
    return record.counters.query("counter == 'instructions'")["value"].min()

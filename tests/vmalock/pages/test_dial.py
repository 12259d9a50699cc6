"""The dial of the page on wraps, beside the steps that it is drawn from."""

from lorelab.vmalock.model.protocol import rules
from lorelab.vmalock.pages import dial, searches, wraps
from lorelab.vmalock.params import Variant


def test_dials():
    """Every moment has a dial; unequal numbers let the fault in, equal ones mislead the writer."""
    steps = searches.interleaving(wraps.old_mark(Variant.V6_12, "unmap", rules.Rule.ALIVE))
    table = dial.dials(steps)
    assert len(table) == len(dial.MOMENTS)
    equal = table["mm_lock_seq"] == table["vm_lock_seq"]
    assert equal.tolist() == [False, True, True, False]
    assert table["step"].is_monotonic_increasing and table["vm_lock_seq"].nunique() == 1

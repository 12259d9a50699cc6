"""What each version of the lock breaks, and with which fix it no longer does."""

from lorelab.vmalock.experiments import wrap
from lorelab.vmalock.pages import versions
from lorelab.vmalock.params import Variant


def test_each_fix_is_needed_in_some_configuration_and_all_together_suffice():
    table = versions.broken()
    assert (table[["6.5", "6.12.117", "7.3.4"]] == "").all(axis=None)
    assert set(table.index[table["6.4"] != ""]) == {"grow", "fork", "move", "anon"}
    # Without the look at `detached` there are more.
    assert set(table.index) > {"unmap", "remap", "grow", "fork", "move", "anon"}
    alone = versions.alone()
    assert list(alone.index) == list(versions.FIXES)
    assert (alone["breaks in"] != "").all()


def test_numbers_that_are_reset_and_even_at_first_are_what_a_wrap_takes():
    table = wrap.fixes((Variant.V6_12, Variant.V7_3))
    assert (table["none"] != "").all()
    assert (table["numbers reset at a wrap"] != "").all()
    assert (table["and even at first"] == "").all()

"""What each version of the lock breaks, and with which fix it no longer does."""

from lorelab.vmalock.experiments.protocol import search
from lorelab.vmalock.model.protocol import configurations, reader
from lorelab.vmalock.pages import omitted, versions, wraps
from lorelab.vmalock.params import Variant


def test_each_fix_is_needed_in_some_configuration_and_all_together_suffice():
    table = versions.broken()
    at_a_wrap = table.index.str.endswith("at a wrap")
    assert (table.loc[~at_a_wrap, ["6.5", "6.12.117", "7.3.4"]] == "").all(axis=None)
    assert (table.loc[at_a_wrap].drop(columns="7.3.4 + reset") != "").all(
        axis=None
    ) and at_a_wrap.sum() == 3
    assert (table["7.3.4 + reset"] == "").all()
    table = table[~at_a_wrap]
    for name in ("v2 as posted", "v3 and 6.4.0"):
        assert set(table.index[table[name] != ""]) == {"grow", "fork", "move", "anon"}
    alone = versions.alone()
    assert list(alone.index) == list(versions.FIXES)
    assert (alone["breaks in"] != "").all()


def test_v2_as_posted_breaks_more_without_its_second_walk():
    """The second walk of v2 is for what v3 has `detached` for."""
    variant, lacked, changes = versions.VERSIONS["v2 as posted"]
    assert reader.WALKS_AGAIN in changes and "detached" not in lacked
    posted = changes | {versions.FIXES[fix].lacked for fix in lacked}
    broken = {}
    for name in ("unmap", "remap", "merge", "reuse"):
        chosen = configurations.CONFIGURATIONS[name]
        known = versions.known(variant, chosen)
        assert search(variant, chosen, 3, posted & known).rule is None
        broken[name] = search(variant, chosen, 3, posted & known | {"second mas_walk"}).rule
    assert all(broken.values()), broken


def test_numbers_that_are_reset_and_even_at_first_are_what_a_wrap_takes():
    table = wraps.fixes((Variant.V6_12, Variant.V7_3))
    assert (table["none"] != "").all()
    assert (table["no early return"] == "").all()
    # A VMA that was write-locked has an odd number only until the next wrap resets it.
    reset = table["numbers reset at a wrap"]
    assert (reset.xs("never", level=1) != "").all() and (reset.xs("once", level=1) == "").all()
    assert (table["and even at first"] == "").all()


def test_vm_mm_has_to_be_looked_at_before_the_sequence(monkeypatch):
    further = configurations.configuration(omitted.FURTHER)
    assert search(Variant.V7_3, further, 3).rule is None
    monkeypatch.setattr(omitted, "CONFIGURATIONS", {})
    table = omitted.exchanges().set_index("exchange")
    assert table.loc[reader.MARK_FIRST, "breaks"] == "ALIVE"
    assert table.loc[reader.RANGE_FIRST, "breaks"] == ""

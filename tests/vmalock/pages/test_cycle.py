"""The cycle that is drawn of a litmus test."""

import pytest

from lorelab.vmalock.model.litmus import Machine, allowed
from lorelab.vmalock.model.litmus_tests import TESTS
from lorelab.vmalock.pages.cycle import cycle, edges

DRAWN = ["L1", "L2", "L2-read-once", "L4", "L4-release", "L4-mmap-lock", "L5-locked"]
DRAWN += ["L6", "L6-acquire", "L6-store", "L6-mprotect", "L7", "L7-no-reader-barrier"]
"""Of which no edge rests on a lock that both threads take."""


@pytest.mark.parametrize("name", DRAWN)
def test_an_outcome_can_be_where_an_edge_is_kept_by_no_rule(name):
    relations = edges(TESTS[name])["relation"]
    assert ("not kept" in set(relations)) == allowed(TESTS[name], Machine.WEAK)[0]


@pytest.mark.parametrize("name", DRAWN)
def test_each_edge_begins_in_the_thread_in_which_the_one_before_it_ends(name):
    found = edges(TESTS[name])
    assert len(found) == 4
    for end in ("of", "to"):
        assert sorted(found[end]) == [0, 0, 1, 1]
    assert {(t, p) for t, p in zip(found["of"], found["place"], strict=True)} == {
        (t, p) for t, p in zip(found["to"], found["to_place"], strict=True)
    }


def test_the_chart_has_every_line_of_the_test_and_every_edge():
    spec = cycle(TESTS["L6-mprotect"], "title", "see").to_dict()
    rows = [row for rows in spec["datasets"].values() for row in rows]
    assert {"r1 = READ_ONCE(*pmd);", "spin_unlock(ptl);", "no order", "not seen by"} <= {
        row["said"] for row in rows
    }

"""Notifications: every sequence of up to six sends, on a queue of lists."""

from itertools import groupby, product

import pytest

from lorelab.gso.experiments import told
from lorelab.gso.model.told import notifications
from lorelab.gso.params import Told

EVERY = [list(kinds) for n in range(1, 7) for kinds in product([False, True], repeat=n)]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("mended", [False, True])
def test_every_sequence(late, mended):
    for copied in EVERY:
        sends = list(enumerate(copied))
        if not late:
            groups = [[send] for send in sends]
        elif mended:
            groups = [list(group) for _, group in groupby(sends, key=lambda send: send[1])]
        else:
            groups = [sends]
        expected = [(group[0][0], group[-1][0], group[0][1]) for group in groups]
        assert [tuple(one) for one in notifications(copied, late, mended)] == expected


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ({"sends": 5}, "01010"),
        ({"sends": 1, "copied_first": True}, "1"),
        ({"sends": 7, "alike": 2}, "0011001"),
        ({"sends": 7, "alike": 3, "copied_first": True}, "1110001"),
        ({"sends": 4, "alike": 4}, "0000"),
        ({"sends": 5, "alike": 4}, "00001"),
    ],
)
def test_kinds_of_sends(given, kinds):
    assert "".join(str(int(copied)) for copied in told.kinds(Told(**given))) == kinds


@pytest.mark.parametrize(
    ("given", "copied", "told_of"),
    [
        # lent, lent, copied, copied, lent: all told of as lent; each as it was; in three parts.
        ({}, 2, {"notifications": 1, "told_copied": 0, "told_wrong": 2}),
        ({"late": False}, 2, {"notifications": 5, "told_copied": 2, "told_wrong": 0}),
        ({"mended": True}, 2, {"notifications": 3, "told_copied": 2, "told_wrong": 0}),
        ({"copied_first": True}, 3, {"notifications": 1, "told_copied": 5, "told_wrong": 2}),
    ],
)
def test_what_a_sender_hears(given, copied, told_of):
    params = Told(sends=5, alike=2, **given)
    table = told.simulate(params)
    values = dict(zip(table["counter"], table["value"], strict=True))
    assert values == {"copied": copied, "told": 5, **told_of}
    assert set(table["variant"]) == {"mended" if params.mended else "upstream"}

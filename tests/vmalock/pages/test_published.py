"""Gains of ebizzy: the loop in the model, and how far it misses what others measured."""

import pytest

from lorelab.vmalock.pages import published
from lorelab.vmalock.params import Variant


def test_a_thread_on_its_own_needs_the_time_of_its_steps():
    one = published.Published("one", Variant.MMAP_LOCK, 1, 128, 0)
    few, many = (published.records_done(one, one.variant, n, 400) for n in published.UNMAP)
    # what a record takes longer is the work on its 128 pages, at 4 instructions a ns
    more = (2 / many - 2 / few) / (128 * (1000 - 250) / 4)
    assert more == pytest.approx(1, rel=0.05)


@pytest.fixture(scope="module")
def table():
    return published.beside()


def test_the_table_says_by_how_much_the_farther_end_misses(table):
    assert (table["least"] <= table["most"]).all()
    far = table[["least", "most"]].div(table["published"], axis=0)
    assert (table["within"] == far.max(axis=1).combine(1 / far.min(axis=1), max)).all()


def test_gains_of_the_lock_itself_are_not_reproduced(table):
    assert (table["published"] > 1).all() and (table["most"] < 1).all()


def test_the_table_of_pft_has_what_each_message_prints(monkeypatch):
    few = {name: dict(list(gains.items())[:2]) for name, gains in published.PFT.items()}
    monkeypatch.setattr(published, "PFT", few)
    table = published.pft(ms=1)
    assert table.index.to_list() == [1, 4]
    printed = table.xs("published", axis=1, level=1)
    assert printed.loc[4].round(4).to_list() == [0.9049, 1.0534, 1.0034, 0.9133]
    one, each = (table[whose] for whose in published.MODELLED)
    # the second lock costs, and nobody contends, whosever the VMA is
    assert 0.9 < one.loc[1, "model"] == each.loc[1, "model"] < 1
    # four threads write the word of one lock with mmap_lock, and with one VMA; not with four
    assert each.loc[4, "model"] > 1.05 > one.loc[4, "model"]
    assert one.loc[4, "within"] == one.loc[4, "model"] / 0.9049 > 1
    assert one.loc[1, "within"] == 0.995 / one.loc[1, "model"] > 1
    assert each.loc[1, "within"] == each.loc[1, "model"] / 0.9798 > 1

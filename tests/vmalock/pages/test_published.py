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
    assert table.loc[4].drop("model").round(4).to_list() == [0.9049, 1.0034, 0.9133]
    alone = table.loc[1, "model"]
    assert 0.9 < alone < 1  # the second lock costs, and nobody contends

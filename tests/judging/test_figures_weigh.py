"""Every printed figure is weighed: moved by 5 %, it changes a verdict or its evidence.

What nothing weighs is listed in data/threads/unweighed.csv with the reason, by patterns of `id`.
"""

import fnmatch
import functools
import math
import sys
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

import pandas as pd
import pytest

from lorelab.experiments import Experiment, designs
from lorelab.judging import claims, threads

BY = 1.05
UNWEIGHED = pd.read_csv(threads.FOLDER / "unweighed.csv", dtype=str)
FIGURES = threads.figures


class Asked(Exception):
    """A check asked for the figures."""


def cached(design: str) -> dict:
    """What figures and the modules of a thread keep between calls, by the code that made it."""
    room = import_module(f"lorelab.{design}.thread")
    modules = [import_module(f"{room.__name__}.{one.name}") for one in iter_modules(room.__path__)]
    if find_spec(f"lorelab.{design}.figures"):
        modules.append(import_module(f"lorelab.{design}.figures"))
    kept = (one for module in modules for one in vars(module).values())
    return {one.__wrapped__.__code__: one for one in kept if hasattr(one, "cache_clear")}


class Shown:
    """Other figures in the place of a thread's."""

    def __init__(self, monkeypatch, design):
        self.set = lambda figures: monkeypatch.setattr(threads, "figures", figures)
        self.kept, self.reading = cached(design), set()
        self.forget()
        self.set(self.watched)

    def watched(self, design):
        """The real ones, noting which kept results are made of them."""
        frame = sys._getframe()
        while frame is not None:
            if frame.f_code in self.kept:
                self.reading.add(self.kept[frame.f_code])
            frame = frame.f_back
        return FIGURES(design)

    def forget(self):
        for one in self.kept.values():
            one.cache_clear()

    def show(self, figures):
        self.set(figures)
        for one in self.reading:
            one.cache_clear()


@pytest.fixture
def shown(monkeypatch):
    """Gives a `Shown`; runs of the model and records read no figure, and are kept."""
    for half in ("simulate", "recorded"):
        monkeypatch.setattr(Experiment, half, functools.cache(getattr(Experiment, half)))
    made = []

    def show(design):
        made.append(Shown(monkeypatch, design))
        return made[-1]

    yield show
    monkeypatch.undo()
    for one in made:
        one.forget()


def refuse(design):
    raise Asked


def asks(claim) -> bool:
    """Whether a check reads figures at all."""
    try:
        claim.weigh()
    except Asked:
        return True
    return False


def moved(rows: pd.DataFrame, id: str) -> pd.DataFrame:
    """The figures with one of them 5 % larger, a whole number rounded up; 0 becomes 1."""
    table = rows.copy()
    value = table.loc[id, "value"]
    further = value * BY
    whole = float(value).is_integer()
    table.loc[id, "value"] = 1.0 if value == 0 else math.ceil(further) if whole else further
    return table


def names(claim: claims.Claim, id: str) -> bool:
    """Whether a claim says that it is about a row, by a pattern as in `rows june27-*`."""
    return any(fnmatch.fnmatch(id, word.strip(",")) for word in claim.place.split())


def unmoved(chosen: list[claims.Claim], rows: pd.DataFrame, shown: Shown) -> set[str]:
    """Rows that can be moved, and no check changes its verdict, sentence or evidence.

    A check that fails on a moved figure has not noticed it: it fails the test.
    """
    before = {claim.id: repr(claim.weigh()) for claim in chosen}
    shown.show(refuse)
    asking = [claim for claim in chosen if asks(claim)]
    found = set()
    for id in rows.index:
        table = moved(rows, id)
        shown.show(lambda design, table=table: table)
        # Those that name the row come first, then those that noticed the rows before, the last of
        # them ahead: the first that changes is enough.
        asking.sort(key=lambda claim, id=id: not names(claim, id))
        noticed = next((one for one in asking if repr(one.weigh()) != before[one.id]), None)
        if noticed is None:
            found.add(id)
        else:
            asking.remove(noticed)
            asking.insert(0, noticed)
    return found


@pytest.mark.parametrize("design", designs())
def test_a_figure_that_moves_is_noticed_or_listed_with_the_reason(design, shown):
    rows = FIGURES(design)
    patterns = UNWEIGHED.loc[UNWEIGHED["design"] == design, "id"]
    listed = [id for pattern in patterns for id in fnmatch.filter(rows.index, pattern)]
    found = unmoved(claims.claims(design), rows, shown(design))
    assert sorted(found) == sorted(listed)


def test_each_pattern_names_rows_and_has_a_reason():
    for row in UNWEIGHED.itertuples():
        assert fnmatch.filter(FIGURES(row.design).index, row.id), row.id
        assert len(row.reason) > 20, row.id


def test_a_check_that_ignores_its_figure_is_seen(shown):
    """And one that fails on a moved figure is not taken for one that notices it."""
    rows = FIGURES("gso")[:2]
    first, second = rows.index

    def claim(id, weigh):
        return claims.Claim("gso", id, "", "", "", weigh)

    def notes(id):
        return lambda: claims.Weighed("holds", "", {"value": threads.figure("gso", id)})

    def fails():
        if threads.figure("gso", second) != rows.loc[second, "value"]:
            raise ValueError("not a figure that this takes")
        return notes(first)()

    assert unmoved([claim("one", notes(first))], rows, shown("gso")) == {second}
    with pytest.raises(ValueError, match="not a figure"):
        unmoved([claim("fails", fails)], rows, shown("gso"))

"""The printed figures: one row each, with a place, a unit and where it was read."""

import re
from pathlib import Path

import pytest

from lorelab.errors import RunFailed
from lorelab.experiments import designs
from lorelab.judging import threads
from tests import MAY_SKIP, WEIGHED

TEXTS = Path(__file__).parents[3] / "shared" / "threads"
"""The archived pages, DESIGN.txt, beside the checkout where they are at hand."""
NUMBER = re.compile(r"0x[0-9a-fA-F]+|(?<!\d)-?\d+(?:\.\d+)?")
"""A minus behind a digit is the dash of a range."""


def printed(place: str, lines: list[str]) -> set[float]:
    """Numbers on the lines of a place: `line 3`, `lines 3 and 5`, `lines 3-5`."""
    named = re.fullmatch(r"lines? (\d+(?:(?:, | and |-)\d+)*)", place)
    assert named, f"{place} names no line"
    numbers = set()
    for part in re.split(", | and ", named[1]):
        first, _, last = part.partition("-")
        for line in lines[int(first) - 1 : int(last or first)]:
            numbers |= {
                float(int(word, 16)) if word.startswith("0x") else float(word)
                for word in NUMBER.findall(line)
            }
    return numbers


@pytest.mark.parametrize("design", WEIGHED)
def test_each_figure_is_on_the_line_that_it_names(design):
    text = TEXTS / f"{design}.txt"
    if not text.exists() and MAY_SKIP:
        pytest.skip(f"{text.name}, the archived page, is not beside the checkout")
    lines = text.read_text(errors="replace").split("\n")
    rows = threads.figures(design)
    rows = rows[rows["seen"] == "thread file"]
    wrong = [
        f"{name}: {row.value:g} is not on {row.place}"
        for name, row in rows.iterrows()
        if row.value not in printed(row.place, lines)
    ]
    assert len(rows) > 0
    assert not wrong


def test_a_wrong_figure_and_a_wrong_line_are_seen():
    lines = ["about 10-15MB", "-44.1% and 0x140"]
    assert printed("line 1", lines) == {10.0, 15.0}
    assert printed("lines 1-2", lines) == {10.0, 15.0, -44.1, 320.0}
    assert printed("lines 2", lines) == printed("line 2", lines) == {-44.1, 320.0}
    with pytest.raises(AssertionError, match="names no line"):
        printed("v4 0/3", lines)


@pytest.mark.parametrize("design", designs())
def test_each_figure_says_where_it_stands(design):
    rows = threads.figures(design)
    assert rows.index.is_unique
    assert set(rows["source"]) <= {"thread", "follow-up"}
    assert set(rows["seen"]) <= {"thread file", "list archive", "git log"}
    assert (rows[["author", "date", "place", "quantity", "unit"]] != "").all(axis=None)
    assert (rows.loc[rows["source"] == "thread", "message"] != "").all()
    assert rows["value"].notna().all()


def test_a_missing_file_says_how_to_get_it_back():
    with pytest.raises(RunFailed, match="git checkout data/threads"):
        threads.figures("nothing")

"""A chapter opens with its landing page: no code, a picture, three numbers, what to do, its way."""

import re

import nbformat
import pytest
import yaml

from lorelab.book import build, talk
from lorelab.book.slides import slides
from tests import WEIGHED

SECTIONS = [
    "Three numbers",
    "What today's kernel does",
    "What to do",
    "The pages, in reading order",
]
WORDS = 520
"""A screen and a half, of 1400 x 900, less the picture."""


def page(design):
    return nbformat.read(build.ROOT / f"notebooks/{design}/index.ipynb", as_version=4)


def sections(design):
    """Text of each section, by its heading; what stands before the first one under ''."""
    text = "\n\n".join(c.source for c in page(design).cells if c.cell_type == "markdown")
    first, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    return {"": first} | dict(part.split("\n", 1) for part in rest)


def files(design):
    """Pages of the design's part of the book, in order."""
    toc = yaml.safe_load((build.ROOT / "book/_toc.yml").read_text())
    names = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [name.removeprefix(f"{design}/") for name in names if name.startswith(f"{design}/")]


@pytest.mark.parametrize("design", WEIGHED)
def test_it_has_its_sections_in_order_and_is_short(design):
    found = sections(design)
    assert list(found) == ["", *SECTIONS]
    prose = re.sub(r"<!--.*?-->|\]\([^)]*\)", "", " ".join(found.values()), flags=re.DOTALL)
    assert len(prose.split()) <= WORDS


@pytest.mark.parametrize("design", WEIGHED)
def test_no_code_is_in_sight_and_the_picture_follows_the_answer(design):
    cells = page(design).cells
    shown = [cell for cell in cells if "remove-cell" not in cell.metadata.get("tags", [])]
    first, *drawn, last = shown
    assert (first.cell_type, last.cell_type) == ("markdown", "markdown")
    assert all("remove-input" in cell.metadata["tags"] for cell in drawn)
    _, *panels = (cell.source for cell in drawn)
    assert len(panels) <= 1 and all(source.startswith("panel(") for source in panels)


@pytest.mark.parametrize("design", WEIGHED)
def test_three_numbers_each_with_its_assert_and_whose_it_is(design):
    _, _, *rows = [r for r in sections(design)["Three numbers"].splitlines() if r.startswith("|")]
    assert len(rows) == 3
    for row in rows:
        _, number, what, whose, _ = row.split("|")
        assert re.fullmatch(r" \*\*[\d,.]+( \w+| %| of [\d,]+)?\*\* ", number)
        assert "<!-- assert: " in what
        assert re.search(r"\b(model|recorded|arithmetic)\b", whose)


@pytest.mark.parametrize("design", WEIGHED)
def test_it_comes_first_and_leads_to_all_pages_in_order(design):
    first, *others = files(design)
    assert first == "index"
    lines = sections(design)["The pages, in reading order"].strip().splitlines()
    assert [re.match(r"\d+\. \[\w+\]\((\w+)\.ipynb\): ", line)[1] for line in lines] == others


@pytest.mark.parametrize("design", WEIGHED)
def test_its_deck_ends_in_what_to_do_and_what_to_send(design):
    assert talk.decks()[design][-1] == f"notebooks/{design}/index.ipynb"
    *_, slide = slides(page(design))  # before it, the panel of some
    assert slide.title == "What to do, and what to send"
    assert "<li>" in slide.parts[0] and "<strong>To send" in slide.parts[0]
    assert "What to do" in slide.notes[-1]

"""A chapter opens with its landing page: no code, a picture, three numbers, what to do, its way."""

import re

import nbformat
import pytest
import yaml

from lorelab.book import build, talk
from lorelab.book.slides import slides
from lorelab.experiments import experiment
from tests import ASKED, WEIGHED

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


def in_sight(design):
    cells = page(design).cells
    return [cell for cell in cells if "remove-cell" not in cell.metadata.get("tags", [])]


@pytest.mark.parametrize("design", WEIGHED)
def test_no_code_is_in_sight_and_a_picture_follows_the_answer(design):
    kinds = [cell.cell_type for cell in in_sight(design)]
    assert kinds[:2] == ["markdown", "code"] and kinds[-1] == "markdown"
    drawn = [cell for cell in in_sight(design) if cell.cell_type == "code"]
    bare = [cell.source for cell in drawn if "remove-input" not in cell.metadata.get("tags", [])]
    assert bare == [], "code has a tag: remove-input for a picture, remove-cell for the rest"


@pytest.mark.parametrize("design", ASKED)
def test_a_chapter_begins_with_the_chart_of_its_panel(design):
    kinds = [cell.cell_type for cell in in_sight(design)]
    assert kinds[:4] == ["markdown", "code", "code", "markdown"]
    drawn = [cell.source for cell in in_sight(design) if cell.cell_type == "code"]
    chart, panel, *pictures = drawn
    [question] = re.findall(r'^panel\("([^"]*)"', panel)
    assert chart.startswith(f'chart("{question}"') and len(pictures) <= 1


@pytest.mark.parametrize("design", ASKED)
def test_the_chart_is_of_what_the_form_first_shows(design):
    """And of others beside it."""
    source = page(design).cells
    [ran] = [cell.source for cell in source if cell.source.startswith("chart(")]
    [form] = [cell.source for cell in source if cell.source.startswith("panel(")]
    known = {}
    [setup, *_] = (cell.source for cell in source if cell.cell_type == "code")
    exec(setup, known)
    known |= {"chart": lambda _, *runs: runs, "panel": lambda _, start=None: start}
    runs, start = eval(ran, known), eval(form, known)
    question = re.search(r'"([^"]*)"', form)[1]
    assert (start or experiment(question).Params()) in (runs or [experiment(question).Params()])


@pytest.mark.parametrize("design", ASKED)
def test_the_chart_of_its_panel_is_on_a_slide_and_a_speaker_says_what_it_shows(design):
    [chart] = [cell for cell in page(design).cells if cell.source.startswith("chart(")]
    shown = [slide for slide in slides(page(design)) if slide.title == chart.metadata.slide.title]
    [slide] = shown
    assert '<div class="chart"' in slide.parts[0]
    assert slide.notes[0] == f"<p>{chart.metadata.slide.notes}</p>\n"


@pytest.mark.parametrize("design", ASKED)
def test_a_speaker_can_run_its_panel(design):
    [slide] = [s for s in slides(page(design)) if any(talk.PANEL in part for part in s.parts)]
    assert slide.notes


@pytest.mark.parametrize("design", WEIGHED)
def test_three_numbers_each_with_its_assert_and_whose_it_is(design):
    lines = sections(design)["Three numbers"].splitlines()
    rows = [line for line in lines if line.startswith("|")][2:]
    assert len(rows) == 3, "a table of three rows: number, what it says, whose it is"
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
    shown = slides(page(design))  # before the last, the panel of some
    assert shown, "no cell has slideshow.slide_type in its metadata"
    slide = shown[-1]
    assert slide.title == "What to do, and what to send"
    assert "<li>" in slide.parts[0] and "<strong>To send" in slide.parts[0]
    assert "What to do" in slide.notes[-1]


OF_CHAPTERS = (
    test_a_chapter_begins_with_the_chart_of_its_panel,
    test_the_chart_is_of_what_the_form_first_shows,
    test_the_chart_of_its_panel_is_on_a_slide_and_a_speaker_says_what_it_shows,
    test_a_speaker_can_run_its_panel,
)
"""What is not asked of a design that has no panel yet."""

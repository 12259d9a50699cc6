"""The three questions of each chapter can be answered in a panel: what they run has one."""

import re

import nbformat
import pytest

from lorelab.book import build
from lorelab.experiments import experiment
from lorelab.panel import kept
from lorelab.params import assignments, parse
from tests import ASKED


def asked(design):
    """Commands of the page of questions: what is run, and its parameters."""
    page = nbformat.read(build.ROOT / f"notebooks/{design}/questions.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in page.cells if cell.cell_type == "markdown")
    for line in re.findall(r"^    lorelab (?:model|sweep) (.*)$", text, flags=re.MULTILINE):
        question, *options = line.split(" -")
        yield question, tuple(each[2:] for each in options if each.startswith("p "))


@pytest.mark.parametrize("design", ASKED)
def test_what_a_question_runs_has_a_panel_on_a_page_of_its_chapter(design):
    commands = list(asked(design))
    assert len(commands) == 3
    folder = build.ROOT / f"notebooks/{design}"
    pages = "".join(page.read_text() for page in folder.glob("*.ipynb"))
    for question, pairs in commands:
        assert question in kept.panels() and f'panel(\\"{question}\\"' in pages, question
        # Of a sweep, `1:20`, the form takes one value at a time.
        given = {name: value.split(":")[0] for name, value in assignments(pairs).items()}
        assert given and parse(experiment(question).Params, given)

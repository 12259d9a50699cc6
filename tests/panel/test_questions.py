"""The three questions of each chapter can be answered in a panel: what they run has one."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup

from lorelab.book import build
from lorelab.experiments import experiment
from lorelab.panel import kept
from lorelab.params import assignments, format_value, label, parse
from lorelab.running import rerun
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


RERUN = [each for each in kept.panels() if hasattr(kept.described(each), "RERUN")]


@pytest.mark.parametrize("question", RERUN)
def test_a_page_that_reruns_a_question_takes_what_its_panel_says(question):
    """All that the page takes is given, so that no value of the page's own is left."""
    name, names = kept.described(question).RERUN
    page = build.ROOT / f"notebooks/{name}.ipynb"
    assert names == tuple(rerun.described(page)["parameter"])
    cells = nbformat.read(page, as_version=4).cells
    assert re.search(rf'check\(\s*"{question}"', "\n".join(cell.source for cell in cells))
    first = experiment(question).Params().model_dump(mode="json")
    given = {each: format_value(first[each]).replace('""', "") for each in names}
    assert rerun.checked(page, given).keys() == given.keys()


@pytest.mark.parametrize("question", RERUN)
def test_a_page_that_takes_no_variant_shows_every_variant(question):
    """So its command stands in a panel whatever variant was chosen."""
    described = kept.described(question)
    name, names = described.RERUN
    if described.VARIANT in names:
        return
    page = nbformat.read(build.ROOT / f"notebooks/{name}.ipynb", as_version=4)
    outputs = [output.get("data", {}) for c in page.cells for output in c.get("outputs", ())]
    tables = [BeautifulSoup(data["text/html"], "html.parser") for data in outputs
              if "<table" in data.get("text/html", "")]  # fmt: skip
    named = {cell.get_text() for table in tables for cell in table.find_all(["th", "td"])}
    field = experiment(question).Params.model_fields[described.VARIANT]
    assert {label(each) for each in type(field.default)} <= named

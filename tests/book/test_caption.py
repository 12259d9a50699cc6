"""Charts become figures: numbered, with a caption that is text, and with an alternative text."""

import json
import re

import altair as alt
import nbformat
import pandas as pd
import pytest

from lorelab.book import build
from lorelab.book.caption import REFERENCE, caption, title_and_caption
from lorelab.errors import RunFailed
from lorelab.showing import charts, figure

ROWS = pd.DataFrame({"step": [1, 1, 2, 2], "a": [1, 2, 1, 2], "b": [3, 4, 5, 6]})


def chart(title):
    return (
        alt.Chart(ROWS, title=title)
        .mark_line()
        .encode(x=alt.X("a", title="time [s]"), y=alt.Y("b", title="pages"))
    )


def output(drawn):
    data = charts.render(drawn if isinstance(drawn, dict) else drawn.to_dict())
    return nbformat.v4.new_output("display_data", data)


def page(*drawn):
    cells = [nbformat.v4.new_code_cell("x", outputs=[output(one)]) for one in drawn]
    return nbformat.v4.new_notebook(cells=cells)


def test_charts_are_numbered_in_the_order_of_the_page():
    made = page(chart("One"), chart(charts.title("Two & three", "See this.\nAnd that.")))
    caption(made)
    first, second = (cell.outputs[0].data["text/html"] for cell in made.cells)
    assert '<figure class="lorelab-figure" id="figure-1">' in first
    assert "Figure 1</a>: <b>One.</b></figcaption>" in first
    assert "<b>Two &amp; three.</b> See this. And that.</figcaption>" in second
    said = (
        'aria-label="Two &amp; three. See this. And that. Horizontal: time [s]. Vertical: pages."'
    )
    assert said in second


def test_the_caption_takes_the_title_out_of_the_picture():
    made = page(chart("One of a kind"))
    caption(made)
    shown = made.cells[0].outputs[0].data["text/html"]
    assert "title" not in json.loads(figure.SPEC.search(shown)[1])
    assert "One of a kind</text>" not in shown


@pytest.mark.parametrize("at", [1, 2])
def test_a_slider_still_says_where_it_stands(at):
    moved = charts.slider(chart(charts.title("Moves", "See.")), "step", at, "time [ms]").to_dict()
    title, see, moving = title_and_caption(moved)
    assert (title, see) == ("Moves", ["See."])
    assert moving["text"]["expr"] == '"time [ms]: " + at'
    made = page(moved)
    caption(made)
    assert f"time [ms]: {at}" in made.cells[0].outputs[0].data["text/html"]


def test_a_reference_is_a_link_that_sphinx_need_not_know():
    made = page(chart("One"))
    made.cells.append(nbformat.v4.new_markdown_cell("See [Figure 1](#figure-1)."))
    caption(made)
    assert made.cells[1].source == 'See <a href="#figure-1">Figure 1</a>.'


@pytest.mark.parametrize("said", ["[Figure 2](#figure-2)", "[Figure 1](#figure-2)"])
def test_a_reference_to_no_figure_builds_no_book(said):
    made = page(chart("One"))
    made.cells.append(nbformat.v4.new_markdown_cell(said))
    with pytest.raises(RunFailed, match="refers to figure"):
        caption(made)


@pytest.mark.parametrize("name", build.chapters(build.ROOT))
def test_the_text_of_a_page_refers_to_each_of_its_figures_and_to_no_other(name):
    cells = json.loads((build.ROOT / name).read_text())["cells"]
    shown = "".join(
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in cells
        for output in cell.get("outputs", [])
    )
    figures = len(figure.SPEC.findall(shown))
    text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    meant = {int(number) for number, _ in REFERENCE.findall(text)}
    for first, _, last, _ in re.findall(f"{REFERENCE.pattern} to {REFERENCE.pattern}", text):
        meant |= {*range(int(first), int(last))}
    assert meant == {*range(1, figures + 1)}

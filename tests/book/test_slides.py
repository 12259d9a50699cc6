"""Slides are made of the cells that are tagged, and a text's rest is left to the speaker."""

import json
import re

import nbformat
import pytest

from lorelab.book import bigchart
from lorelab.book.slides import PANEL, slides


def notebook(*cells: tuple[str, str, str, dict]):
    made = []
    for kind, source, tag, asked in cells:
        make = nbformat.v4.new_markdown_cell if kind == "text" else nbformat.v4.new_code_cell
        metadata = {"slideshow": {"slide_type": tag}} if tag else {}
        made.append(make(source, metadata=metadata | ({"slide": asked} if asked else {})))
    return nbformat.v4.new_notebook(cells=made)


def table(*names: str) -> dict:
    head = "".join(f"<th>{name}</th>" for name in names)
    row = "".join(f"<td>of {name}</td>" for name in names)
    html = f"<table><thead><tr>{head}</tr></thead><tbody><tr>{row}</tr></tbody></table>"
    return nbformat.v4.new_output("display_data", {"text/html": html})


def test_tagged_cells_alone_are_slides_and_fragments_join_them():
    page = notebook(
        ("text", "# One\n\nFirst.", "slide", {}),
        ("text", "Not told.", "", {}),
        ("text", "Second.", "fragment", {}),
        ("text", "## Two", "subslide", {}),
    )
    one, two = slides(page)
    assert (one.title, one.below, two.title, two.below) == ("One", False, "Two", True)
    assert "First." in one.parts[0] and "Second." in one.parts[0]
    assert "Not told." not in str(one)


def test_a_long_text_gives_its_first_sentences_and_the_rest_is_said():
    long = " ".join(f"Sentence {n} says something of thirty letters." for n in range(40))
    [slide] = slides(notebook(("text", f"## Long\n\n{long}", "slide", {})))
    assert "Sentence 0 " in slide.parts[0] and "Sentence 39 " not in slide.parts[0]
    assert "Sentence 39 " in slide.notes[0]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("See [the model](model.ipynb).", "<p>See the model.</p>"),
        ("A figure <!-- row: x --> of 3.", "<p>A figure of 3.</p>"),
        ("    a --> b\n\n    c", "<pre><code>a --&gt; b\n\nc\n</code></pre>"),
        ("```text\na\n\nb\n```", '<pre><code class="language-text">a\n\nb\n</code></pre>'),
        ("$a_i$", r'<p><span class="math inline">\(a_i\)</span></p>'),
        ("(label)=\n## Two\n\nText.", "<p>Text.</p>"),
    ],
)
def test_how_a_text_is_shown(source, shown):
    [slide] = slides(notebook(("text", f"# T\n\n{source}", "slide", {})))
    assert slide.parts[0] == f'<div class="part">{shown}\n</div>'


def test_metadata_says_title_text_columns_and_notes():
    asked = {"title": "Said *so*", "text": ["- a", "- b"], "columns": ["x"], "notes": "Slowly."}
    page = notebook(("code", "rows", "slide", asked))
    page.cells[0].outputs = [table("w", "x")]
    [slide] = slides(page)
    assert slide.title == "Said <em>so</em>"
    assert "<li>a</li>" in slide.parts[0]
    assert "of x" in slide.parts[1] and "of w" not in slide.parts[1]
    assert "Slowly." in slide.notes[0]


def test_what_leads_to_a_chart_is_said_and_what_the_page_says_of_it():
    page = notebook(
        ("text", "## One\n\nLeads to it.", "", {}),
        ("code", "chart", "slide", {}),
        ("code", "assert", "", {}),
        ("text", "What to see.\n\n## Two\n\nNot of it.", "", {}),
        ("code", "chart", "slide", {}),
        ("text", "A slide of its own.", "slide", {}),
    )
    one, two, _ = slides(page)
    assert "Leads to it." in one.notes[0] and "What to see." in one.notes[1]
    assert "Not of it." not in str(one.notes) and "Not of it." in two.notes[0]
    assert "A slide of its own." not in str(two.notes)


def test_what_the_page_says_behind_another_slide_or_of_a_panel_is_not_said():
    page = notebook(
        ("text", "Leads to it.", "", {}),
        ("code", "chart", "slide", {}),
        ("code", "panel", "slide", {}),
        ("text", "Of what comes next.", "", {}),
    )
    of_panel = {"text/html": f"{PANEL}></div>"}
    page.cells[2].outputs = [nbformat.v4.new_output("display_data", of_panel)]
    for slide in slides(page):
        assert slide.notes == ["<p>Leads to it.</p>\n"]


def test_of_charts_below_each_other_a_slide_may_have_some():
    bars = [{"mark": "bar", "width": 300, "height": 20 + n} for n in range(3)]
    spec = json.dumps({"data": {"values": [{}]}, "vconcat": bars})
    shown = {"text/html": f"vegaEmbed(chart, {spec}, {{actions: false}})"}
    page = notebook(("code", "chart", "slide", {"charts": [0, 2]}))
    page.cells[0].outputs = [nbformat.v4.new_output("display_data", shown)]
    [slide] = slides(page)
    [drawn] = re.findall(r'class="spec"[^>]*>(.*?)</script>', slide.parts[0])
    assert [each["height"] for each in json.loads(drawn)["vconcat"]] == [20, 22]


def test_no_letter_of_a_large_chart_is_small():
    small = {"type": "text", "fontSize": 8}
    spec = {"layer": [{"mark": small}], "config": {"axis": {"labelFontSize": 12}}, "title": "T"}
    large = bigchart.large(spec, 20)
    assert large["layer"][0]["mark"]["fontSize"] == 20
    assert large["config"]["axis"]["labelFontSize"] == 20
    assert "title" not in large and spec["title"] == "T"


@pytest.mark.parametrize("made", ["alone", "facet", "beside"])
def test_a_chart_of_parts_becomes_as_wide_as_a_slide(made):
    bars = {"mark": "bar", "width": 100, "height": 100}
    bars["encoding"] = {"x": {"field": "v", "type": "quantitative"}}
    parts = {
        "alone": bars,
        "facet": {"facet": {"row": {"field": "of"}}, "spec": bars},
        "beside": {"hconcat": [bars, bars]},
    }[made]
    page = bigchart.page({"data": {"values": [{"v": 3, "of": "a"}]}, **parts}, "chart", 500)
    assert int(re.search(r"--width: (\d+)px", page)[1]) > 0.95 * bigchart.WIDTH


def test_of_a_slider_the_line_stays_that_says_which_value_is_shown():
    spec = {"title": {"text": "T", "subtitle": {"expr": '["see, so", "time [ms]: " + at]'}}}
    said = bigchart.large(spec, 20)["title"]["text"]["expr"]
    assert said == json.dumps("time [ms]: ") + " + at"

"""A chart is the same bytes every time, and asks nothing of the network."""

import os
import re
import subprocess
import sys

import altair as alt
import pandas as pd
import pytest

from lorelab.showing import charts

ROWS = pd.DataFrame({"step": [1, 2, 3], "value": [3.0, 4.0, 2.5], "kind": ["a", "b", "a"]})


def chart(title: str = "Fallback") -> alt.Chart:
    return (
        alt.Chart(ROWS, title=title)
        .mark_line(clip=True)
        .encode(
            x=alt.X("step", title="iteration"),
            y=alt.Y("value", title="fallback [%]"),
            color="kind",
        )
    )


def bundle(one: alt.Chart) -> dict[str, str]:
    return charts.render(one.to_dict())


def test_importing_charts_makes_altair_use_our_renderer_and_theme():
    assert alt.renderers.active == "lorelab"
    assert alt.theme.active == "lorelab"
    assert set(chart()._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_two_processes_draw_the_same_bytes():
    code = "import test_charts as t; print(t.bundle(t.chart()))"
    draws = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.path.dirname(__file__)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(draws) == 1


def test_no_font_of_the_machine_is_measured():
    """DejaVu Sans, which CI has and vl-convert has not, is as wide as a font that nobody has."""
    code = """
import test_charts as t
widths = set()
for font in ("DejaVu Sans", "Nobody Has"):
    spec = t.chart().to_dict()
    spec["config"]["title"] = {"font": font, "fontSize": 300}
    widths.add(t.re.search('width="([0-9]+)"', t.charts._svg(spec, "x"))[1])
print(len(widths))
"""
    # Of its own, for vl-convert looks for fonts once a process.
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)},
        capture_output=True,
    )
    assert told.stdout == b"1\n", told.stderr.decode()


def test_ids_are_unique_on_a_page_with_two_charts():
    pages = [bundle(chart(title))["text/html"] for title in ("one", "two")]
    ids = [set(re.findall(r'\bid="([^"]+)"', page)) for page in pages]
    assert all(ids)
    assert not ids[0] & ids[1]
    for page, own in zip(pages, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", page)) <= own


def test_no_address_but_names_of_namespaces():
    page = bundle(chart())["text/html"]
    addresses = set(re.findall(r"https?://[^\"'\s)]+", page))
    assert all(
        re.match(r"http://www\.w3\.org/|https://vega\.github\.io/schema/", a) for a in addresses
    )


def test_data_cannot_end_the_script():
    rows = ROWS.assign(kind="</script><!--")
    page = charts.render(alt.Chart(rows).mark_point().encode(x="kind").to_dict())["text/html"]
    assert page.count("</script>") == 1


def test_the_text_fallback_is_the_title():
    assert bundle(chart("Fallback by iteration"))["text/plain"] == "Chart: Fallback by iteration"


FILLED = pd.DataFrame(
    [{"written": s, "place": p, "used": float(s > p)} for s in (0, 5, 10) for p in range(10)]
)


def filled(rows: pd.DataFrame = FILLED, **title) -> alt.Chart:
    color = alt.Color("used", scale=alt.Scale(domain=[0, 1]))
    return alt.Chart(rows, **title).mark_rect().encode(x="place:O", color=color)


def squares(page: str) -> int:
    return len(re.findall(r'aria-roledescription="rect mark"', page))


def test_a_slider_stores_the_picture_of_its_first_value():
    page = charts.slider(filled(title="Fill"), "written", 5, "pages")._repr_mimebundle_()
    assert squares(page["text/html"]) == 10
    assert ">pages: 5<" in page["text/html"]
    assert page["text/plain"] == "Chart: Fill"


def test_a_slider_draws_what_a_chart_of_that_step_alone_draws():
    one = charts.render(filled(FILLED[FILLED["written"] == 10]).to_dict())["text/html"]
    moved = charts.render(charts.slider(filled(), "written", 10).to_dict())["text/html"]
    fills = [re.findall(r'rect mark"[^>]*fill="([^"]+)"', page) for page in (one, moved)]
    assert fills[0] == fills[1]
    assert len(fills[0]) == 10


def test_a_slider_keeps_what_is_missing_and_takes_any_number_of_rows():
    many = pd.concat([FILLED.assign(run=run) for run in range(200)])
    many.loc[many["place"] == 3, "used"] = None
    spec = charts.slider(filled(many), "written", 0).to_dict()
    assert [row["written"] for row in spec["data"]["values"]] == [0, 5, 10]
    assert spec["data"]["values"][1]["used"][:4] == [1, 1, 1, None]


def test_a_slider_of_layers_and_of_facets():
    text = alt.Chart().mark_text().encode(x="place:O", text="used:Q")
    rect = alt.Chart().mark_rect().encode(x="place:O", color="used:Q")
    layers = alt.layer(rect, text, data=FILLED, title=alt.Title("Fill", subtitle=["Each place"]))
    page = charts.slider(layers, "written", 5)._repr_mimebundle_()["text/html"]
    assert squares(page) == 10
    assert ">Each place<" in page
    facets = filled(FILLED.assign(half=FILLED["place"] // 5)).facet(row="half")
    assert squares(charts.slider(facets, "written", 5)._repr_mimebundle_()["text/html"]) == 10


@pytest.mark.parametrize(
    ("rows", "at", "says"),
    [
        (FILLED, 3, "at=3: takes a value of written"),
        (FILLED[FILLED["written"] == 5], 5, "two or more values"),
        (FILLED.replace({"written": {10: 11}}), 5, "the same distance apart"),
    ],
)
def test_a_slider_that_cannot_be_is_refused(rows, at, says):
    with pytest.raises(ValueError, match=says):
        charts.slider(filled(rows), "written", at)

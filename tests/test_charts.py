"""A chart is the same bytes every time, and asks nothing of the network."""

import os
import re
import subprocess
import sys

import altair as alt
import pandas as pd

from lorelab import charts

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

"""One look for every chart, and one way to put it on a page: import this module to have both.

A chart is shown as an SVG, drawn here and stored in the notebook, and becomes live where the page
has Vega: in the book (`lorelab.book.build`) and in JupyterLab (`lorelab/labextension`). Nothing is
fetched. The same chart gives the same bytes in every run and on every machine, so that stored
outputs can be compared.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import vl_convert

OKABE_ITO = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"]
"""Okabe and Ito's colours, which the colour-blind tell apart; yellow left out, pale on white."""

# The first is one of the few that vl-convert carries itself.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
FONTCONFIG = Path(__file__).with_name("fonts.conf")
"""Has no font of the machine in it. vl-convert would take those first, and versions of a font
differ: with Debian 12's Liberation Sans a legend that says "6.12.117" is a pixel wider."""

PAGE = """\
<div id="{id}" class="lorelab-chart">{svg}</div>
<script>
(() => {{
  const live = () => window.vegaEmbed && document.querySelectorAll('[id="{id}"]').forEach(
    chart => vegaEmbed(chart, {spec}, {{actions: false, renderer: "svg"}}));
  document.readyState === "complete" ? live() : window.addEventListener("load", live);
}})();
</script>"""


@alt.theme.register("lorelab", enable=True)
def theme() -> alt.theme.ThemeConfig:
    """Colour-blind safe, quiet grid, text large enough for a projector.

    Examples
    --------
    >>> theme()["config"]["background"]
    'white'
    """
    return {
        "config": {
            "background": "white",
            "font": FONT,
            "view": {"continuousWidth": 560, "continuousHeight": 280, "stroke": None},
            "axis": {
                "labelFontSize": 12,
                "titleFontSize": 13,
                "titleFontWeight": "normal",
                "gridColor": "#e6e6e6",
                "domainColor": "#888888",
                "tickColor": "#888888",
            },
            "legend": {
                "labelFontSize": 12,
                "labelLimit": 0,
                "titleFontSize": 13,
                "titleFontWeight": "normal",
            },
            "header": {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": "normal"},
            "title": {"fontSize": 15, "subtitleFontSize": 12, "anchor": "start", "offset": 10},
            "range": {
                "category": OKABE_ITO,
                "ordinal": {"scheme": "viridis"},
                "ramp": {"scheme": "viridis"},
                "heatmap": {"scheme": "viridis"},
            },
            "mark": {"color": OKABE_ITO[0]},
            "line": {"strokeWidth": 2},
            "point": {"size": 40, "filled": True},
        }
    }


def title(text: str, see: str) -> alt.TitleParams:
    """What a chart shows, and below it in smaller letters what to see in it, a line each.

    Examples
    --------
    >>> title("Slots", "per CPU\\nand in all").to_dict()
    {'text': 'Slots', 'subtitle': ['per CPU', 'and in all']}
    """
    return alt.TitleParams(text, subtitle=see.splitlines())


class Moved:
    """A chart with a slider, as `slider` makes it; shown like any other."""

    def __init__(self, spec: dict[str, Any]):
        self.spec = spec

    def to_dict(self) -> dict[str, Any]:
        """The chart in Vega-Lite's words."""
        return self.spec

    def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, str]:
        return render(self.spec)


def sizes(mib: pd.Series) -> alt.Axis:
    """Ticks at sizes given in MiB, labelled in MiB, GiB or TiB.

    Examples
    --------
    >>> sizes(pd.Series([64, 1024, 64])).values
    [64, 1024]
    """
    label = (
        "datum.value < 1024 ? datum.value + ' MiB' : datum.value < 1048576 "
        "? datum.value / 1024 + ' GiB' : datum.value / 1048576 + ' TiB'"
    )
    return alt.Axis(values=sorted(set(mib.tolist())), labelExpr=label)


def slider(chart: alt.TopLevelMixin, field: str, at: float, label: str = "") -> Moved:
    """`chart` for one value of `field` at a time, which the reader moves by a slider.

    The drawing that is stored, and printed, is that of `at`: choose the step that tells most. The
    last line of the title says which value is shown. Give each scale its domain, or the axes move
    along. Of `chart.data` there may be any number of rows.

    Parameters
    ----------
    chart : Altair chart
        With its data in one DataFrame that has a column `field`: a single chart, layers or facets.
    field : str
        Column of the steps: at least two numbers, the same distance apart.
    at : number
        The value shown first.
    label : str, optional
        What a step is, with its unit, such as "time, ms"; `field` by default.

    Raises
    ------
    ValueError
        `at` is not a value of `field`, or the values are not the same distance apart.

    Examples
    --------
    >>> import pandas as pd
    >>> free = pd.DataFrame({"step": [0, 1], "free": [8, 3]})
    >>> chart = alt.Chart(free).mark_bar().encode(y="free")
    >>> slider(chart, "step", at=1).to_dict()["params"][0]["value"]
    1
    """
    values = sorted(chart.data[field].unique().tolist())
    if at not in values:
        raise ValueError(f"at={at}: takes a value of {field}")
    apart = np.diff(values)
    if not len(apart) or not np.allclose(apart, apart[0], rtol=1e-9):
        raise ValueError(f"{field}: takes two or more values, the same distance apart")
    with alt.data_transformers.enable("default", max_rows=None):
        spec = chart.to_dict()
    [rows] = spec.pop("datasets").values()
    name = label or field
    bounds = {"min": values[0], "max": values[-1], "step": apart[0].item()}
    moved = {"name": "at", "value": at, "bind": {"input": "range", "name": f"{name} ", **bounds}}
    shown = [
        {"filter": f"datum[{json.dumps(field)}] === at"},
        {"flatten": [column for column in rows[0] if column != field]},
    ]
    return Moved(
        spec
        | {
            "data": {"values": _steps(rows, field)},
            "params": [moved, *spec.get("params", [])],
            "transform": [*shown, *spec.get("transform", [])],
            "title": _saying(spec.get("title", ""), name),
        }
    )


def _steps(rows: list[dict], field: str) -> list[dict]:
    """One row a step, with a list for each other column: far fewer bytes than the rows are."""
    steps: dict[float, dict] = {}
    for row in rows:
        step = steps.setdefault(row[field], {name: [] for name in row} | {field: row[field]})
        for name in row.keys() - {field}:
            step[name].append(row[name])
    return [steps[value] for value in sorted(steps)]


def _saying(title: str | dict[str, Any], label: str) -> dict[str, Any]:
    """`title` with a last line that says which value is shown."""
    whole = title if isinstance(title, dict) else {"text": title}
    above = whole.get("subtitle", [])
    lines = [*([above] if isinstance(above, str) else above), f"{label}: "]
    texts = ", ".join(map(json.dumps, lines))
    return whole | {"subtitle": {"expr": f"[{texts} + at]"}}


def render(spec: dict, **_: object) -> dict[str, str]:
    """Altair's renderer for lorelab: a mime bundle of HTML (see `PAGE`) and one line of text.

    Examples
    --------
    >>> render({"title": "Slots", "mark": "bar", "data": {"values": []}})["text/plain"]
    'Chart: Slots'
    """
    text = json.dumps(spec, sort_keys=True)
    name = "chart-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    page = PAGE.format(
        id=name, svg=_svg(spec, name), spec=text.replace("</", "<\\/").replace("<!--", "<\\!--")
    )
    return {"text/html": page, "text/plain": f"Chart: {_words(spec)}"}


def _svg(spec: dict, name: str) -> str:
    """Draw `spec`; the ids inside get the chart's own, for a page has one namespace of them."""
    with _own_fonts():
        svg = vl_convert.vegalite_to_svg(spec)
    for inner in sorted(set(re.findall(r'\bid="([^"]+)"', svg))):
        svg = svg.replace(f'id="{inner}"', f'id="{name}-{inner}"')
        svg = svg.replace(f"url(#{inner})", f"url(#{name}-{inner})")
    return svg


@contextmanager
def _own_fonts() -> Iterator[None]:
    """Hide the machine's fonts from vl-convert, which looks for them when it first draws.

    Only meanwhile, for a browser that is started later needs them.
    """
    before = os.environ.get("FONTCONFIG_FILE")
    os.environ["FONTCONFIG_FILE"] = str(FONTCONFIG)
    try:
        yield
    finally:
        del os.environ["FONTCONFIG_FILE"]
        if before is not None:
            os.environ["FONTCONFIG_FILE"] = before


def _words(spec: dict) -> str:
    title = spec.get("title", "")
    text = title.get("text", "") if isinstance(title, dict) else title
    return spec.get("description") or (" ".join(text) if isinstance(text, list) else text)


alt.renderers.register("lorelab", render)
alt.renderers.enable("lorelab")

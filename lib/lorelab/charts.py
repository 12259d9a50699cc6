"""One look for every chart, and one way to put it on a page: import this module to have both.

A chart is shown as an SVG, drawn here and stored in the notebook, and becomes live where the page
has Vega (the book has; see `lorelab.book.assets`). Nothing is fetched. The same chart gives the
same bytes in every run and on every machine, so that stored outputs can be compared.
"""

import hashlib
import json
import re

import altair as alt
import vl_convert

OKABE_ITO = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"]
"""Okabe and Ito's colours, which the colour-blind tell apart; yellow left out, pale on white."""

# vl-convert measures text with the fonts of the machine, except for the few it carries itself.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

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
    """Colour-blind safe, quiet grid, text large enough for a projector."""
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
            "legend": {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"},
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
    """What a chart shows, and below it in smaller letters what to see in it, a line each."""
    return alt.TitleParams(text, subtitle=see.splitlines())


def render(spec: dict, **_: object) -> dict[str, str]:
    """Altair's renderer for lorelab: a mime bundle of HTML (see `PAGE`) and one line of text."""
    text = json.dumps(spec, sort_keys=True)
    name = "chart-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    page = PAGE.format(
        id=name, svg=_svg(spec, name), spec=text.replace("</", "<\\/").replace("<!--", "<\\!--")
    )
    return {"text/html": page, "text/plain": f"Chart: {_words(spec)}"}


def _svg(spec: dict, name: str) -> str:
    """Draw `spec`; the ids inside get the chart's own, for a page has one namespace of them."""
    svg = vl_convert.vegalite_to_svg(spec)
    for inner in sorted(set(re.findall(r'\bid="([^"]+)"', svg))):
        svg = svg.replace(f'id="{inner}"', f'id="{name}-{inner}"')
        svg = svg.replace(f"url(#{inner})", f"url(#{name}-{inner})")
    return svg


def _words(spec: dict) -> str:
    title = spec.get("title", "")
    text = title.get("text", "") if isinstance(title, dict) else title
    return spec.get("description") or (" ".join(text) if isinstance(text, list) else text)


alt.renderers.register("lorelab", render)
alt.renderers.enable("lorelab")

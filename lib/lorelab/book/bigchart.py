"""A chart as a slide shows it: as large as there is room, and no letter under 24 px."""

import copy
import json
import re
from typing import Any

import vl_convert

WIDTH = 1200
"""Pixels that a slide has for a chart."""
LETTER = 24.0
"""The smallest letter, in pixels of a slide of 1280 x 720."""
SPARE = 1.07
"""The browser's letters may be a little wider than those measured here."""
SLIDER = 50
"""Pixels that a slider takes below its chart."""
SIZES = ("fontSize", "labelFontSize", "titleFontSize", "subtitleFontSize")
PAGE = """\
<div class="chart" id="{id}" style="--width: {width}px">{svg}</div>
<script type="application/json" class="spec" data-for="{id}">{spec}</script>"""


def page(spec: dict[str, Any], name: str, room: int) -> str:
    """`spec` as HTML, drawn, and with what makes it live.

    Parameters
    ----------
    spec : dict
        Vega-Lite.
    name : str
        Of the chart, its own in the deck.
    room : int
        Pixels of height that are left on the slide.

    Examples
    --------
    >>> data = {"values": [{"slots": 3}]}
    >>> across = {"x": {"field": "slots", "type": "quantitative"}}
    >>> page({"mark": "bar", "data": data, "encoding": across}, "left", 500)[:52]
    '<div class="chart" id="left" style="--width: 1200px"'
    """
    room -= SLIDER if _binds(spec) else 0
    floor, stretch = LETTER / 2, 1.0
    fixed = bool(_with_width(spec))
    for _ in range(8):
        drawn = large(spec, floor)
        for part in _with_width(drawn):
            part["width"] *= stretch
        svg = vl_convert.vegalite_to_svg(drawn)
        width, height = (
            float(side) for side in re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2]
        )
        scale = min(WIDTH / width, room / height)
        legible, filled = floor * scale >= SPARE * LETTER, width * scale > 0.95 * WIDTH
        if legible and (filled or not fixed):
            break
        if not legible:
            floor = 1.01 * SPARE * LETTER / scale
        if not filled:
            stretch *= 0.98 * WIDTH / (width * scale)
    for inner in sorted(set(re.findall(r'\bid="([^"]+)"', svg))):
        svg = svg.replace(f'id="{inner}"', f'id="{name}-{inner}"')
        svg = svg.replace(f"url(#{inner})", f"url(#{name}-{inner})")
    text = json.dumps(drawn, sort_keys=True).replace("</", "<\\/")
    return PAGE.format(id=name, width=round(width * scale), svg=svg, spec=text)


def large(spec: dict[str, Any], floor: float) -> dict[str, Any]:
    """`spec` with no letter smaller than `floor`, and without its title, which the slide has.

    Of a chart with a slider the title keeps the line that says which value is shown.

    Examples
    --------
    >>> large({"mark": "bar", "title": "Slots"}, 20)["config"]["axis"]
    {'labelFontSize': 20, 'titleFontSize': 20, 'labelLimit': 0}
    """
    spec = copy.deepcopy(spec)
    _raise(spec, floor)
    config = spec.setdefault("config", {})
    for part, names in {
        "axis": ("labelFontSize", "titleFontSize"),
        "legend": ("labelFontSize", "titleFontSize"),
        "header": ("labelFontSize", "titleFontSize"),
        "title": ("fontSize", "subtitleFontSize"),
        "text": ("fontSize",),
    }.items():
        sizes = config.setdefault(part, {})
        sizes |= {name: max(floor, sizes.get(name, 0)) for name in names}
    config["legend"] |= {"labelLimit": 0, "titleLimit": 0}
    config["axis"] |= {"labelLimit": 0}
    config["title"] |= {"fontWeight": "normal", "anchor": "start"}
    config["background"] = "transparent"
    title = spec.pop("title", None)
    if isinstance(title, dict) and isinstance(title.get("subtitle"), dict):
        lines, _, moved = title["subtitle"]["expr"].strip("[]").rpartition(" + ")
        last = json.loads(f"[{lines}]")[-1]
        spec["title"] = {"text": {"expr": f"{json.dumps(last)} + {moved}"}}
    return spec


def _raise(part: Any, floor: float) -> None:
    if isinstance(part, dict):
        for name, value in part.items():
            if name in SIZES and isinstance(value, int | float):
                part[name] = max(value, floor)
            elif name not in ("data", "datasets"):
                _raise(value, floor)
    elif isinstance(part, list):
        for one in part:
            _raise(one, floor)


def _with_width(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The charts in `spec` that have a width in pixels, itself or those that it is made of."""
    parts = [part for how in ("concat", "hconcat", "vconcat") for part in spec.get(how, [])]
    parts += [spec["spec"]] if "spec" in spec else []
    own = [spec] if isinstance(spec.get("width"), int | float) else []
    return own + [each for part in parts for each in _with_width(part)]


def _binds(spec: dict[str, Any]) -> bool:
    return any("bind" in param for param in spec.get("params", []))

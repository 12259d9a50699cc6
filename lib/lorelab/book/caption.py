"""Charts of a page as numbered figures: the title becomes a caption, and an alternative text.

In the book a caption is text: it wraps on a narrow screen, and is as dark or light as the page.
In JupyterLab, and in what is stored, a chart has its title inside. The text refers to a figure as
`[Figure 2](#figure-2)`, by its place among the charts of the page.
"""

import html
import json
import re
from typing import Any

from nbformat import NotebookNode

from lorelab.errors import RunFailed
from lorelab.showing import charts, figure

REFERENCE = re.compile(r"(?<!`)\[Figure (\d+)\]\(#figure-(\d+)\)")

PAGE = """\
<figure class="lorelab-figure" id="figure-{number}">
{chart}
<figcaption><a href="#figure-{number}">Figure {number}</a>: <b>{title}</b>{see}</figcaption>
</figure>"""


def caption(notebook: NotebookNode) -> None:
    """Make the charts of a page, which has its outputs, figures with numbers, in place.

    Raises
    ------
    RunFailed
        The text refers to a figure that the page has not.
    """
    number = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if match := figure.SPEC.search(data.get("text/html", "")):
                number += 1
                data["text/html"] = numbered(json.loads(match[1].replace("<\\!--", "<!--")), number)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = referred(cell.source, number)


def referred(text: str, figures: int) -> str:
    """The text with its references as links of HTML: Sphinx knows no figure of an output.

    Examples
    --------
    >>> referred("[Figure 2](#figure-2) shows both.", 2)
    '<a href="#figure-2">Figure 2</a> shows both.'
    >>> referred("`[Figure 2](#figure-2)` is how.", 0)
    '`[Figure 2](#figure-2)` is how.'
    """
    for named, meant in REFERENCE.findall(text):
        if named != meant or not 0 < int(meant) <= figures:
            raise RunFailed(f"a text refers to figure {named} at #figure-{meant} of {figures}")
    return REFERENCE.sub(r'<a href="#figure-\2">Figure \1</a>', text)


def numbered(spec: dict[str, Any], number: int) -> str:
    """A chart as a figure with a caption, as HTML.

    Examples
    --------
    >>> spec = {"mark": "bar", "data": {"values": []}, "title": "Slots"}
    >>> numbered(spec, 3).splitlines()[0]
    '<figure class="lorelab-figure" id="figure-3">'
    """
    title, see, moving = title_and_caption(spec)
    untitled = {name: part for name, part in spec.items() if name != "title"}
    if moving:
        untitled["title"] = moving
    untitled["description"] = " ".join([f"{title}.", *see, *axes(spec)])
    chart = charts.render(untitled)["text/html"].replace(
        "<svg ", f'<svg role="img" aria-label="{html.escape(untitled["description"])}" ', 1
    )
    sentences = "".join(f" {html.escape(line)}" for line in see)
    return PAGE.format(
        number=number, chart=chart, title=html.escape(title.rstrip(".") + "."), see=sentences
    )


def title_and_caption(spec: dict[str, Any]) -> tuple[str, list[str], dict[str, Any] | None]:
    """Title of a chart, what to see in it, and the title that says where its slider stands.

    Examples
    --------
    >>> title_and_caption({"title": {"text": "Slots", "subtitle": ["Fewer is better."]}})
    ('Slots', ['Fewer is better.'], None)
    """
    title = spec.get("title", "")
    below = title.get("subtitle", []) if isinstance(title, dict) else []
    if isinstance(below, dict):
        # As `lorelab.showing.charts.slider` writes it: [line, ..., "step: " + at].
        lines, _, moved = below["expr"].strip("[]").rpartition(" + ")
        *lines, last = json.loads(f"[{lines}]")
        text = {"expr": f"{json.dumps(last)} + {moved}"}
        return figure.title(spec), lines, {"text": text, "fontSize": 12, "fontWeight": "normal"}
    return figure.title(spec), [below] if isinstance(below, str) else below, None


def axes(spec: dict[str, Any]) -> list[str]:
    """What the axes are, a sentence each, the first of each direction.

    Examples
    --------
    >>> across = {"x": {"field": "n", "title": "CPUs"}, "y": {"field": "s", "title": "slots"}}
    >>> axes({"encoding": across})
    ['Horizontal: CPUs.', 'Vertical: slots.']
    """
    titles: dict[str, str] = {}
    _axes(spec, titles)
    names = {"x": "Horizontal", "y": "Vertical"}
    return [f"{names[channel]}: {what}." for channel, what in titles.items()]


def _axes(part: Any, titles: dict[str, str]) -> None:
    if isinstance(part, dict):
        for channel in ("x", "y"):
            drawn = part.get("encoding", {}).get(channel, {})
            what = drawn.get("title") or (drawn.get("axis") or {}).get("title")
            what = what or drawn.get("field")
            if isinstance(what, str) and channel not in titles:
                titles[channel] = what
        for name, value in part.items():
            if name not in ("data", "datasets"):
                _axes(value, titles)
    elif isinstance(part, list):
        for one in part:
            _axes(one, titles)

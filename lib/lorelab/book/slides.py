"""Slides out of the cells of a notebook, by their slide tags.

A cell tagged `slide` or `subslide` (metadata `slideshow.slide_type`) begins a slide; one tagged
`fragment` stands below it, and appears at the next click; one tagged `notes` is said, not shown.
Other cells are not part of a deck. Of a text a slide takes the heading and the first sentences, of
code what it gave; the whole text is in the speaker's notes, and so is what the page says below a
chart or a table. A cell's own metadata `slide` says what else is wanted:

    title      instead of the heading, or the title of the chart
    text       Markdown, a list of lines, instead of the first sentences; "" for none
    columns    of a table, those shown
    charts     of charts below each other, those shown: their places, from 0
    notes      what to say, before what the page says
    overview   true: the slide is in the deck across all chapters, too
"""

import html
import json
import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat import NotebookNode

from lorelab.book import bigchart
from lorelab.showing import figure

LETTERS = 520
"""Of a text on a slide, beyond which its sentences are left to the speaker."""
LETTERS_ABOVE = 190
"""The same, above a chart or a table."""
ROOM, LINE, GAP = 570, 46, 24
"""Pixels of height: of a slide below a title of one line, of a line of text, and below a text."""
WIDE, TITLE = 70, 50
"""Letters of a line of text, and of a title."""
BEGINS = ("slide", "subslide")
PANEL = '<div class="lorelab-panel"'
SENTENCE = re.compile(r"(?<=[.?!:])\s+(?=[A-Z0-9`\[*\"])")
FIGURE = re.compile(r"(\A|\n\n|[.:] )?\[Figure \d+\]\(#figure-\d+\)")
LINK_HERE = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
MARK = re.compile(r"\s*<!--.*?-->", re.DOTALL)
LIST = re.compile(r"(- |\d+\. |\||    |```)")
HEADING = re.compile(r"(#+ |\([\w-]+\)=)")
NEXT_HEADING = re.compile(rf"^{HEADING.pattern}", re.MULTILINE)
BLOCK = re.compile(r"```.*?```|\$\$.*?\$\$|\S(?:(?!\n\n).)+|    (?:(?!\n\n\S).)+", re.DOTALL)
markdown = (
    MarkdownIt("commonmark")
    .enable("table")
    .use(
        dollarmath_plugin,
        renderer=lambda tex, how: rf"\[{tex}\]" if how["display_mode"] else rf"\({tex}\)",
    )
)


@dataclass
class Slide:
    """A slide as HTML: its title, what stands below it, and what is said."""

    title: str
    below: bool
    """Whether the deck goes down to it, from the slide before."""
    overview: bool
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def slides(notebook: NotebookNode) -> list[Slide]:
    """The slides of a notebook that has its outputs, in order."""
    deck: list[Slide] = []
    groups = _groups(notebook)
    for cells in groups:
        first = cells[0]
        options = first.metadata.get("slide", {})
        slide = Slide(
            title=_inline(options.get("title") or _title(cells)),
            below=_tag(first) == "subslide",
            overview=options.get("overview", False),
        )
        texts = [cell for cell in cells if cell.cell_type == "markdown" and _tag(cell) != "notes"]
        shown = [cell for cell in cells if cell.cell_type == "code"]
        text = _text(texts, LETTERS_ABOVE if shown else LETTERS)
        if not texts and "text" in options:
            text = _lines(options["text"])
        room = ROOM - LINE * (-(-len(text) // WIDE) + (len(slide.title) > TITLE))
        if text:
            slide.parts.append(_part(markdown.render(text), texts[0] if texts else first))
        for cell in shown:
            if output := _output(cell, room - (GAP if text else 0)):
                slide.parts.append(_part(output, cell))
        slide.notes = [markdown.render(note) for note in _notes(cells, notebook) if note.strip()]
        deck.append(slide)
    return deck


def _groups(notebook: NotebookNode) -> list[list[NotebookNode]]:
    groups: list[list[NotebookNode]] = []
    for cell in notebook.cells:
        if _tag(cell) in BEGINS:
            groups.append([cell])
        elif groups and _tag(cell) in ("fragment", "notes"):
            groups[-1].append(cell)
    return groups


def _tag(cell: NotebookNode) -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "skip")


def _title(cells: list[NotebookNode]) -> str:
    """The first heading among the cells."""
    for cell in cells:
        if cell.cell_type == "markdown" and (match := re.search(r"^#+ (.+)$", cell.source, re.M)):
            return match[1]
    return ""


def _text(cells: list[NotebookNode], letters: int) -> str:
    """What a slide shows of its texts: what they ask for, or the first sentences."""
    texts = []
    for cell in cells:
        text = cell.metadata.get("slide", {}).get("text")
        texts.append(_first(cell.source, letters) if text is None else _lines(text))
    return "\n\n".join(texts).strip("\n")


def _lines(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "\n".join(text)


def _first(source: str, letters: int) -> str:
    """Whole sentences while there is room; lists and drawings are whole."""
    kept: list[str] = []
    for block in BLOCK.findall(_plain(source)):
        if HEADING.match(block):
            continue
        if LIST.match(block):
            kept.append(block)
            letters -= len(block)
            continue
        sentences = SENTENCE.split(" ".join(block.split()))
        fits = []
        for sentence in sentences:
            if (kept or fits) and len(sentence) > letters:
                break
            fits.append(sentence)
            letters -= len(sentence)
        kept.append(" ".join(fits))
        if len(fits) < len(sentences):
            break
    return "\n\n".join(kept).rstrip(":")


def _plain(source: str) -> str:
    """Without marks, numbers of figures and links to other pages, which no deck has.

    Examples
    --------
    >>> _plain("[Figure 2](#figure-2) and [Kernel](kernel.ipynb) agree. <!-- 2 from: x -->")
    'The figure and Kernel agree.'
    """
    unnumbered = FIGURE.sub(
        lambda match: "the figure" if match[1] is None else f"{match[1]}The figure",
        MARK.sub("", source),
    )
    return LINK_HERE.sub(r"\1", unnumbered)


def _notes(cells: list[NotebookNode], notebook: NotebookNode) -> list[str]:
    """What is said: the cells' own notes, their whole text or what leads to it, what it shows.

    After a chart or a table comes what the page says of it, up to the next heading or slide; of a
    panel, where nobody has run anything yet, a page says nothing.
    """
    notes = [_lines(cell.metadata.get("slide", {}).get("notes", "")) for cell in cells]
    texts = [_plain(cell.source) for cell in cells if cell.cell_type == "markdown"]
    first, last = (notebook.cells.index(cells[end]) for end in (0, -1))
    if not texts:
        before = [cell for cell in notebook.cells[:first] if cell.cell_type == "markdown"]
        texts = [_plain(cell.source) for cell in before[-1:]]
    if cells[-1].cell_type == "code" and not _has_panel(cells[-1]):
        after = takewhile(lambda cell: _tag(cell) == "skip", notebook.cells[last + 1 :])
        following = [cell for cell in after if cell.cell_type == "markdown"]
        texts += [_until_heading(cell.source) for cell in following[:1]]
    return notes + texts


def _has_panel(cell: NotebookNode) -> bool:
    return any(PANEL in each.get("data", {}).get("text/html", "") for each in cell.outputs)


def _until_heading(source: str) -> str:
    return _plain(NEXT_HEADING.split(source)[0])


def _inline(text: str) -> str:
    return markdown.renderInline(_plain(text))


def _part(inner: str, cell: NotebookNode) -> str:
    kind = "part fragment" if _tag(cell) == "fragment" else "part"
    return f'<div class="{kind}">{inner}</div>'


def _output(cell: NotebookNode, room: int) -> str:
    """What a cell gave that a slide can show: a chart, a panel, a table, or a few lines of text."""
    if spec := _spec(cell):
        return bigchart.page(spec, f"{cell.id}-{room}", room)
    for output in cell.outputs:
        data = output.get("data", {})
        if PANEL in data.get("text/html", ""):
            return data["text/html"]
        if "<table" in data.get("text/html", ""):
            return _table(data["text/html"], cell.metadata.get("slide", {}).get("columns"))
        text = data.get("text/plain") or output.get("text", "")
        if text and text.count("\n") <= 12:
            shown = html.escape(text.strip("'"))
            return f"<pre>{shown}</pre>"
    return ""


def _spec(cell: NotebookNode) -> dict[str, Any] | None:
    """The Vega-Lite specification of the chart that the cell gave, of the parts that are shown."""
    for output in cell.get("outputs", []):
        if match := figure.SPEC.search(output.get("data", {}).get("text/html", "")):
            spec = json.loads(match[1].replace("<\\!--", "<!--"))
            if charts := cell.metadata.get("slide", {}).get("charts"):
                spec["vconcat"] = [spec["vconcat"][place] for place in charts]
            return spec
    return None


def _table(shown: str, columns: list[str] | None) -> str:
    """A table as it was, of some columns; rows that don't fit, the deck itself leaves out."""
    table = BeautifulSoup(shown, "html.parser").table
    names = [cell.get_text() for cell in table.thead.find("tr").find_all("th")]
    for row in table.find_all("tr") if columns else ():
        for name, cell in zip(names, row.find_all(["td", "th"]), strict=True):
            if name not in columns:
                cell.decompose()
    for tag in table.find_all(True):
        tag.attrs = {key: value for key, value in tag.attrs.items() if "span" in key}
    return f"<table>{table.decode_contents()}</table>"

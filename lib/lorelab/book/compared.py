"""Comparisons where a reader looks first: each names the assert that checks it over all rows.

No digit is wrong in "6.12 places folios as well as the proposals do", and the table below it may
still say otherwise. So what has one of `FIRST` names an assert of its page by its message

- on the first screen, which is the first cell;
- in a paragraph that begins in bold type, in a row of a table, and in `*What to see:*`;
- in a chart's caption, a string in the call of a chart.

A paragraph elsewhere does so if it has one of `ANYWHERE`. Questions claim nothing, and the title of
a message is its author's. A mark vouches
for what stands before it in its paragraph or row, and as a comment for the captions of its cell:

    <!-- assert: 64 KiB as the proposals -->           assert a.all(), "64 KiB as the proposals"
    <!-- assert: one; swap/variants: another -->       the second is on that page
    # assert: one

The assert has to be able to check something, see `lorelab.book.asserted`.

Of the library, a function that says what a finding costs has such an assert if it compares, or if
the finding's defect does, and a caption that it gives to every chart does not compare.

Not every use of a word compares. *Each* says how something is shared out ("12 runs each", "a lock
in each VMA"), and counts rows as *in each of the*. *Any* does so as *any other* and *in any* ("any
number of CPUs" is free choice). *The same* is an adjective in "the same test" and a result in
"gives the same" and "the same counts as". A folio *falls back*, a border *falls on* an end, a
*lower bound* is a term, and *both axes* are those of the drawing. *The largest region* names a
thing, so superlatives are out.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from lorelab.book import asserted
from lorelab.book.prose import ASSERT, NOT_PROSE
from lorelab.judging.findings import Finding

ROOT = Path(__file__).parents[3]
PAGES, LIBRARY = ROOT / "notebooks", ROOT / "lib/lorelab"
CHART_MODULES = ("charts", "curves", "pictures")
ANYWHERE = (
    r"better|worse|as well as|linear(?:ly)?(?! scan)|either way|nearly all|two thirds|in the others"
    r"|grows? with|in step with"
)
FIRST = (
    rf"{ANYWHERE}|as (?:much|many|few|far|long) as|best|worst|grows?|growing|flat|rising|every|only"
    r"|none|no|nothing|never|always|all|alone|nearly|at most|at least|more|less|fewer|than|twice"
    r"|half|thirds?|longer|shorter|faster|slower|robust"
    r"|(?:falls?|rises?)(?! back| on)|falling|(?:in|for|on) each of the|both(?! axes)|any other"
    r"|in any|most|equals?|larger|smaller|higher|lower(?! bound)"
    r"|(?:is|are|was|were|stays?|costs?|gives?|has|have|does|do|finds?) the same"
    r"|the same(?: \w+)? (?:as|in all|in both|for all|for both)"
)
FINDING = [field.name for field in fields(Finding)]
COMMENT = re.compile(r"# assert: (.+)")
QUESTION = re.compile(r"[^.!?|]*\?")
TITLE = re.compile(r"\[[^\]]*\](?=\(https://lore\.kernel\.org/)")


class Unasserted(NamedTuple):
    """A comparison without an assert, or a mark that names none."""

    place: Path
    why: str
    context: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why} in: {self.context}"


def unasserted(page: Path, pages: Path = PAGES) -> Iterator[Unasserted]:
    """Comparisons of a notebook that name no assert, and names that no assert has.

    Parameters
    ----------
    page : Path
        A notebook.
    pages : Path
        Folder of the other pages that a mark may name.
    """
    cells = json.loads(page.read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    known = asserted.on_page(page)
    for n, (cell, source) in enumerate(zip(cells, sources, strict=True)):
        if cell["cell_type"] == "code":
            blocks = [(source, " | ".join(_captions(source)), FIRST, COMMENT)]
        else:
            blocks = [(block, block, _words(block, n == 0), ASSERT) for block in _blocks(source)]
        for whole, text, words, mark in blocks:
            named = [name for names in mark.findall(whole) for name in re.split(r";\s+", names)]
            named = {name: _asserts(name, known, pages) for name in map(_joined, named)}
            whys = [asserted.wanting(name, asserts) for name, asserts in named.items()]
            yield from (Unasserted(page, why, _short(text)) for why in whys if why)
            if why := "" if any(whys) else _of_one_value(text, words, mark, named):
                yield Unasserted(page, why, _short(text))
            rest = text if mark is COMMENT and not named else mark.split(text)[-1]
            rest = "" if mark is COMMENT and named else rest
            if word := _compares(rest, words):
                yield Unasserted(page, f"no assert for {word!r}", _short(rest))


def unasserted_in_library(design: str, library: Path = LIBRARY) -> Iterator[Unasserted]:
    """Comparisons in captions and findings of a design's modules, see the top of this file."""
    for file in sorted((library / design / "pages").glob("*.py")):
        for call in _calls(file.read_text(), ("title", "_title")):
            for text in _strings(ast.Module(call.args[1:], [])):
                if word := _compares(text, FIRST):
                    yield Unasserted(file, f"a caption compares, {word!r}", _short(text))
    file = library / design / "thread/findings.py"
    if file.exists():
        source = file.read_text()
        asserts = asserted.of_source(source)
        functions = [one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)]
        unchecked = {one.name: one for one in functions if not _is_checked(one, asserts)}
        texts = [" ".join(_strings(ast.Module(one.body[1:], []))) for one in unchecked.values()]
        for text in (*texts, *_defects(source, set(unchecked))):
            if word := _compares(text, FIRST):
                yield Unasserted(file, f"no assert for {word!r}", _short(text))


def _defects(source: str, unchecked: set[str]) -> Iterator[str]:
    """What findings say is wrong, of those whose cost is told by an `unchecked` function."""
    for call in _calls(source, ("Finding",)):
        arguments = dict(zip(FINDING, call.args, strict=False)) | {
            keyword.arg: keyword.value for keyword in call.keywords
        }
        if getattr(arguments["effect"], "id", "") in unchecked:
            yield " ".join(_strings(arguments["defect"]))


def _blocks(source: str) -> Iterator[str]:
    """Paragraphs, but a table by its rows; headings and code are none."""
    source = re.sub(r"```.*?```", "", source, flags=re.DOTALL)
    for paragraph in source.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        if lines and lines[0].startswith("|"):
            yield from lines
        else:
            yield "\n".join(lines)


def _words(block: str, first: bool) -> str:
    leads = first or block.startswith(("**", "|", "*What to see"))
    return FIRST if leads else ANYWHERE


def _compares(text: str, words: str) -> str:
    match = re.search(rf"\b(?:{words})\b", _prose(text), re.IGNORECASE)
    return match[0] if match else ""


def _prose(text: str) -> str:
    return _joined(QUESTION.sub(" ", NOT_PROSE.sub(" ", TITLE.sub(" ", text))))


def _captions(source: str) -> list[str]:
    """Strings that a cell gives to a chart."""
    texts = []
    for call in _calls(source):
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in CHART_MODULES:
            texts += [a.value for a in call.args if _is_text(a)]
            texts += [one.value.value for one in call.keywords if _is_text(one.value)]
    return texts


def _calls(source: str, names: tuple[str, ...] = ()) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if not names or name in names:
                yield node


def _strings(tree: ast.AST) -> list[str]:
    return [node.value for node in ast.walk(tree) if _is_text(node)]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_checked(function: ast.FunctionDef, asserts: dict[str, list[asserted.Named]]) -> bool:
    messages = (node.msg for node in ast.walk(function) if isinstance(node, ast.Assert))
    names = [message.value for message in messages if _is_text(message)]
    return any(not asserted.wanting(name, asserts.get(name, [])) for name in names)


def _asserts(
    name: str, known: dict[str, list[asserted.Named]], pages: Path
) -> list[asserted.Named]:
    """The asserts of a name on this page, or on the one that it begins with."""
    page, _, elsewhere = name.partition(": ")
    other = pages / f"{page}.ipynb"
    if name in known or not elsewhere or not other.exists():
        return known.get(name, [])
    return asserted.on_page(other).get(elsewhere, [])


def _of_one_value(
    text: str, words: str, mark: re.Pattern[str], named: dict[str, list[asserted.Named]]
) -> str:
    """Why asserts of single values can't vouch for what a text says of all."""
    vouched = text if mark is COMMENT else "".join(mark.split(text)[0:-1:2])
    match = asserted.OF_ALL_ROWS.search(_prose(vouched)) if words is FIRST and named else None
    if not match or any(one.spans for asserts in named.values() for one in asserts):
        return ""
    return f"{match[0]!r} and no assert of more than one value, {', '.join(named)!r},"


def _short(text: str) -> str:
    return _joined(text)[:90]


def _joined(text: str) -> str:
    return " ".join(text.split())

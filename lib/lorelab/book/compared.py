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

Of the library, a function that says what a finding costs has such an assert if it compares, and a
caption that it gives to every chart does not compare.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lorelab.book.prose import ASSERT, NOT_PROSE

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
)
COMMENT = re.compile(r"# assert: (.+)")
QUESTION = re.compile(r"[^.!?|]*\?")
TITLE = re.compile(r"\[[^\]]*\](?=\(https://lore\.kernel\.org/)")


class Bare(NamedTuple):
    """A comparison without an assert, or a mark that names none."""

    place: Path
    why: str
    context: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why} in: {self.context}"


def bare(page: Path, pages: Path = PAGES) -> Iterator[Bare]:
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
    known = _messages(page)
    for n, (cell, source) in enumerate(zip(cells, sources, strict=True)):
        if cell["cell_type"] == "code":
            blocks = [(source, " | ".join(_captions(source)), FIRST, COMMENT)]
        else:
            blocks = [(block, block, _words(block, n == 0), ASSERT) for block in _blocks(source)]
        for whole, text, words, mark in blocks:
            named = [name for names in mark.findall(whole) for name in re.split(r";\s+", names)]
            for name in named:
                if not _is_there(" ".join(name.split()), known, pages):
                    yield Bare(page, f"no assert {name!r}", _short(text))
            rest = text if mark is COMMENT and not named else mark.split(text)[-1]
            rest = "" if mark is COMMENT and named else rest
            if found := _compares(rest, words):
                yield Bare(page, f"no assert for {found!r}", _short(rest))


def bare_library(design: str, library: Path = LIBRARY) -> Iterator[Bare]:
    """Comparisons in captions and findings of a design's modules, see the top of this file."""
    for file in sorted((library / design / "pages").glob("*.py")):
        for call in _calls(file.read_text(), ("title", "_title")):
            for text in _strings(ast.Module(call.args[1:], [])):
                if found := _compares(text, FIRST):
                    yield Bare(file, f"a caption compares, {found!r}", _short(text))
    file = library / design / "thread/findings.py"
    if file.exists():
        for function in ast.parse(file.read_text()).body:
            if isinstance(function, ast.FunctionDef) and not _named_asserts(function):
                text = " ".join(_strings(ast.Module(function.body[1:], [])))
                if found := _compares(text, FIRST):
                    yield Bare(file, f"no assert for {found!r}", _short(text))


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
    prose = " ".join(QUESTION.sub(" ", NOT_PROSE.sub(" ", TITLE.sub(" ", text))).split())
    match = re.search(rf"\b(?:{words})\b", prose, re.IGNORECASE)
    return match[0] if match else ""


def _captions(source: str) -> list[str]:
    """Strings that a cell gives to a chart."""
    found = []
    for call in _calls(source):
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in CHART_MODULES:
            found += [a.value for a in call.args if _is_text(a)]
            found += [k.value.value for k in call.keywords if _is_text(k.value)]
    return found


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


def _messages(page: Path) -> set[str]:
    """The messages of a page's asserts."""
    cells = json.loads(page.read_text())["cells"]
    code = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return {name for source in code for name in _named_asserts(ast.parse(source))}


def _named_asserts(tree: ast.AST) -> set[str]:
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return {node.msg.value for node in asserts if node.msg and _is_text(node.msg)}


def _is_there(name: str, known: set[str], pages: Path) -> bool:
    page, _, elsewhere = name.partition(": ")
    other = pages / f"{page}.ipynb"
    return name in known or (bool(elsewhere) and other.exists() and elsewhere in _messages(other))


def _short(text: str) -> str:
    return " ".join(text.split())[:90]

"""The book: every notebook of its table of contents run (or fresh in the cache), then rendered."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection
from importlib import metadata
from pathlib import Path

import nbformat
import vl_convert
import yaml
from nbformat import NotebookNode
from rich.console import Console
from rich.progress import Progress

from lorelab import atomic
from lorelab.book import cache, conf
from lorelab.book.caption import caption
from lorelab.book.execute import execute
from lorelab.book.fold import fold
from lorelab.book.functions import link
from lorelab.book.verdicts import MIME
from lorelab.errors import BadInput, RunFailed
from lorelab.lab.cache import locked

ROOT = Path(__file__).parents[3]
"""The checkout: notebooks/ and book/ are read, build/ is written."""
LIBRARY = Path(__file__).parents[1]
SCRIPTS = tuple(
    LIBRARY / name
    for name in ("showing/charts.js", "panel/panel.js", "panel/form.js", "book/long.js")
)
RENDER_SOURCES = [
    *(LIBRARY / "book").glob("*.py"),
    *(LIBRARY / "showing" / name for name in ("charts.py", "figure.py", "fonts.conf")),
    *SCRIPTS,
]
"""The code that makes pages of notebooks, and the fonts that it draws with."""
PARTS = 5
"""In so many turns each page runs again, whether anything changed or not."""
REDIRECT_HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>lorelab</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={}.html"></head></html>
"""


def chapters(root: Path) -> list[str]:
    """Notebooks of book/_toc.yml in order, as paths relative to `root`."""
    toc = yaml.safe_load((root / "book/_toc.yml").read_text())
    names = [toc["root"]]
    for part in toc.get("parts", []):
        for chapter in part["chapters"]:
            names += [chapter["file"], *(page["file"] for page in chapter.get("sections", []))]
    pages = [f"notebooks/{name}.ipynb" for name in names]
    for name in pages:
        if not (root / name).is_file():
            raise BadInput(f"book/_toc.yml names {name}, which is not there")
    return pages


def executed(names: list[str], root: Path) -> dict[str, NotebookNode]:
    """Notebooks by name, with the outputs of a run of what they are now.

    Raises
    ------
    RunFailed
        One line for each notebook that failed; the others have run, and are kept.
    """
    notebooks = {name: nbformat.read(root / name, as_version=4) for name in names}
    stale = []
    for name, notebook in notebooks.items():
        outputs = cache.fresh(_kept(name, root), notebook, root)
        if outputs is None:
            outputs = cache.stored(_beside(name, root), notebook, root)
        if outputs is None:
            stale.append(name)
        else:
            _put(notebook, outputs)
    if stale:
        asyncio.run(_run({name: notebooks[name] for name in stale}, root))
    return notebooks


async def _run(notebooks: dict[str, NotebookNode], root: Path) -> None:
    turn = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(name: str, notebook: NotebookNode) -> None:
        bar = progress.add_task(name, total=len(notebook.cells))
        async with turn:
            started = time.time()
            ran = await execute(notebook, name, root, lambda n: progress.update(bar, completed=n))
            progress.update(bar, completed=len(notebook.cells))
            _put(notebook, ran.outputs)
            cache.keep(_kept(name, root), notebook, ran, started, root)

    with Progress(console=Console(stderr=True)) as progress:
        ends = await asyncio.gather(
            *(one(name, notebook) for name, notebook in notebooks.items()), return_exceptions=True
        )
    failed = [end for end in ends if isinstance(end, BaseException)]
    for end in failed:
        if not isinstance(end, RunFailed):
            raise end
    if failed:
        raise RunFailed("\n".join(map(str, failed)))


def _kept(name: str, root: Path) -> Path:
    return root / "build" / Path(name).with_suffix(".json")


def _beside(name: str, root: Path) -> Path:
    return root / "notebooks/.rests-on" / Path(name).relative_to("notebooks").with_suffix(".json")


def _put(notebook: NotebookNode, outputs: list[list[NotebookNode]]) -> None:
    """Give the code cells their outputs and numbers, and nothing that differs between machines."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, (cell, output) in enumerate(zip(code, outputs, strict=True), start=1):
        cell.outputs = output
        cell.execution_count = number
    notebook.metadata["language_info"] = {"name": "python"}


def store(root: Path = ROOT, names: Collection[str] = ()) -> list[str]:
    """Write fresh outputs into the notebooks, all or those of `names`; returns what changed.

    A page may show what is stored in another, as the ledger does, so that it runs again after it.
    """
    known = chapters(root)
    for name in set(names) - set(known):
        raise BadInput(f"{name}: takes pages of book/_toc.yml, such as {known[0]}")
    selected = [name for name in known if not names or name in names]
    changed: set[str] = set()
    # Those of chapters first: beside a new one, of which nothing is stored yet, the ledger fails.
    chapter = [name for name in selected if Path(name).parent.name != "notebooks"]
    for these in (chapter, selected):
        while again := _store(these, root):
            changed |= set(again)
    return [name for name in selected if name in changed]


def _store(names: list[str], root: Path) -> list[str]:
    changed = []
    for name, notebook in executed(names, root).items():
        file = root / name
        text = nbformat.writes(notebook) + "\n"
        if text != file.read_text():
            atomic.write(file, text)
            changed.append(name)
        if cache.stored(_beside(name, root), notebook, root) is None:
            cache.write_basis(_beside(name, root), notebook, _kept(name, root), root)
    return changed


def due(turn: int, root: Path = ROOT) -> tuple[list[str], list[str]]:
    """Pages that are to run again beside their stored outputs, though these may be fresh.

    Parameters
    ----------
    turn : int
        Which fifth of the pages whose outputs rest on nothing that changed, modulo 5.

    Returns
    -------
    list of str
        Pages whose outputs rest on something that is no longer what it was.
    list of str
        Of the others, those whose turn it is.
    """
    names = chapters(root)
    notebooks = {name: nbformat.read(root / name, as_version=4) for name in names}
    changed = [n for n in names if cache.stored(_beside(n, root), notebooks[n], root) is None]
    return changed, [name for name in names[turn % PARTS :: PARTS] if name not in changed]


def build(root: Path = ROOT) -> Path:
    """Render the book into build/book; returns its first page.

    Raises
    ------
    RunFailed
        A notebook failed, or Sphinx had something to say (a warning is an error).
    """
    with locked(root / "build"):  # who comes second finds a book that is up to date
        return _build(root)


def _build(root: Path) -> Path:
    notebooks = executed(chapters(root), root)
    _check_shown_elsewhere(notebooks, root)
    book = root / "build/book"
    made_of = book / "made-of"
    state = _state(notebooks, root)
    if not made_of.exists() or made_of.read_text() != state:
        pages = _pages(notebooks, root)
        shutil.copy(vega(root), pages / "assets/vega.js")
        for script in SCRIPTS:
            shutil.copy(script, pages / "assets")
        rendered = _sphinx(pages, root / "build/sphinx")
        # It says something of an icon, for a slow browser asks for one.
        (rendered / "index.html").write_text(REDIRECT_HTML.format(Path(chapters(root)[0]).stem))
        (rendered / made_of.name).write_text(state)
        shutil.rmtree(book, ignore_errors=True)
        rendered.rename(book)
    return book / "index.html"


def _check_shown_elsewhere(notebooks: dict[str, NotebookNode], root: Path) -> None:
    """Refuse verdicts other than those stored with their page, for these are what others show."""
    for name, notebook in notebooks.items():
        if _verdicts(notebook) != _verdicts(nbformat.read(root / name, as_version=4)):
            raise RunFailed(
                f"{name}: its verdicts are no longer those stored in it, which the ledger shows; "
                "run `make outputs`, then build again"
            )


def _verdicts(notebook: NotebookNode) -> list[str]:
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    data = (output.get("data", {}) for output in outputs)
    return [json.dumps(each[MIME], sort_keys=True) for each in data if MIME in each]


def _state(notebooks: dict[str, NotebookNode], root: Path) -> str:
    """Everything the rendered book is made of: pages, the code that draws, installed packages."""
    total = hashlib.sha256()
    for package in sorted(f"{one.name} {one.version}" for one in metadata.distributions()):
        total.update(f"{package}\n".encode())
    for name, notebook in notebooks.items():
        total.update(f"{name}\0{nbformat.writes(notebook)}\0".encode())
    for file in sorted(path for path in (root / "book").rglob("*") if path.is_file()):
        total.update(f"{file.relative_to(root)}\0".encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    for file in sorted(RENDER_SOURCES):
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _pages(notebooks: dict[str, NotebookNode], root: Path) -> Path:
    """The folder that Sphinx reads: book/ and the notebooks, folded, with their figures."""
    pages = root / "build/pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(root / "book", pages)
    settings = conf.settings(pages / "_config.yml")
    (pages / "conf.py").write_text("".join(f"{k} = {v!r}\n" for k, v in settings.items()))
    for name, notebook in notebooks.items():
        page = pages / Path(name).relative_to("notebooks")
        page.parent.mkdir(exist_ok=True)
        fold(notebook)
        caption(notebook)
        link(notebook, str(Path(name).relative_to("notebooks").with_suffix("")))
        without_data(notebook)
        nbformat.write(notebook, page)
    return pages


def without_data(notebook: NotebookNode) -> None:
    """Take out what only other pages read, in place: Sphinx would warn that it cannot show it."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(MIME, None)


def vega(root: Path) -> Path:
    """Vega, Vega-Lite and Vega-Embed as one script, out of vl-convert; no network."""
    file = root / f"build/vega-{vl_convert.__version__}.js"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        # In a function, for its names would clash with those of Sphinx's scripts.
        atomic.write(file, "(() => {\n" + vl_convert.javascript_bundle() + "\n})();\n")
    return file


def _sphinx(pages: Path, out: Path) -> Path:
    """Run Sphinx, from scratch: it keeps quiet about pages of an earlier build."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-d", out / "doctrees"]
    output = []
    with (
        Progress(console=Console(stderr=True)) as progress,
        subprocess.Popen(
            [*command, pages, out / "html"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
        ) as sphinx,
    ):
        bar = progress.add_task("rendering", total=200)
        for line in sphinx.stdout:
            output.append(line)
            if match := re.match(r"(reading|writing)\D*(\d+)%", line):
                done = int(match[2]) + 100 * (match[1] == "writing")
                progress.update(bar, completed=done)
        progress.update(bar, completed=200)
    if sphinx.returncode:
        complaints = [line for line in output if re.search(r"WARNING|ERROR|CRITICAL", line)]
        raise RunFailed("the book does not build:\n" + "".join(complaints or output[-20:]).rstrip())
    return out / "html"

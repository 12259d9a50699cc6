"""Outputs of notebooks, kept for as long as all that they rest on stays the same.

A kept run is good while the code cells, every file the run read (library modules, imported directly
or not, and data), every folder it listed, Python and every installed package are what they were.
Text, timestamps, ids and other metadata of the notebook don't matter.
"""

import hashlib
import json
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from lorelab.book.execute import Run
from lorelab.book.watch import OURS

HERE = Path(__file__).parent
MACHINERY = b"".join(
    (HERE / name).read_bytes() for name in ("watch.py", "opened.py", "execute.py", "cache.py")
)
EXECUTION_TAGS = {"raises-exception", "skip-execution"}
"""The only metadata of a cell that changes what running it does."""


def fresh(kept: Path, notebook: NotebookNode, root: Path) -> list[list[NotebookNode]] | None:
    """Outputs of `notebook` from the file `kept`, or None when it has to run."""
    try:
        entry = json.loads(kept.read_text())
    except (OSError, ValueError):
        return None
    if entry.pop("of", None) != _digest(json.dumps(entry)):
        return None  # cut short, or edited by hand
    now = basis(notebook, entry["basis"]["files"], entry["basis"]["folders"], root)
    if entry["basis"] != now:
        return None
    return [[nbformat.from_dict(output) for output in cell] for cell in entry["outputs"]]


def keep(kept: Path, notebook: NotebookNode, run: Run, started: float, root: Path) -> None:
    """Keep a run in the file `kept`, unless a file that it read changed since `started`.

    Parameters
    ----------
    kept : Path
        Written whole or not at all.
    notebook : NotebookNode
        What ran.
    run : Run
        What it gave and read.
    started : float
        When it started, as `time.time()`.
    root : Path
        The checkout.
    """
    paths = [root / name for name in (*run.files, *run.folders)]
    if any(not path.exists() or path.stat().st_mtime >= started for path in paths):
        return
    entry = {"basis": basis(notebook, run.files, run.folders, root), "outputs": run.outputs}
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_name(kept.name + ".part")
    part.write_text(json.dumps({**entry, "of": _digest(json.dumps(entry))}))
    part.replace(kept)


def basis(notebook: NotebookNode, files: Any, folders: Any, root: Path) -> dict[str, Any]:
    """All that a run rests on, as digests."""
    return {
        "cells": cells(notebook),
        "environment": environment(),
        "files": {name: _file(root / name) for name in files},
        "folders": {name: _folder(root / name) for name in folders},
    }


def cells(notebook: NotebookNode) -> str:
    """Digest of what runs: the code cells in order, and the tags that change how they run."""
    code = [
        [cell.source, sorted(EXECUTION_TAGS & set(cell.metadata.get("tags", [])))]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    return _digest(json.dumps(code))


@cache
def environment() -> str:
    """Digest of Python, every installed package's version, and this cache's own code."""
    installed = sorted(f"{found.name} {found.version}" for found in metadata.distributions())
    return _digest(
        "\n".join([platform.python_version(), platform.machine(), *installed])
    ) + _digest(MACHINERY.decode())


def _file(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _folder(path: Path) -> str | None:
    try:
        return _digest("\n".join(sorted({entry.name for entry in path.iterdir()} - OURS)))
    except OSError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

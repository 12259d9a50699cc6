"""Outputs of notebooks, kept for as long as all that they rest on stays the same.

A kept run is good while the code cells, every file the run read (library modules, imported directly
or not, and data), every folder it listed, every package it imported, and Python but for its last
number are what they were. Text, timestamps, ids and other metadata of the notebook don't matter.

Runs are kept in build/. What the outputs stored in notebooks/ rest on is kept beside them in the
repository, so that a fresh clone need not run what was run before.
"""

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from lorelab import atomic
from lorelab.book.execute import Run
from lorelab.book.watch import IGNORED

HERE = Path(__file__).parent
MACHINERY = b"".join((HERE / name).read_bytes() for name in ("watch.py", "execute.py", "cache.py"))
EXECUTION_TAGS = {"raises-exception", "skip-execution"}
"""The only metadata of a cell that changes what running it does."""


def fresh(kept: Path, notebook: NotebookNode, root: Path) -> list[list[NotebookNode]] | None:
    """Outputs of `notebook` from the file `kept`, or None when it has to run."""
    entry = _entry(kept, {"basis", "outputs", "of"})
    if entry is None or entry.pop("of", None) != _digest(json.dumps(entry)):
        return None  # cut short, or edited by hand
    if entry["basis"] != basis(notebook, entry["basis"], root):
        return None
    return [[nbformat.from_dict(output) for output in cell] for cell in entry["outputs"]]


def stored(beside: Path, notebook: NotebookNode, root: Path) -> list[list[NotebookNode]] | None:
    """The outputs in `notebook` itself, if the file `beside` vouches for them, or None."""
    entry = _entry(beside, {"basis", "outputs"})
    if entry is None or entry != _basis_and_outputs(notebook, entry["basis"], root):
        return None
    return outputs(notebook)


def _entry(file: Path, names: set[str]) -> dict[str, Any] | None:
    """What is kept in a file; None where it is not there, or has another shape."""
    try:
        entry = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(entry, dict) or entry.keys() != names:
        return None
    rests_on = entry["basis"]
    lists = ("files", "folders", "packages")
    known = isinstance(rests_on, dict) and all(isinstance(rests_on.get(n), dict) for n in lists)
    return entry if known else None


def write_basis(beside: Path, notebook: NotebookNode, kept: Path, root: Path) -> None:
    """Write down in the file `beside` what the outputs in `notebook` rest on, by its kept run."""
    if fresh(kept, notebook, root) is None:
        return  # something changed meanwhile
    rests_on = json.loads(kept.read_text())["basis"]
    beside.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_basis_and_outputs(notebook, rests_on, root), indent=1, sort_keys=True)
    atomic.write(beside, text + "\n")


def outputs(notebook: NotebookNode) -> list[list[NotebookNode]]:
    """Outputs of the code cells, in order."""
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]


def _basis_and_outputs(
    notebook: NotebookNode, rests_on: dict[str, Any], root: Path
) -> dict[str, Any]:
    # As a file has them: reading one joins lines.
    text = json.dumps(outputs(nbformat.reads(nbformat.writes(notebook), 4)), sort_keys=True)
    return {"basis": basis(notebook, rests_on, root), "outputs": _digest(text)}


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
    entry = {"basis": basis(notebook, vars(run), root), "outputs": run.outputs}
    kept.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(kept, json.dumps({**entry, "of": _digest(json.dumps(entry))}))


def basis(notebook: NotebookNode, names: dict[str, Any], root: Path) -> dict[str, Any]:
    """All that a run rests on, as digests and versions of the `files`, `folders`, `packages`."""
    return {
        "cells": cells(notebook),
        "environment": environment(),
        "files": {name: _file(root / name) for name in names["files"]},
        "folders": {name: _folder(root / name) for name in names["folders"]},
        "packages": {name: versions(name) for name in names["packages"]},
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
    """Digest of Python (a bug fix of it doesn't count), the machine, and this cache's own code."""
    python = [*platform.python_version_tuple()[:2], platform.machine()]
    return _digest("\n".join([*python, MACHINERY.decode()]))


@cache
def versions(package: str) -> str | None:
    """What is installed under a name that is imported, with its version; None if nothing is."""
    packages = _providers().get(package, [])
    return " ".join(f"{name} {metadata.version(name)}" for name in sorted(set(packages))) or None


@cache
def _providers() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _file(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _folder(path: Path) -> str | None:
    try:
        return _digest("\n".join(sorted({entry.name for entry in path.iterdir()} - IGNORED)))
    except OSError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

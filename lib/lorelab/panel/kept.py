"""The modules that are kept in data/panels, and what each rests on.

A module is good for as long as the source of every function in it, every constant that these read,
and what compiles them (`compile`) are what they were. Comments, docstrings and the place of a
function don't matter.
"""

import ast
import base64
import enum
import gzip
import hashlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from lorelab import atomic
from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import designs, experiment, experiments
from lorelab.progress import track

PACKAGE = Path(__file__).parents[1]
MODULES = PACKAGE.parents[1] / "data/panels"
LARGEST = 400_000
"""Bytes of a module."""


class Kept(NamedTuple):
    """A module as it is kept."""

    packed: str
    """The module, gzipped, in base64."""
    size: int
    """Its bytes."""
    numbers: str
    """Type of its counters: uint64, int64 or float64."""
    rests_on: str


def described(question: str) -> ModuleType:
    """The module of an experiment that has its `entry`; BadInput where there is none."""
    if not _there(question):
        raise BadInput(f"{question} has no panel; takes one of {', '.join(panels())}")
    return import_module(_name(question))


def panels() -> list[str]:
    """Experiments that have a panel, also of a design that the list of designs lacks."""
    listed = designs()
    unlisted = {file.parent.name for file in PACKAGE.glob("*/params.py")} - {*listed}
    every = (*listed, *sorted(unlisted))
    return [name for design in every for name in experiments(design) if _there(name)]


def _there(question: str) -> bool:
    try:
        return find_spec(_name(question)) is not None
    except ModuleNotFoundError:
        return False  # not even the room


def _name(question: str) -> str:
    design, name = experiment(question).name.split("/")
    return f"lorelab.{design}.panel.{name.replace('-', '_')}"


def _file(question: str, folder: Path) -> Path:
    return folder / f"{question.replace('/', '-')}.json"


def kept(question: str, folder: Path = MODULES) -> Kept | None:
    """The module of an experiment; None where none is kept."""
    try:
        return Kept(**json.loads(_file(question, folder).read_text()))
    except FileNotFoundError:
        return None


def stale(folder: Path = MODULES) -> list[str]:
    """Panels without a module, or with one of functions that have changed since."""
    questions = []
    for question in panels():
        have = kept(question, folder)
        if have is None or have.rests_on != rests_on(described(question).entry):
            questions.append(question)
    return questions


def build(questions: list[str], folder: Path = MODULES) -> Iterator[str]:
    """Compile the modules of experiments, each in a process of its own, and keep them."""
    from lorelab.panel.compile import ENV

    for question in track(questions, "panels"):
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "module.wasm")
            command = [sys.executable, "-m", "lorelab.panel.compile", question, file]
            # Kept kernels are of this machine's instructions, so none of those is read or written.
            env = {**os.environ, **ENV, "XDG_CACHE_HOME": scratch}
            ran = subprocess.run(command, env=env, capture_output=True, text=True)
            if ran.returncode:
                raise RunFailed(f"{question}: no module: {ran.stderr.strip().splitlines()[-1]}")
            module, numbers = file.read_bytes(), ran.stdout.strip()
        if len(module) > LARGEST:
            raise RunFailed(f"{question}: a module of {len(module)} bytes; takes {LARGEST}")
        packed = base64.b64encode(gzip.compress(module, mtime=0)).decode()
        have = Kept(packed, len(module), numbers, rests_on(described(question).entry))
        folder.mkdir(parents=True, exist_ok=True)
        atomic.write(_file(question, folder), json.dumps(have._asdict(), indent=1) + "\n")
        yield question


def rests_on(entry: Any) -> str:
    """Digest of a compiled function and of all it calls, their constants, and of `compile`."""
    texts: dict[int, str] = {0: _compiler()}
    waiting = [_python(entry)]
    while waiting:
        function = waiting.pop()
        if id(function) in texts:
            continue
        source = _source(function)
        said = [ast.unparse(source)]
        for name, value in sorted(_reads(function, source).items()):
            called = _python(value)
            if called is None:
                said.append(f"{name} = {_constant(value)}")
            elif called.__module__.startswith("lorelab."):
                waiting.append(called)
        texts[id(function)] = "\n".join(said)
    return hashlib.sha256("\n\n".join(sorted(texts.values())).encode()).hexdigest()


@cache
def _compiler() -> str:
    return ast.unparse(_bare(Path(__file__).with_name("compile.py").read_text()))


def _python(value: Any) -> FunctionType | None:
    """The Python function of what is called so; None if it is none."""
    value = getattr(value, "py_func", getattr(value, "_defn", value))
    return value if isinstance(value, FunctionType) else None


def _source(function: FunctionType) -> ast.Module:
    """What a function does: without its docstring, its decorators and its comments."""
    tree = _bare(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    return tree


def _bare(source: str) -> ast.Module:
    """Source without docstrings; its comments are gone as well."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _reads(function: FunctionType, source: ast.Module) -> dict[str, Any]:
    """What a function reads of its module, of the function around it, and of modules of ours."""
    around = inspect.getclosurevars(function).nonlocals
    known = {**function.__globals__, **around}
    names = {node.id for node in ast.walk(source) if isinstance(node, ast.Name)}
    read = {name: known[name] for name in names if name in known}
    for node in ast.walk(source):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = read.get(node.value.id)
            if isinstance(module, ModuleType) and module.__name__.startswith("lorelab."):
                read[f"{node.value.id}.{node.attr}"] = getattr(module, node.attr)
    return read


def _constant(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.descr} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, np.dtype):
        return str(value.descr)
    if isinstance(value, enum.EnumType):
        return str([(member.name, member.value) for member in value])
    if isinstance(value, type) and hasattr(value, "_fields"):
        return str(value._fields)
    if isinstance(value, ModuleType | type) or callable(value):
        return getattr(value, "__qualname__", getattr(value, "__name__", ""))
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    if isinstance(value, int | float | str | np.generic):
        return f"{type(value).__name__} {value}"
    raise TypeError(f"a compiled function reads {value!r}, whose changes nobody would notice")

"""A parameter is called what it is, not what happened to it."""

import ast
from pathlib import Path

import pytest

import lorelab

PACKAGE = Path(lorelab.__file__).parent
REFUSED = {"made", "wanted", "given", "found", "told", "asked", "said"}
"""Participles that were parameters once: a recipe, a request, params, counters, a report."""


def parameters(tree):
    """Line and name of each parameter of each function, whether it is public or not."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    for function in (node for node in ast.walk(tree) if isinstance(node, functions)):
        for one in (node for node in ast.walk(function.args) if isinstance(node, ast.arg)):
            yield one.lineno, one.arg


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()))
def test_no_parameter_is_a_participle(room):
    assert refused(PACKAGE / room) == []


def test_nor_is_one_of_a_file_that_all_share():
    assert refused(PACKAGE, "*.py") == []


def refused(folder, files="**/*.py"):
    return [
        f"{file.relative_to(PACKAGE)}:{line} {name}"
        for file in sorted(folder.glob(files))
        for line, name in parameters(ast.parse(file.read_text()))
        if name in REFUSED
    ]


@pytest.mark.parametrize("code", ["def f(found): ...", "def f(**given): ...", "lambda told: told"])
def test_a_participle_is_noticed(code):
    assert [name for _, name in parameters(ast.parse(code)) if name in REFUSED]

"""The examples in docstrings of the shared library give what they say."""

import ast
import doctest
from importlib import import_module
from pathlib import Path

import pytest

import lorelab
from lorelab.experiments import designs

PACKAGE = Path(lorelab.__file__).parent
SHARED = [
    file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] not in designs()
]
HAVE = [file for file in SHARED if ">>> " in file.read_text()]
SHOWN = (
    *("counters", "params", "user_text", "atomic", "experiments"),
    *("judging/agreement", "judging/equivalence", "judging/rows"),
)
"""What is called from everywhere: here every function has an example."""


def module(file):
    return import_module(".".join(("lorelab", *file.relative_to(PACKAGE).with_suffix("").parts)))


@pytest.mark.parametrize("file", HAVE, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_examples_give_what_they_say(file):
    failed, tried = doctest.testmod(module(file), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("name", SHOWN)
def test_every_public_function_has_one(name):
    tree = ast.parse((PACKAGE / f"{name}.py").read_text())
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name[0] != "_"]
    assert functions
    assert [n.name for n in functions if ">>> " not in ast.get_docstring(n)] == []

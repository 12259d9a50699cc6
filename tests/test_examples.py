"""The examples in docstrings of the shared library give what they say."""

import doctest
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from numba.core.dispatcher import Dispatcher

import lorelab

PACKAGE = Path(lorelab.__file__).parent
DESIGNS = {path.parent.name for path in PACKAGE.glob("*/params.py")}
SHARED = [
    file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] not in DESIGNS
]
HAVE = [file for file in SHARED if ">>> " in file.read_text()]
OUTSIDE = {
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "read_csv", "to_csv"),
    *("exists", "is_file", "is_dir", "stat", "glob", "rglob", "iterdir", "mkdir", "unlink"),
    *("os", "subprocess", "shutil", "tempfile", "fcntl", "time", "metadata", "inspect"),
    *("import_module", "find_spec", "overloads", "Console"),
}
"""Of a function whose code has such a name, the answer depends on the machine or on the tree."""
LARGE = ("altair", "NotebookNode", "Record", "checker.Model")
"""Charts, whole notebooks, stored runs and compiled models, which no line shows."""


def module(file):
    return import_module(".".join(("lorelab", *file.relative_to(PACKAGE).with_suffix("").parts)))


@pytest.mark.parametrize("file", HAVE, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_examples_give_what_they_say(file):
    failed, tried = doctest.testmod(module(file), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0
    assert failed == 0


def names_of(code):
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from names_of(part)


def computes(function, seen):
    """Whether all that it does is in Python: nothing outside, and nothing that is compiled."""
    names = set(names_of(function.__code__))
    reached = [function.__globals__.get(name) for name in names]
    reached += [import_module(name) for name in names if name.startswith("lorelab.")]
    modules = [one for one in reached if isinstance(one, ModuleType)]
    reached += [vars(one).get(name) for one in modules for name in names]
    if names & OUTSIDE or any(isinstance(one, Dispatcher) for one in reached):
        return False
    seen.add(function)
    called = [unwrap(one) for one in reached if callable(one)]
    ours = {one for one in called if isinstance(one, FunctionType) and is_ours(one)}
    return all(computes(one, seen) for one in ours - seen)


def is_ours(function):
    return function.__module__.startswith("lorelab.")


def has_example(function):
    return ">>> " in (function.__doc__ or "")


def needs_example(function):
    types = dict(function.__annotations__)
    gives = types.pop("return", None)
    large = any(name in str(one) for one in (gives, *types.values()) for name in LARGE)
    return bool(types) and gives is not None and not large and computes(unwrap(function), set())


def functions(file):
    """Public functions of a module that are neither commands nor compiled."""
    found = module(file)
    return [
        one
        for name, one in vars(found).items()
        if isinstance(one, FunctionType) and one.__module__ == found.__name__ and name[0] != "_"
    ]


@pytest.mark.parametrize("file", SHARED, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_what_computes_a_value_from_others_has_one(file):
    """See "Examples" in lib/lorelab/README.md."""
    need = [one for one in functions(file) if needs_example(one)]
    assert [one.__name__ for one in need if not has_example(one)] == []

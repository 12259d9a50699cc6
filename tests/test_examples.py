"""The examples in docstrings of the shared library give what they say."""

import doctest
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from numba.core.dispatcher import Dispatcher

import lorelab
from tests.turns import DESIGNS

PACKAGE = Path(lorelab.__file__).parent
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
APART = {
    "lab": "builds kernels, boots guests, and reads what is built and recorded here",
    "book": "builds pages, decks and PDFs, for the commands of `make`",
    "running": "starts notebooks and Dask, for `lorelab run` and `lorelab sweep`",
    "new": "writes and removes a chapter, for `lorelab new`",
    "panel": "compiles for a browser, and shows a form that only one runs",
    "cli.py": "commands",
    "numba_cache.py": "decides where numba keeps code, as lorelab is imported",
    "numba_located.py": "the same, for numba",
    "errors.py": "has no function",
    "__init__.py": "has no function of its own",
}
"""Rooms and files that nobody imports to compute with, and why. A function there has an example if
it computes its answer from its arguments alone; in the rest, the library, every one has."""
WITHOUT = {
    "checker.search_of": "`explore`, for compiled code",
    "checker.way_of": "`path`, for compiled code",
    "checker.back_of": "`never`, for compiled code",
    "checker.fill": "a part of the search, for compiled code",
    "judging.claims.open_questions": "of chapters that `lorelab new` laid out; the book has none",
    "judging.kunit.run": "builds two kernels",
    "judging.kunit.save": "`judging.reproduced.save`, elsewhere",
    "judging.reproduced.run": "boots a guest",
    "judging.upstream.text_of": "reads a file of a kit, whose words change",
    "judging.reproduced.run_here": "runs a reproducer on this machine's own kernel",
    "showing.mirrors.table": "`place` shows a row of it",
    "showing.notebook.sources": "of the records that a page has read until there",
    "showing.chapter_cards.totals": "reads every recorded run, which takes seconds",
    "showing.chapter_cards.machines": "the same",
}
"""Functions of the library without an example, and why."""


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


def library():
    """Public functions of the library by their names, compiled ones too."""
    for file in SHARED:
        if file.relative_to(PACKAGE).parts[0] not in APART:
            home = module(file)
            for name, one in vars(home).items():
                function = unwrap(one.py_func if isinstance(one, Dispatcher) else one)
                own = getattr(function, "__module__", None) == home.__name__
                if own and isinstance(function, FunctionType) and name[0] != "_":
                    yield f"{home.__name__.removeprefix('lorelab.')}.{name}", one


def test_every_function_of_the_library_has_one():
    lacking = {name for name, one in library() if not has_example(one)}
    assert lacking - set(WITHOUT) == set()
    assert set(WITHOUT) - lacking == set(), "have an example, or are gone"


def test_what_is_apart_is_there_and_the_readme_names_it():
    assert set(APART) <= {path.name for path in PACKAGE.iterdir()}
    section = (PACKAGE / "README.md").read_text().partition("## Examples")[2].partition("## ")[0]
    rooms = [name for name in APART if name not in ("errors.py", "__init__.py")]
    assert [name for name in rooms if f"`{name.removesuffix('.py')}" not in section] == []

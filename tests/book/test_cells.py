"""Cells are short, functions stand in the library, and the library has what a cell names."""

import ast
import importlib
import types
from collections.abc import Iterator
from statistics import median

import nbformat
import pytest

import lorelab
from lorelab.book import build

PAGES = build.chapters(build.ROOT)


def code(page: str) -> list[str]:
    cells = nbformat.read(build.ROOT / page, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


@pytest.mark.parametrize("page", PAGES)
def test_cells_are_short(page):
    # A landing page that was just laid out has no code.
    lengths = [lines(source) for source in code(page)] or [0]
    assert median(lengths) <= 6
    assert max(lengths) <= 20


@pytest.mark.parametrize("page", PAGES)
def test_no_cell_defines_a_function(page):
    for source in code(page):
        nodes = ast.walk(ast.parse(source))
        assert not any(isinstance(node, ast.FunctionDef) for node in nodes), source


def imported(tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Names that a page takes from the library, and what they are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "lorelab":
            for name in node.names:
                yield name.asname or name.name, of_library(node.module, name.name)
        elif isinstance(node, ast.Import) and node.names[0].name == "lorelab":
            yield "lorelab", lorelab


def of_library(module: str, name: str) -> object:
    found = getattr(importlib.import_module(module), name, None)
    return found if found is not None else importlib.import_module(f"{module}.{name}")


@pytest.mark.parametrize("page", PAGES)
def test_each_name_of_the_library_exists(page):
    """Before the page is run, which a change elsewhere need not cause."""
    trees = [ast.parse(source) for source in code(page)]
    modules = {
        name: one
        for tree in trees
        for name, one in imported(tree)
        if isinstance(one, types.ModuleType)
    }
    missing = [
        f"{node.value.id}.{node.attr}"
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in modules and not hasattr(modules[node.value.id], node.attr)
    ]
    assert not missing

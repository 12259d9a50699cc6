"""Cells are short, and functions stand in the library, where they are tested."""

import ast
from statistics import median

import nbformat
import pytest

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

"""Set-up, checks and asserts are folded in the book; whatever shows something stays."""

import nbformat
import pytest

from lorelab.book.fold import fold


def folded(source: str, *tags: str, outputs: bool = False) -> list[str]:
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)} if tags else {})
    if outputs:
        cell.outputs = [nbformat.v4.new_output("stream", text="said")]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("import x"), cell])
    fold(notebook)
    assert "tags" not in notebook.cells[0].metadata
    return cell.metadata.get("tags", [])


@pytest.mark.parametrize(
    "source",
    [
        "import pandas as pd\n\nfrom lorelab import charts\n\npd.set_option('x', None)",
        "given = lorelab.check('swap/usemem', seed=seed)",
        "assert total == 3\nassert rows",
    ],
)
def test_what_shows_nothing_is_folded(source):
    assert folded(source) == ["hide-cell"]
    assert folded(source, outputs=True) == ["hide-input"]
    assert folded(source, "slide") == ["slide", "hide-cell"]


@pytest.mark.parametrize(
    "source", ["", "assert rows\nrows", "%magic here", "x = 1", "import a\na.show()"]
)
def test_what_shows_something_is_not(source):
    assert folded(source) == []


def test_what_only_leads_up_to_an_assert_is_folded_unless_it_shows_something():
    assert folded("late = rows[1:]\nassert late") == ["hide-cell"]
    assert folded("late = rows[1:]\nassert late", outputs=True) == []
    assert folded("assert rows\nlate = rows[1:]") == []


def test_tags_of_the_page_come_first():
    assert folded("seed: int = 1", "parameters") == ["parameters"]
    assert folded("import a", "hide-input") == ["hide-input"]

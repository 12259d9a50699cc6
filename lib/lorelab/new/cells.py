"""Pages out of text: a line `%% code|markdown ID [MARK ...]` begins each cell."""

import re

import nbformat
from nbformat import NotebookNode

CELL = re.compile(r"^%% (code|markdown) (\S+)(.*)\n", re.M)
SLIDE = {"slideshow": {"slide_type": "slide"}}
MARKS = {
    "hide": {"tags": ["hide-cell"]},
    "parameters": {"tags": ["parameters"]},
    "slide": SLIDE,
    "to-do": SLIDE
    | {
        "slide": {
            "title": "What to do, and what to send",
            "text": ["- Empty so far", "", "**To send: nothing yet.**"],
        }
    },
}
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def cells(text: str) -> list[NotebookNode]:
    """The cells of a text."""
    _, *parts = CELL.split(text)
    page_cells = []
    for kind, name, marks, source in zip(*(iter(parts),) * 4, strict=True):
        make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        metadata = {key: value for mark in marks.split() for key, value in MARKS[mark].items()}
        page_cells.append(make(source.rstrip("\n"), id=name, metadata=metadata))
    return page_cells


def notebook(text: str) -> str:
    r"""A page as its file has it, without outputs.

    Examples
    --------
    >>> page = notebook("%% markdown title slide\n# Tiny\n%% code imports\nimport lorelab\n")
    >>> [(cell.id, cell.source) for cell in nbformat.reads(page, 4).cells]
    [('title', '# Tiny'), ('imports', 'import lorelab')]
    """
    page = nbformat.v4.new_notebook(cells=cells(text), metadata=KERNEL)
    return _written(page)


def add(page: str, text: str) -> str:
    r"""A page with cells more at its end.

    Examples
    --------
    >>> page = add(notebook("%% markdown title\n# Tiny\n"), "%% code more\nlorelab.list()\n")
    >>> [cell.id for cell in nbformat.reads(page, 4).cells]
    ['title', 'more']
    """
    opened = nbformat.reads(page, 4)
    opened.cells += cells(text)
    return _written(opened)


def take(page: str, names: set[str]) -> str:
    r"""A page without the cells of these names.

    Examples
    --------
    >>> page = notebook("%% markdown title\n# Tiny\n%% code more\nlorelab.list()\n")
    >>> [cell.id for cell in nbformat.reads(take(page, {"more"}), 4).cells]
    ['title']
    """
    opened = nbformat.reads(page, 4)
    opened.cells = [cell for cell in opened.cells if cell.id not in names]
    return _written(opened)


def _written(page: NotebookNode) -> str:
    return nbformat.writes(page) + "\n"

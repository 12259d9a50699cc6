"""A kernel function that a page names is a link to its source, where the page first names it.

`data/kernel-sources.csv` has file and line of each in the source of 6.12.117, which the laboratory
builds. Pages about other kernels link by hand; a link that is there already counts as the first.
"""

import csv
import re
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

TABLE = Path(__file__).parents[3] / "data/kernel-sources.csv"
URL = "https://elixir.bootlin.com/linux/v6.12.117/source/{file}#L{line}"
OTHER_KERNEL = {
    "damon/mainline",
    *(f"fairzone/{page}" for page in ("index", "thread", "model", "answers", "today", "questions")),
}
"""Pages that speak of functions as 7.3 or 3.15 has them."""
TOKEN = re.compile(
    r"```.*?```|<!--.*?-->|^(?:#| {4})[^\n]*|\[(?:`[^`]*`|[^\[\]`])*\]\([^)]*\)"
    r"|`(?P<name>_{0,4}[a-z]\w*)\(\)`",
    re.DOTALL | re.MULTILINE,
)
NAMED = re.compile(r"`(_{0,4}[a-z]\w*)\(\)`")


@cache
def places() -> dict[str, str]:
    """Addresses of kernel functions, by name."""
    with TABLE.open(newline="") as file:
        return {row["function"]: URL.format(**row) for row in csv.DictReader(file)}


def link(notebook: NotebookNode, name: str) -> None:
    """Make the functions of a page, called by its name in the book, links in place."""
    if name in OTHER_KERNEL:
        return
    seen: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = linked(cell.source, seen)


def linked(text: str, seen: set[str]) -> str:
    """The text with a link at each function that is not `seen` yet; adds those that it names.

    Examples
    --------
    >>> seen = set()
    >>> linked("`do_read_fault()`, and `do_read_fault()` again; `fork()`", seen).count("](https://")
    1
    >>> linked("[`do_fault_around()`](a) of `do_fault_around()`", seen)
    '[`do_fault_around()`](a) of `do_fault_around()`'
    """

    def one(match: re.Match) -> str:
        name = match["name"]
        if name is None:  # code, a heading, or a link that is there
            seen.update(NAMED.findall(match[0]) if match[0].startswith("[") else ())
            return match[0]
        if name in seen or name not in places():
            return match[0]
        seen.add(name)
        return f'[{match[0]}]({places()[name]} "6.12.117")'

    return TOKEN.sub(one, text)

"""What the pages at the end of the book list: kernel functions, and the messages and commits.

Computed from the text of the pages, so that neither list can be wrong about them.
"""

import json
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pandas as pd

from lorelab.book import build

FUNCTION = re.compile(r"`(_{0,3}[a-z][a-z0-9_]*)\(\)`")
LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")
MESSAGES = ("lore.kernel.org", "lkml.org", "lkml.iu.edu", "marc.info", "lists.openwall.net")
COMMITS = ("git.kernel.org/linus", "git.kernel.org/stable/c", "github.com/torvalds/linux/commit")
SOURCE = ("elixir.bootlin.com", "git.kernel.org/pub")


class Pages:
    """A table whose last column has links to pages of the book."""

    def __init__(self, table: pd.DataFrame):
        self.table = table

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.table.columns)
        rows = "\n".join(
            f"<tr><td>{first}</td>" + "".join(f"<td>{_links(pages)}</td>" for pages in rest)
            for first, *rest in self.table.itertuples(index=False)
        )
        above = f'<table class="dataframe"><thead><tr>{head}</tr></thead>'
        return f"{above}<tbody>\n{rows}\n</tbody></table>"


def functions(root: Path = build.ROOT) -> pd.DataFrame:
    """Kernel functions that pages name, by name: `function` (HTML) and its `pages`."""
    pages_of: dict[str, list[str]] = {}
    for page, text in _texts(root):
        for name in dict.fromkeys(FUNCTION.findall(text)):
            pages_of.setdefault(name, []).append(page)
    rows = sorted(pages_of.items(), key=lambda item: item[0].lstrip("_"))
    return pd.DataFrame(
        [(f"<code>{name}()</code>", pages) for name, pages in rows], columns=["function", "pages"]
    )


def sources(sites: Iterable[str], root: Path = build.ROOT) -> pd.DataFrame:
    """Links of pages to `sites`, in the order of the book: `source` (HTML) and its `pages`.

    A source is called what the first page that links to it calls it.
    """
    named: dict[str, str] = {}
    pages_of: dict[str, list[str]] = {}
    for page, text in _texts(root):
        for name, address in LINK.findall(text):
            if any(site in address for site in sites):
                named.setdefault(address, name.strip("`*"))
                pages = pages_of.setdefault(address, [])
                if page not in pages:
                    pages.append(page)
    rows = [
        (
            f'<a href="{escape(address)}">{escape(named[address])}</a><br><small>'
            f"{escape(address.partition('://')[2])}</small>",
            pages,
        )
        for address, pages in pages_of.items()
    ]
    return pd.DataFrame(rows, columns=["source", "pages"])


def _texts(root: Path) -> Iterable[tuple[str, str]]:
    """Text of each page of the chapters."""
    for name in build.chapters(root):
        page = str(Path(name).relative_to("notebooks").with_suffix(""))
        if "/" in page:
            cells = json.loads((root / name).read_text())["cells"]
            yield (
                page,
                "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown"),
            )


def _links(pages: list[str]) -> str:
    return ", ".join(f'<a href="{page}.html">{page}</a>' for page in pages)

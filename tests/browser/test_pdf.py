"""The whole book as one PDF: every page of its table of contents, in order, and no file's name."""

import pytest
from pypdf import PdfReader

from lorelab.book import pdf
from lorelab.errors import RunFailed
from tests.browser.pages import chromium

PAGE = """<!doctype html><title>{name} — lorelab</title><article><h1>{name}</h1>
<p>All of {name}. <a href="#here">Below</a>, <a href="other.html">another page</a>,
<a href="https://lore.kernel.org/r/1">a message</a>.</p><p id="here">Here.</p></article>"""


@pytest.fixture
def root(tmp_path):
    """A checkout with a book of two pages that was built."""
    (tmp_path / "book").mkdir()
    toc = "format: jb-book\nroot: first\nparts:\n- chapters:\n  - file: part/second\n"
    (tmp_path / "book/_toc.yml").write_text(toc)
    for name in ("first", "part/second"):
        for file, text in (
            (tmp_path / f"notebooks/{name}.ipynb", "{}"),
            (tmp_path / f"build/book/{name}.html", PAGE.format(name=name.title())),
        ):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return tmp_path


def test_all_pages_in_the_order_of_the_book(root):
    with chromium():
        pass  # skips, or fails in CI, where there is none
    read = PdfReader(pdf.whole(root))
    assert [entry.title for entry in read.outline] == ["First", "Part/Second"]
    said = [page.extract_text() for page in read.pages]
    assert len(said) == 2
    assert "All of First" in said[0]
    assert "All of Part/Second" in said[1]
    linked = [
        note.get_object()["/A"].get("/URI", "")
        for page in read.pages
        for note in page.get("/Annots", [])
        if "/A" in note.get_object()
    ]
    assert linked == ["https://lore.kernel.org/r/1"] * 2


def test_a_page_that_is_never_ready_leaves_no_book(root, monkeypatch):
    with chromium():
        pass
    monkeypatch.setattr("lorelab.book.chromium.PATIENCE", 500)
    page = root / "build/book/first.html"
    page.write_text(page.read_text() + '<span class="math">x</span>')
    with pytest.raises(RunFailed, match=r"first.html: not printed"):
        pdf.whole(root)
    assert not (root / "build/talk/book.pdf").exists()

"""The rendered book follows its pages: rendered when one changed, never with a warning."""

import shutil

import nbformat
import pytest

from lorelab.book import build
from lorelab.book.verdicts import MIME
from lorelab.errors import BadInput, RunFailed


def write(root, text: str, code: str = "1 + 1") -> None:
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(code)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "notebooks/page.ipynb")


@pytest.fixture
def root(tmp_path):
    shutil.copytree(build.ROOT / "book", tmp_path / "book")
    (tmp_path / "book/_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "notebooks").mkdir()
    write(tmp_path, "# Title\n\nfirst text")
    return tmp_path


def test_a_page_that_changed_is_rendered_and_one_that_did_not_is_not(root, monkeypatch):
    page = build.build(root).with_name("page.html")
    assert "first text" in page.read_text()
    rendered = page.stat().st_mtime_ns
    build.build(root)
    assert page.stat().st_mtime_ns == rendered

    write(root, "# Title\n\nsecond text")
    monkeypatch.setattr(build, "_run", lambda *_: pytest.fail("text alone runs nothing"))
    build.build(root)
    assert "second text" in page.read_text()


def test_a_page_is_drawn_anew_when_the_code_that_draws_changed(root, monkeypatch):
    code = root / "draws.py"
    code.write_text("old")
    monkeypatch.setattr(build, "RENDER_SOURCES", [code])
    page = build.build(root).with_name("page.html")
    monkeypatch.setattr(build, "caption", lambda _: pytest.fail("nothing changed"))
    build.build(root)

    drawn = []
    monkeypatch.setattr(build, "caption", drawn.append)
    code.write_text("new")
    rendered = page.stat().st_mtime_ns
    build.build(root)
    assert drawn and page.stat().st_mtime_ns > rendered


def test_a_warning_fails_the_build_every_time_and_leaves_the_book_that_was_there(root):
    page = build.build(root).with_name("page.html")
    write(root, "# Title\n\n[nowhere](nothing.ipynb)")
    for _ in range(2):
        with pytest.raises(RunFailed, match=r"does not build:\n.*page\.ipynb.*nothing\.ipynb"):
            build.build(root)
    assert "first text" in page.read_text()


def test_a_chapter_that_is_not_there_is_named(root):
    (root / "book/_toc.yml").write_text("format: jb-book\nroot: absent\n")
    with pytest.raises(BadInput, match=r"names notebooks/absent\.ipynb, which is not there"):
        build.build(root)


def test_every_notebook_is_in_the_book():
    there = {
        str(path.relative_to(build.ROOT))
        for path in (build.ROOT / "notebooks").rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
    }
    assert there == set(build.chapters(build.ROOT))


def test_outputs_are_stored_alike_each_time(root):
    write(root, "# Title", "print('a')\nprint('b')\n{1: 2}")
    assert build.store(root) == ["notebooks/page.ipynb"]
    stored = (root / "notebooks/page.ipynb").read_bytes()
    shutil.rmtree(root / "build")
    assert build.store(root) == []
    assert (root / "notebooks/page.ipynb").read_bytes() == stored


def test_verdicts_that_the_ledger_does_not_show_fail_the_build(root):
    """It reads those stored in the page, and the book would show those of a fresh run."""
    show = f"from IPython.display import publish_display_data as show; show({{{MIME!r}: %s}})"
    write(root, "# Title", show % '{"verdict": "holds"}')
    with pytest.raises(RunFailed, match=r"page\.ipynb: its verdicts are no longer those stored"):
        build.build(root)
    assert build.store(root) == ["notebooks/page.ipynb"]
    build.build(root)
    write(root, "# Title", show % '{"verdict": "contradicted"}')
    with pytest.raises(RunFailed, match="run `make outputs`, then build again"):
        build.build(root)

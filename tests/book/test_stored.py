"""A fresh clone shows the outputs stored in its notebooks, as long as they are what a run gives."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from lorelab.book import build, cache
from lorelab.book.__main__ import cli
from lorelab.errors import BadInput
from tests.book.test_cache import NAME, Checkout, settle, source

OTHER = "notebooks/part/other.ipynb"
BESIDE = "notebooks/.rests-on"


class Clone(Checkout):
    """A checkout of two pages, of which the second rests on no package and one module alone."""

    def fill(self) -> None:
        super().fill()
        cells = ["import sys\nsys.path.insert(0, '../../lib')\nimport unrelated", "print('a\\nb')"]
        page = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
        self.write(OTHER, nbformat.writes(page))
        toc = "format: jb-book\nroot: page\nparts:\n- chapters:\n  - file: part/other\n"
        self.write("book/_toc.yml", toc)

    def kept(self) -> list[bytes]:
        files = sorted((self.root / "notebooks").rglob("*.ipynb"))
        return [
            file.read_bytes() for file in [*files, *sorted(self.root.glob(f"{BESIDE}/**/*.json"))]
        ]

    def stale(self) -> list[str]:
        """Pages that would run."""
        found = []

        async def run(notebooks, root):
            found.extend(notebooks)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "_run", run)
            build.executed([NAME, OTHER], self.root)
        return found


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    made = Clone(tmp_path_factory.mktemp("stored"))
    made.fill()
    settle()
    assert build.store(made.root) == [NAME, OTHER]
    return made


@pytest.fixture
def clone(stored, tmp_path):
    shutil.copytree(stored.root, tmp_path / "checkout", ignore=shutil.ignore_patterns("build"))
    return Clone(tmp_path)


def test_a_fresh_clone_runs_nothing_and_has_what_was_stored(clone, stored):
    assert clone.stale() == []
    shown = build.executed([NAME, OTHER], clone.root)
    assert shown[NAME].cells[4].outputs[0].data["text/plain"] == "2"
    assert shown[OTHER].cells[1].outputs[0].text == "a\nb\n"
    before = clone.kept()
    assert build.store(clone.root) == []
    assert clone.kept() == before
    assert not (clone.root / "build").exists()


@pytest.mark.parametrize(
    ("name", "text", "stale"),
    [
        ("lib/indirect.py", "X = 5", [NAME]),
        ("lib/unrelated.py", "X = 2", [OTHER]),
        ("data/many/new.txt", "3", [NAME]),
        ("data/other.txt", "2", []),
        ("notes.md", "changed", []),
    ],
)
def test_a_file_that_changed_reruns_the_pages_that_rest_on_it(clone, name, text, stale):
    clone.write(name, text)
    assert clone.stale() == stale


def test_a_package_reruns_the_pages_that_import_it(clone, monkeypatch):
    installed = cache.versions
    monkeypatch.setattr(cache, "versions", lambda name: installed(name) if name != "pandas" else "")
    assert clone.stale() == [NAME]


def test_code_reruns_and_text_does_not(clone):
    clone.edit(source(0, "new text"))
    assert clone.stale() == []
    clone.edit(source(1, "scale: int = 2"))
    assert clone.stale() == [NAME]


def test_outputs_edited_by_hand_or_lost_are_not_believed(clone):
    def edited(page):
        page.cells[4].outputs[0].data["text/plain"] = "3"

    clone.edit(edited)
    assert clone.stale() == [NAME]
    (clone.root / BESIDE / "part/other.json").unlink()
    assert clone.stale() == [NAME, OTHER]


def test_what_is_kept_names_no_machine(clone, stored):
    kept = (clone.root / BESIDE / "page.json").read_text()
    assert str(stored.root.parent) not in kept
    assert {"lib/direct.py", "data/table.csv"} <= json.loads(kept)["basis"]["files"].keys()
    assert not any(Path(name).is_absolute() for name in json.loads(kept)["basis"]["files"])


def test_only_the_pages_named_are_stored(clone):
    clone.edit(source(1, "scale: int = 2"))
    clone.write("lib/unrelated.py", "X = 2")
    settle()
    assert build.store(clone.root, [OTHER]) == []
    assert clone.stale() == [NAME]
    with pytest.raises(BadInput, match=r"nothing.ipynb: takes pages of book/_toc.yml"):
        build.store(clone.root, ["nothing.ipynb"])


@pytest.mark.parametrize("entry", [[], {}, {"basis": 1, "outputs": ""}, {"basis": {"files": {}}}])
def test_what_has_another_shape_is_not_believed(clone, entry):
    clone.write(f"{BESIDE}/page.json", json.dumps(entry))
    assert clone.stale() == [NAME]


def test_a_page_that_cannot_run_before_a_chapter_is_stored_is_stored_after_it(clone):
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print('new ' 'chapter')")])
    clone.write(OTHER, nbformat.writes(page))
    shows = "open('part/other.ipynb').read().index('new chapter') > 0"
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(shows)])
    clone.write(NAME, nbformat.writes(page))
    settle()
    assert set(build.store(clone.root)) == {NAME, OTHER}


def test_a_page_that_shows_another_is_stored_after_it(clone):
    cells = [
        "from pathlib import Path",
        "'scale: int = 2' in Path('../page.ipynb').read_text(), "
        "Path('../page.ipynb').read_text().count('outputs')",
    ]
    page = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    clone.write(OTHER, nbformat.writes(page))
    clone.edit(source(1, "scale: int = 2"))
    settle()
    assert set(build.store(clone.root)) == {NAME, OTHER}
    assert clone.stale() == []


def test_a_page_is_due_when_what_it_rests_on_changed_and_once_in_five_turns(clone):
    names = [NAME, OTHER]
    turns = [build.due(turn, clone.root) for turn in range(5)]
    assert [changed for changed, _ in turns] == [[]] * 5
    assert [in_turn for _, in_turn in turns] == [[NAME], [OTHER], [], [], []]
    assert build.due(5, clone.root) == turns[0]
    clone.write("lib/unrelated.py", "X = 2")
    assert build.due(0, clone.root) == ([OTHER], [NAME])
    assert build.due(1, clone.root) == ([OTHER], [])
    clone.write("lib/indirect.py", "X = 5")
    assert build.due(3, clone.root) == (names, [])


def test_pages_due_are_printed_and_why_is_said(monkeypatch):
    """In the Makefile's hands only the names are on stdout."""
    asked = []
    monkeypatch.setattr(build, "due", lambda turn: asked.append(turn) or (["a.ipynb"], ["b.ipynb"]))
    for day in range(6):
        done = CliRunner().invoke(cli, ["due", str(day * 86400 + 86399)])
        assert done.exit_code == 0 and done.stdout == "a.ipynb\nb.ipynb\n"
        assert f"part {day % 5 + 1} of 5" in done.stderr and "1 whose outputs rest" in done.stderr
    assert asked == [0, 1, 2, 3, 4, 0]

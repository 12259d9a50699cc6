"""A notebook runs again when something its results rest on changed, and not otherwise."""

import os
import shutil
import time
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from lorelab.book import build, cache
from lorelab.errors import RunFailed

NAME = "notebooks/page.ipynb"
CELLS = [
    "scale: int = 1  # the parameters cell",
    "import sys\nsys.path.insert(0, '../lib')\nimport direct",
    "import pandas as pd\npd.read_csv('../data/table.csv')['a'].sum() * scale",
    "direct.answer()",
    "open('../../runs', 'a').write('ran ')",
]
LIBRARY = {
    "direct": (
        "import indirect\ndef answer():\n    import late\n    return indirect.X + late.read()"
    ),
    "indirect": "X = 1",
    "late": (
        "from pathlib import Path\n"
        "DATA = Path(__file__).parents[1] / 'data'\n"
        "def read():\n"
        "    return sum(int(p.read_text()) for p in (DATA / 'many').glob('*.txt'))"
    ),
    "unrelated": "",
}


class Checkout:
    """A small checkout with one notebook that counts its own runs."""

    def __init__(self, folder: Path):
        self.root = folder / "checkout"
        self.runs = folder / "runs"

    def fill(self) -> None:
        code = map(nbformat.v4.new_code_cell, CELLS)
        page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("text"), *code])
        for name, text in LIBRARY.items():
            self.write(f"lib/{name}.py", text)
        self.write("data/many/a.txt", "1")
        self.write("data/other.txt", "1")
        self.write("notes.md", "")
        self.table([1, 2])
        self.write(NAME, nbformat.writes(page))

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def table(self, values: list[int]) -> None:
        pd.DataFrame({"a": values}).to_csv(self.root / "data/table.csv", index=False)

    def edit(self, change) -> None:
        page = nbformat.read(self.root / NAME, as_version=4)
        change(page)
        nbformat.write(page, self.root / NAME)

    def run(self) -> nbformat.NotebookNode:
        return build.executed([NAME], self.root)[NAME]

    def count(self) -> int:
        return len(self.runs.read_text().split())

    def reruns(self) -> bool:
        before = self.count()
        self.run()
        return self.count() > before


def settle() -> None:
    """A file changed in the same instant as a run starts would count as changed during it."""
    time.sleep(0.02)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A checkout whose notebook has run once."""
    made = Checkout(tmp_path_factory.mktemp("ran"))
    made.fill()
    settle()
    made.run()
    assert made.count() == 1
    return made


@pytest.fixture
def checkout(ran, tmp_path):
    shutil.copytree(ran.root.parent, tmp_path / "copy")
    return Checkout(tmp_path / "copy")


def source(index: int, text: str):
    def change(page):
        page.cells[index].source = text

    return change


def other_metadata(page):
    page.metadata["when"] = "2026-11-20T00:00:00Z"
    for cell in page.cells:
        cell.id = "new-" + cell.id
        cell.metadata["execution"] = {"iopub.execute_input": "2026-11-20T00:00:00Z"}
        if cell.cell_type == "code":
            cell.execution_count = 99
            cell.outputs = []


def test_what_does_not_matter_changes_nothing(checkout):
    checkout.write("lib/unrelated.py", "X = 2")
    checkout.write("lib/new.py", "X = 2")
    checkout.write("data/other.txt", "2")
    checkout.write("notes.md", "changed")
    for file in checkout.root.rglob("*"):
        if "build" not in file.parts:
            os.utime(file)
    checkout.edit(source(0, "new text"))
    checkout.edit(other_metadata)
    assert not checkout.reruns()
    page = checkout.run()
    assert page.cells[0].source == "new text"
    assert page.cells[3].outputs[0].data["text/plain"] == "np.int64(3)"
    assert page.cells[4].outputs[0].data["text/plain"] == "2"


def test_own_code_and_parameters(checkout):
    checkout.edit(source(1, "scale: int = 2"))
    settle()
    assert checkout.run().cells[3].outputs[0].data["text/plain"] == "np.int64(6)"
    checkout.edit(lambda page: page.cells[4].metadata.update(tags=["raises-exception"]))
    assert checkout.reruns()
    assert not checkout.reruns()


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("lib/direct.py", LIBRARY["direct"] + " * 10", "11"),
        ("lib/indirect.py", "X = 5", "6"),
        ("lib/late.py", LIBRARY["late"].replace("sum(", "7 + sum("), "9"),
        ("data/many/a.txt", "4", "5"),
        ("data/many/new.txt", "3", "5"),
    ],
)
def test_library_and_data_however_far(checkout, name, text, answer):
    checkout.write(name, text)
    settle()
    assert checkout.run().cells[4].outputs[0].data["text/plain"] == answer
    assert checkout.count() == 2
    assert not checkout.reruns()


def test_data_that_pandas_reads(checkout):
    checkout.table([1, 2, 3])
    settle()
    assert checkout.run().cells[3].outputs[0].data["text/plain"] == "np.int64(6)"


def test_an_installed_version(checkout, monkeypatch):
    monkeypatch.setattr(cache, "environment", lambda: "another")
    assert checkout.reruns()
    assert not checkout.reruns()


def test_a_package_that_was_imported(checkout, monkeypatch):
    installed = cache.versions

    def upgraded(name):
        return lambda package: f"{name} 99" if package == name else installed(package)

    for name, reruns in (("pandas", True), ("sphinx", False), ("not_there", False)):
        monkeypatch.setattr(cache, "versions", upgraded(name))
        assert checkout.reruns() == reruns, name
        monkeypatch.setattr(cache, "versions", installed)
        checkout.run()


def test_a_package_that_was_looked_for_in_vain(checkout, monkeypatch):
    checkout.edit(source(1, "try:\n    import faster\nexcept ImportError:\n    pass\nscale = 1"))
    settle()
    assert checkout.reruns()
    monkeypatch.setattr(cache, "_providers", lambda: {"faster": ["click"]})
    cache.versions.cache_clear()
    assert checkout.reruns()
    cache.versions.cache_clear()


def test_a_vanished_file_runs_and_fails(checkout):
    (checkout.root / "data/table.csv").unlink()
    with pytest.raises(RunFailed, match=r"page\.ipynb, code cell 3 .*FileNotFoundError"):
        checkout.run()


def test_a_kept_run_cut_short_or_edited_is_not_believed(checkout):
    kept = checkout.root / "build/notebooks/page.json"
    text = kept.read_text()
    kept.write_text(text.replace("np.int64(3)", "np.int64(4)"))
    assert checkout.reruns()
    kept.write_text(text[: len(text) // 2])
    assert checkout.reruns()
    assert not checkout.reruns()


def test_a_module_that_changes_during_the_run_is_not_kept(checkout):
    checkout.edit(
        source(
            5,
            CELLS[4].replace("{runs}", str(checkout.runs))
            + "\nopen('../lib/late.py', 'a').write('#')",
        )
    )
    assert checkout.reruns()
    assert checkout.reruns()


def test_a_failing_cell_is_named_and_the_other_notebooks_are_kept(checkout):
    bad = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("x = 1"), nbformat.v4.new_code_cell("x / 0")]
    )
    checkout.write("notebooks/bad.ipynb", nbformat.writes(bad))
    checkout.edit(source(1, "scale: int = 3"))
    settle()
    with pytest.raises(RunFailed) as told:
        build.executed([NAME, "notebooks/bad.ipynb"], checkout.root)
    assert str(told.value) == (
        "notebooks/bad.ipynb, code cell 2 (x / 0): ZeroDivisionError: division by zero"
    )
    assert not checkout.reruns()


def test_a_kernel_that_dies_is_named(checkout):
    checkout.edit(source(2, "import os; os._exit(3)"))
    with pytest.raises(RunFailed) as told:
        checkout.run()
    cell = "code cell 2 (import os; os._exit(3))"
    assert str(told.value).endswith(f"{cell}: its kernel ended with exit status 3")


def test_data_has_no_file_that_is_read_past_python():
    suffixes = {file.suffix for file in (build.ROOT / "data").rglob("*") if file.is_file()}
    assert suffixes - {".csv", ".json", ".md", ".txt", ".data"} == set(), "see lorelab.book.watch"

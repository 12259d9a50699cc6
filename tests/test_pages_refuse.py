"""Every page that takes parameters says which, and refuses by itself what does not fit.

Plain papermill only puts a cell with the new values after the one tagged `parameters`; the page's
next cell has to refuse them, before any work. That cell and those before it are what runs here.
"""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from lorelab.errors import BadInput
from lorelab.running import rerun

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    str(file.relative_to(ROOT / "notebooks")): rerun.described(file)
    for file in sorted((ROOT / "notebooks").rglob("*.ipynb"))
    if ".ipynb_checkpoints" not in file.parts
}
UNFIT = {"bool": "perhaps", "float": "x", "int": 1.5, "str": "no-such-thing"}
EACH = [
    (page, row.parameter, UNFIT[row.type])
    for page, found in PAGES.items()
    for row in found.itertuples()
]


def test_there_are_pages_of_each_kind():
    types = {row.type for found in PAGES.values() for row in found.itertuples()}
    assert types == set(UNFIT) and len(EACH) > 30


def test_each_parameter_is_told_with_what_it_takes():
    untold = []
    for page, found in PAGES.items():
        told = found["takes"].ne("") | found["type"].eq("str") | (page == "damon/recording.ipynb")
        untold += [f"{page}: {name}" for name in found["parameter"][~told]]
        untold += [
            f"{page}: {name}" for name in found["parameter"][found["meaning"].str.len().le(3)]
        ]
    assert untold == []


@pytest.mark.parametrize("page", [page for page, found in PAGES.items() if len(found)])
def test_a_page_refuses_what_does_not_fit(page, monkeypatch):
    """One parameter after the other: the cells up to their values run once."""
    file = ROOT / "notebooks" / page
    monkeypatch.chdir(file.parent)
    code = [c for c in nbformat.read(file, as_version=4).cells if c.cell_type == "code"]
    tagged = next(n for n, c in enumerate(code) if "parameters" in c.metadata.get("tags", []))
    fits = {}
    for cell in code[: tagged + 1]:
        exec(cell.source, fits)
    taken = []
    for name, value in ((name, value) for where, name, value in EACH if where == page):
        assert name in fits
        try:
            exec(code[tagged + 1].source, {**fits, name: value})
            taken.append(f"{name}={value}")
        except BadInput as refused:
            if str(value) not in str(refused):
                taken.append(f"{name}={value}: {refused}")
    assert taken == []


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("segments", "99", "segments=99: takes a value less than or equal to"),
        ("segment", "3", "unknown parameter segment: takes "),
    ],
)
def test_plain_papermill_stops_at_the_check(tmp_path, name, value, told):
    """papermill keeps the page up to the cell that refused, and says which it was."""
    command = [sys.executable, "-m", "papermill", ROOT / "notebooks/gso/model.ipynb"]
    out = tmp_path / "out.ipynb"
    done = subprocess.run(
        [*command, out, "-p", name, value, "--log-output", "-k", "python3"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert done.returncode != 0
    assert f"BadInput: {told}" in done.stderr
    ran = [c.execution_count for c in nbformat.read(out, as_version=4).cells if "outputs" in c]
    assert sum(count is not None for count in ran) <= 5

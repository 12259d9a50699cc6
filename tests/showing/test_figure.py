"""A stored chart comes out of its page as it is there, in three kinds of file."""

import altair as alt
import nbformat
import pandas as pd
import pytest

from lorelab.errors import BadInput, RunFailed
from lorelab.showing import charts, figure


@pytest.fixture
def folder(tmp_path):
    """Pages of one design: one of them with two charts."""
    rows = pd.DataFrame({"x": [1, 2], "y": [3, 4]})
    cells = []
    for title in ("First", "Second <!-- odd -->"):
        chart = alt.Chart(rows, title=title).mark_line().encode(x="x", y="y").to_dict()
        cell = nbformat.v4.new_code_cell("chart")
        cell.outputs = [nbformat.v4.new_output("display_data", charts.render(chart))]
        cells += [cell, nbformat.v4.new_markdown_cell("Text.")]
    (tmp_path / "gso").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "gso/model.ipynb")
    return tmp_path


def test_charts_have_the_name_of_their_page_and_a_number(folder):
    found = figure.figures(folder)
    assert {name: figure.title(spec) for name, spec in found.items()} == {
        "gso/model-1": "First",
        "gso/model-2": "Second <!-- odd -->",
    }


@pytest.mark.parametrize(
    ("suffix", "begins"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF")]
)
def test_the_file_is_what_its_name_says(folder, tmp_path, suffix, begins):
    file = tmp_path / f"drawn{suffix}"
    figure.draw("gso/model-1", file, folder)
    assert file.read_bytes().startswith(begins)
    assert not list(tmp_path.glob("*.part"))


def test_bad_input_says_what_to_do(folder, tmp_path):
    with pytest.raises(BadInput, match="lists all"):
        figure.draw("gso/model-3", tmp_path / "a.svg", folder)
    with pytest.raises(BadInput, match=r"ends in \.svg"):
        figure.draw("gso/model-1", tmp_path / "a.gif", folder)
    with pytest.raises(RunFailed, match="another place"):
        figure.draw("gso/model-1", tmp_path / "missing/a.svg", folder)
    assert {path.name for path in tmp_path.iterdir()} == {"gso"}

"""Tables of a benchmark that were kept are those that were printed, or are not read."""

import pandas as pd
import pytest
from rich.table import Table

from bench.__main__ import DESIGNS, cells
from lorelab.errors import BadInput
from lorelab.showing import benches


@pytest.fixture
def kept(tmp_path):
    table = Table(title="gso/traffic, ns a packet")
    for column in ("load", "C -O3"):
        table.add_column(column)
    table.add_row("bulk", "12.5")
    table.add_row("taps", "14.0")
    benches.keep("gso", {table.title: cells(table)}, tmp_path)
    return tmp_path


def test_what_is_kept_is_what_was_printed(kept):
    [(title, table)] = benches.read("gso", kept).tables.items()
    assert title == "gso/traffic, ns a packet"
    expected = pd.DataFrame({"load": ["bulk", "taps"], "C -O3": ["12.5", "14.0"]})
    pd.testing.assert_frame_equal(table, expected)


def test_it_says_where_it_comes_from(kept):
    assert {"date", "processor", "python", "numba"} <= set(benches.machines(("gso",), kept))


def test_an_edited_table_is_refused(kept):
    file = kept / "gso.json"
    file.write_text(file.read_text().replace("12.5", "11.5"))
    with pytest.raises(BadInput, match="was edited"):
        benches.read("gso", kept)


def test_a_table_that_was_cut_or_is_missing_is_refused(kept):
    file = kept / "gso.json"
    file.write_text(file.read_text()[:40])
    with pytest.raises(BadInput, match="is no table of a benchmark"):
        benches.read("gso", kept)
    with pytest.raises(BadInput, match="python -m bench --keep swap makes it"):
        benches.read("swap", kept)


def test_the_kept_tables_are_whole():
    for file in benches.FOLDER.glob("*.json"):
        assert file.stem in DESIGNS and benches.read(file.stem).tables

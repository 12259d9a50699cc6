"""What readers bring is read right: the small inputs of tests/files, through the command line."""

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from lorelab.cli import cli
from lorelab.running.rerun import run as rerun

FILES = Path(__file__).with_name("files")
SHARES = {"DMA32": 60.98, "Normal": 39.02}


@pytest.fixture
def told(capsys):
    """The table that a command prints of a file, and what it says beside it."""

    def told(command, name):
        cli([command, str(FILES / name)], standalone_mode=False)
        out, said = capsys.readouterr()
        return pd.read_csv(StringIO(out)), said

    return told


@pytest.mark.parametrize(
    ("name", "waits"),
    [
        ("vmalock_memcg_id.txt", ("shop-b", "read", "shop-a", "write", 45_000)),
        ("vmalock_comm_cut.txt", ("рабочий\ufffd", "read", "рабочий\ufffd", "write", 45_000)),
        ("vmalock_comm_number_no_cpu.txt", ("fc_vcpu 3", "read", "fc_vcpu 2", "write", 45_000)),
        ("vmalock_trace_cmd.txt", ("shop-a", "write", None, None, 1_000)),
        ("vmalock_no_released.txt", ("shop-b", "read", None, None, 40_000)),
    ],
)
def test_who_waited_for_whom(told, name, waits):
    table, _ = told("vmalock", name)
    first = table.astype(object).where(table.notna(), None).iloc[0]
    assert tuple(first[["comm", "kind", "holder", "holder_kind", "total"]]) == waits


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("vmalock_no_released.txt", ["released"]),
        ("vmalock_only_acquire.txt", ["start_locking", "released"]),
        ("vmalock_only_release.txt", ["start_locking", "acquire_returned"]),
    ],
)
def test_events_that_were_not_recorded_are_named(told, name, missing):
    table, said = told("vmalock", name)
    for event in ("start_locking", "acquire_returned", "released"):
        assert (f"mmap_lock_{event} was not recorded" in said) == (event in missing)
    assert table["holder"].isna().all()


@pytest.mark.parametrize(
    "name", ["ok", "bom", "first_line_shifted", "first_line_flush", "indented", "quoted"]
)
def test_shares_of_zones_whatever_a_terminal_made_of_the_text(told, name):
    table, _ = told("fairzone", f"zi_{name}.txt")
    assert dict(zip(table["zone"], table["size"], strict=True)) == SHARES


def test_a_block_for_each_node(told):
    table, _ = told("fairzone", "zi_two_nodes.txt")
    assert table[["node", "zone"]].to_numpy().tolist() == [
        [0, "DMA32"],
        [0, "Normal"],
        [1, "Normal"],
    ]


def test_marks_above_what_a_zone_has(told):
    table, _ = told("fairzone", "zi_marks_beyond.txt")
    normal = table.set_index("zone").loc["Normal"]
    assert (normal["managed"], normal["high"]) == (1200, 1300)


def test_more_bytes_passed_a_filter_than_a_region_has(told):
    table, _ = told("damon", "damon_passed_folio.json.txt")
    assert table.set_index("quantity").loc["passed filters", "value"] == 2 << 20


def test_idle_times_of_memory_that_is_accessed(told):
    table, _ = told("damon", "damon_stat_hot.json.txt")
    assert table.set_index("quantity").loc["range 0 size", "value"] == 6_193_152


@pytest.mark.parametrize("name", ["tgid", "trailingblank", "utf8cut"])
def test_packets_that_were_copied_after_all(told, name):
    table, _ = told("gso", f"gso_{name}.txt")
    value = table.set_index("what")["value"]
    assert (value["completed"], value["copied after all"], value["copied"]) == (1, 1, 1448)


def test_a_notebook_without_a_kernelspec_runs_on_this_python(tmp_path):
    text = (FILES / "nb_no_kernelspec.ipynb.txt").read_text()  # under this name nbval lets it be
    assert "kernelspec" not in json.loads(text)["metadata"]
    notebook = tmp_path / "given.ipynb"
    notebook.write_text(text)
    done, page = rerun(notebook, {"label": "c=d=e"}, tmp_path / "x.ipynb", bar=False)
    assert "c=d=e" in page.read_text()
    cells = json.loads(done.read_text())["cells"]
    outputs = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    assert any("c=d=e\n" in output.get("text", []) for cell in outputs for output in cell)

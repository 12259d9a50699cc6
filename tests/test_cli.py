"""Bad input at the command line: one line that says what and what to do, and status 2."""

import sys

import pandas as pd
import pytest

from lorelab import cli, counters, params
from lorelab.errors import BadInput
from lorelab.experiments import experiments

TEST = "swap/allocator-test"


def said(arguments, capsys, monkeypatch):
    """Run `lorelab ARGUMENTS`; exit status, stdout, stderr."""
    monkeypatch.setattr(sys, "argv", ["lorelab", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
        sys.exit(0)
    return stop.value.code, *capsys.readouterr()


class Some(params.Params):
    a: int = params.param(1, "a")
    b: str = params.param("", "b")


def test_a_name_with_several_values_makes_every_combination():
    pairs = ("a=1", "b=x", "a=2", "b=y=z")
    found = params.combinations(Some, pairs)
    assert found == [Some(a=a, b=b) for a in (1, 2) for b in ("x", "y=z")]
    assert params.combinations(Some, ()) == [Some()]


@pytest.mark.parametrize("second", ["a=5", "a=05"])
def test_a_value_that_is_given_twice_is_refused(second):
    """The second would be measured as well, and kept as a record of the same."""
    with pytest.raises(BadInput, match="-p a=5: is given twice; give each value once"):
        params.combinations(Some, ("a=5", "b=x", second)[::2])


@pytest.mark.parametrize("name", ["swap", "swap/mixed", "damon", None])
def test_experiments_are_listed_by_design_and_by_name(name, capsys, monkeypatch):
    status, out, err = said(["list", *([name] if name else [])], capsys, monkeypatch)
    assert (status, err) == (0, "")
    listed = [found for found in experiments() if f"{found} (" in out]
    assert listed == [found for found in experiments() if found.startswith(name or "")]


def test_without_a_command_help_is_all_that_is_said(capsys, monkeypatch):
    status, out, err = said([], capsys, monkeypatch)
    assert (status, out) == (2, "")
    assert err.startswith("Usage: ") and "lorelab: " not in err and "list" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["model", "swap/nothing"], "unknown experiment swap/nothing: takes one of swap/"),
        (["model", TEST, "-p", "variant=v9"], "variant=v9: takes one of v6.6, v1"),
        (["model", TEST, "-p", "sed=1"], "unknown parameter sed: takes options, seed"),
        (["model", TEST, "-p", "seed"], "-p seed: takes name=value"),
        (["model", TEST, "-p", "seed=1", "-p", "seed=2"], "-p seed=2: seed is given twice"),
        (["model", TEST, "-p", "seed=x"], "seed=x: takes a valid integer"),
        (["model", TEST, "-p", "device_mib=0"], "takes a value greater than or equal to 2 MiB"),
        (["model", TEST, "-p", "device_mib=63"], "device_mib=63: takes a multiple of 2 MiB"),
        (["model", TEST, "-p", "options=-x"], 'options=-x: takes "", "-a", "-s" or "-a -s"'),
        (["model", TEST, "-p", "large_swapin=so"], "large_swapin=so: takes a valid boolean"),
        (["model", "swap/usemem", "-p", "folio_order=10"], "takes a value less than or equal to 9"),
        (["model", "swap/usemem", "-p", "folio_order=1"], "folios have order 0, or 2 to 9"),
        (["kernel", "swap/mixed"], "swap/mixed has no kernel half; use `lorelab model swap/mixed`"),
        (["list", "nothing"], "unknown design nothing: takes one of swap"),
        (["list", "swap/nothing"], "unknown experiment swap/nothing: takes one of swap/"),
        (["claims", "nothing"], "unknown design nothing: takes one of swap"),
        (["figure", "-o", "x.svg"], "-o x.svg: of which figure? `lorelab figure` alone lists all"),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, says, capsys, monkeypatch):
    status, out, err = said(arguments, capsys, monkeypatch)
    assert (status, out) == (2, "")
    assert says in err and err.count("\n") == 1


def test_a_model_run_is_a_tidy_table_on_stdout(capsys, monkeypatch):
    status, out, err = said(["model", TEST, "-p", "iterations=2"], capsys, monkeypatch)
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split(",") == counters.COLUMNS
    assert len(out.splitlines()) == 1 + 2 * 2


def test_a_file_gets_what_stdout_would(tmp_path, capsys, monkeypatch):
    file = tmp_path / "counters.csv"
    run = ["model", TEST, "-p", "iterations=2"]
    _, out, _ = said(run, capsys, monkeypatch)
    assert said([*run, "-o", str(file)], capsys, monkeypatch)[:2] == (0, "")
    assert file.read_text() == out
    assert list(pd.read_csv(file)["value"]) == [948, 953, 0, 0]


def test_a_file_that_cannot_be_written_is_one_line_and_status_1(tmp_path, capsys, monkeypatch):
    file = tmp_path / "no" / "counters.csv"
    run = ["model", TEST, "-p", "iterations=1", "-o", str(file)]
    status, out, err = said(run, capsys, monkeypatch)
    assert (status, out) == (1, "")
    assert err.startswith(f"lorelab: cannot write {file}") and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    run = ["model", TEST, "-p", "iterations=1", "-o", str(tmp_path / "counters.csv")]
    status, _, err = said(run, capsys, monkeypatch)
    assert status == 1 and "No space left on device; give -o another place" in err
    assert list(tmp_path.iterdir()) == []

"""`lorelab damon FILE`: figures on stdout, files on demand, one line for bad input."""

import io
import sys

import pandas as pd
import pytest

from lorelab import cli
from lorelab.damon.pages import charts
from lorelab.damon.recording import recording, report
from tests.damon.recordings import damo, make, perf, write


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["lorelab", "damon", *map(str, words)])
        status = 0
        try:
            cli.main()
        except SystemExit as stop:
            status = stop.code or 0
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_figures_as_csv(run, tmp_path):
    file = write(tmp_path / "damon.data", damo(make(1, targets=2)), compressed=True)
    status, out, err = run(file)
    assert (status, err) == (0, "")
    rows = pd.read_csv(io.StringIO(out))
    assert set(rows["target"]) == {0, 1}
    (one, _) = recording.read(file)
    median = rows.query("target == 0 and quantity == 'working set' and percentile == 50")
    assert [int(v) for v in median["value"]] == report.percentiles(
        report.working_set(one)[report.SKIPPED :], [50]
    )


def test_a_short_recording_has_no_distributions(run, tmp_path):
    status, out, _ = run(write(tmp_path / "a", perf(make(1, snapshots=5))))
    assert status == 0
    assert "snapshots,,snapshots,5" in out
    assert "working set" not in out


def test_files_on_demand(run, tmp_path):
    file = write(tmp_path / "a", perf(make(1, snapshots=30, targets=2)))
    status, _, _ = run(file, "-o", tmp_path / "out")
    assert status == 0
    names = ["heatmap.svg", "snapshots.csv", "windows.csv", "windows.svg"]
    found = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert found == [f"{n}-target-{n}-{name}" for n in (0, 1) for name in names]
    assert (tmp_path / "out" / "0-target-0-heatmap.svg").read_text().startswith("<svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "out"]


def test_a_target_without_regions_has_no_heat_map(run, tmp_path):
    records = make(1, snapshots=3, targets=2)
    for one in records[0]["snapshots"]:
        one["regions"] = []
    status, _, _ = run(write(tmp_path / "a", damo(records)), "-o", tmp_path / "out")
    assert status == 0
    found = {path.name for path in (tmp_path / "out").iterdir()}
    assert "1-target-1-heatmap.svg" in found
    assert "0-target-0-heatmap.svg" not in found


def test_nothing_is_written_over(run, tmp_path):
    file = write(tmp_path / "a", perf(make(1, snapshots=5)))
    status, out, err = run(file, "-o", tmp_path)
    assert (status, out) == (2, "")
    assert err == f"lorelab: {tmp_path} is there already; give -o another name\n"


def test_a_place_that_is_not_there(run, tmp_path):
    file = write(tmp_path / "a", perf(make(1, snapshots=5)))
    status, out, err = run(file, "-o", tmp_path / "no" / "out")
    assert (status, out) == (1, "")
    assert "cannot write" in err and err.count("\n") == 1


@pytest.mark.parametrize("text", ["", "[", "hello"])
def test_bad_recordings_are_one_line(run, tmp_path, text):
    status, out, err = run(write(tmp_path / "a", text))
    assert (status, out) == (2, "")
    assert err.startswith(f"lorelab: {tmp_path}/a: ") and err.count("\n") == 1


def test_no_file(run, tmp_path):
    status, _, err = run(tmp_path / "nothing")
    assert status == 2
    assert "cannot read" in err and err.count("\n") == 1


def test_a_long_recording_is_drawn_as_means(tmp_path):
    (one,) = recording.read(write(tmp_path / "a", perf(make(1, snapshots=1203))))
    rows = charts.over_time(one, "long").data
    assert len(rows) == charts.POINTS
    whole = report.windows(one)["working_set"].mean() / 2**20
    assert abs(rows["working_set"].mean() / whole - 1) < 0.01

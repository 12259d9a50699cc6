"""Figures of a recording against damo's own."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.damon.recording import make as making
from lorelab.damon.recording import recording, report
from lorelab.errors import BadInput
from tests.damon.recordings import BASE, damo, make, perf, write

DAMO = Path(sys.executable).with_name("damo")


# damo asks `file` for the format, and does not know what some versions of it answer to JSON.
FILE = """\
#!/bin/sh
case $(head -c 1 "$2") in
'[') echo "JSON data" ;;
k) echo "ASCII text" ;;
*) echo "zlib compressed data" ;;
esac
"""


FORMATS = {
    "json": (damo, False),
    "compressed": (damo, True),
    "old": (lambda r: damo(r, intervals=False, numbers=str), True),
    "tuned": (lambda r: damo(r, tuned=True), False),
    "perf script": (perf, False),
}


@pytest.fixture(scope="module")
def judge_text(tmp_path_factory):
    """Run `damo report`; gives what it prints."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "file").write_text(FILE)
    (folder / "file").chmod(0o755)

    def run(*words: str) -> str:
        done = subprocess.run(
            [DAMO, "report", *map(str, words)],
            env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def judge(judge_text):
    """Run `damo report`; gives the fields of each line that is no comment."""

    def run(*words: str) -> list[list[str]]:
        lines = [line.split() for line in judge_text(*words).splitlines()]
        return [line for line in lines if line and line[0] != "#"]

    return run


@pytest.fixture(params=FORMATS)
def file(request, tmp_path):
    text, compressed = FORMATS[request.param]
    seed = list(FORMATS).index(request.param)
    return write(tmp_path / "damon.data", text(make(seed, snapshots=60)), compressed)


@pytest.mark.parametrize(("accesses", "smallest"), [(1, 1), (8, 1), (1, 1 << 20)])
def test_working_set_is_damo_s(judge, file, accesses, smallest):
    options = ["--acc_thres", accesses, "--sz_thres", smallest, "--range", 0, 101, 5]
    said = judge("wss", "--input", file, "--raw_number", "--nr_cols_bar", 0, *options)
    (found,) = recording.read(file)
    sizes = report.working_set(found, accesses, smallest)[report.SKIPPED :]
    at = list(range(0, 101, 5))
    ours = zip(at, report.percentiles(sizes, at), strict=True)
    assert [(int(p), int(size)) for p, size in said] == list(ours)


def test_number_of_regions_is_damo_s(judge, file):
    said = judge("nr_regions", "--input", file, "--range", 0, 101, 10)
    (found,) = recording.read(file)
    at = list(range(0, 101, 10))
    count = report.nr_regions(found)[report.SKIPPED :]
    ours = zip(at, report.percentiles(count, at), strict=True)
    assert [(int(p), int(n)) for p, n in said] == list(ours)


@pytest.mark.parametrize("shape", [(40, 80), (7, 500)])
def test_heat_map_is_damo_s(judge, file, shape):
    (found,) = recording.read(file)
    low, high = BASE + 12345, BASE + (72 << 20) + 7777
    begin, end = report.span(found)
    begin, end = begin + 1_234_567, end + 98_765_432
    said = judge(
        *("heatmap", "--input", file, "--output", "raw", "--resol", *shape, "--abs_time"),
        *("--abs_addr", "--time_range", begin, end, "--address_range", low, high),
    )
    ours = report.heatmap(found, shape, (begin, end), (low, high))
    said = np.array([[float(word) for word in line] for line in said if len(line) == 3])
    assert np.isnan(ours.heat).any()
    assert (said[:, 0].reshape(shape)[:, 0] == ours.times).all()
    assert (said[:, 1].reshape(shape)[0] == ours.addresses).all()
    theirs = said[:, 2].reshape(shape)
    assert (np.isnan(theirs) == np.isnan(ours.heat)).all()
    np.testing.assert_allclose(ours.heat, theirs, rtol=1e-9, atol=1e-9 * np.nanmax(theirs))


def test_time_that_is_told_of_is_damo_s(judge, file):
    said = judge("record_info", "--input", file, "--raw_numbers")
    (found,) = recording.read(file)
    (line,) = [line for line in said if line[0] == "time:"]
    begin, end = (int(word.strip("[,)")) for word in line[1:3])
    assert abs(begin - report.span(found)[0]) <= 1
    assert end == report.span(found)[1]


def test_several_targets_are_kept_apart(judge, tmp_path):
    path = write(tmp_path / "damon.data", damo(make(9, snapshots=30, targets=3)))
    said = judge("wss", "--input", path, "--raw_number", "--nr_cols_bar", 0, "--per_target")
    each = [
        report.percentiles(report.working_set(one)[report.SKIPPED :], [0, 25, 50, 75, 100])
        for one in recording.read(path)
    ]
    assert [int(size) for _, size in said] == [size for sizes in each for size in sizes]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "damon.data"
    (found,) = recording.read(write(path, damo(make(5, snapshots=8))))
    return found


def test_heat_is_neither_lost_nor_made(small):
    """Over the whole map, heat x area is count x time x bytes, but for damo's look back by age."""
    found = small._replace(age=np.zeros_like(small.age), start=small.end - 10**8)
    before = np.concatenate([[0], found.end[:-1]])
    found = found._replace(start=np.maximum(found.start, before))
    for low, high in report.contiguous(found):
        shape = (1, 1)
        map = report.heatmap(found, shape, addresses=(low, high))
        begin, end = report.span(found)
        count = np.diff(found.first)
        inside = (found.low >= low) & (found.high <= high)
        length = np.repeat(found.end - found.start, count)[inside].astype(float)
        size = (found.high - found.low)[inside].astype(float)
        total = (found.nr_accesses[inside] / 0.1 * length * size).sum()
        assert map.heat[0, 0] * (end - begin) * (high - low) == pytest.approx(total)


@settings(max_examples=30)
@given(rows=st.integers(1, 30), columns=st.integers(1, 30))
def test_a_map_of_any_shape_has_no_hole_where_all_was_monitored(small, rows, columns):
    low, high = report.hottest(small)
    map = report.heatmap(small, (rows, columns), (int(small.start[0]), int(small.end[-1])))
    assert map.heat.shape == (rows, columns)
    assert not np.isnan(map.heat).any()
    assert (map.heat >= 0).all()
    assert map.addresses[0] == low
    assert map.addresses[-1] < high


def test_contiguous_ranges_have_the_gaps_that_no_snapshot_covers(small):
    assert report.contiguous(small) == [
        (0x5500_0000_0000, 0x5500_0040_0000),
        (BASE, BASE + (64 << 20)),
    ]


def test_a_grid_finer_than_the_recording_is_refused(small):
    with pytest.raises(BadInput, match="too little for a heat map of 40 by 80 pixels"):
        report.heatmap(small, times=(0, 10))


def test_too_short_a_recording_says_so(small):
    with pytest.raises(BadInput, match="no snapshot after the first 20"):
        report.percentiles(report.nr_regions(small)[report.SKIPPED :], [50])


def test_snapshots_are_one_row_a_region(small):
    rows = report.snapshots(small)
    assert len(rows) == len(small.low)
    sizes = (rows["high"] - rows["low"]).where(rows["nr_accesses"] > 0, 0)
    assert sizes.groupby(rows["snapshot"]).sum().tolist() == report.working_set(small).tolist()


@pytest.fixture(params=making.PLANS)
def made(request):
    return making.FOLDER / request.param


def plain(number: str) -> int:
    return int(number.replace(",", ""))


def test_snapshots_of_a_kernel_are_damo_s(judge_text, made):
    records = json.loads(judge_text("access", "--input", made, "--json", "--raw_number"))
    theirs = [
        (number, *map(plain, (r["start"], r["end"])), int(r["nr_accesses"]["samples"]),
         plain(r["age"]["aggr_intervals"]))
        for number, snapshot in enumerate(records[0]["snapshots"])
        for r in snapshot["regions"]
    ]  # fmt: skip
    (found,) = recording.read(made)
    names = ["snapshot", "low", "high", "nr_accesses", "age"]
    assert list(report.snapshots(found)[names].itertuples(index=False, name=None)) == theirs


def test_figures_of_a_kernel_are_damo_s(judge, made):
    (found,) = recording.read(made)
    at = list(range(0, 101, 5))
    said = judge("wss", "--input", made, "--raw_number", "--nr_cols_bar", 0, "--range", 0, 101, 5)
    sizes = report.working_set(found)[report.SKIPPED :]
    assert [int(size) for _, size in said] == report.percentiles(sizes, at)
    said = judge("nr_regions", "--input", made, "--range", 0, 101, 5)
    count = report.nr_regions(found)[report.SKIPPED :]
    assert [int(number) for _, number in said] == report.percentiles(count, at)


def test_heat_map_of_a_kernel_is_damo_s(judge, made):
    (found,) = recording.read(made)
    ours = report.heatmap(found, (30, 60))
    begin, end = report.span(found)
    low, high = report.hottest(found)
    said = judge(
        *("heatmap", "--input", made, "--output", "raw", "--resol", 30, 60, "--abs_time"),
        *("--abs_addr", "--time_range", begin, end, "--address_range", low, high),
    )
    theirs = np.array([float(line[2]) for line in said if len(line) == 3]).reshape(30, 60)
    np.testing.assert_allclose(ours.heat, theirs, rtol=1e-9, atol=1e-9 * np.nanmax(theirs))

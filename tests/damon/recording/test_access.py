"""Snapshots of tried regions, written by damo itself, read by us, and told by both."""

import json
import os
import random
import re
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lorelab.damon.recording import access, recording, report
from lorelab.errors import BadInput
from tests.damon.recording.test_report import FILE

DAMO = Path(find_spec("damo").submodule_search_locations[0])

# What damo does for `damo report access` and `damo record` on tried regions: its own objects, as
# _damo_records.tried_regions_to_records_of makes them from sysfs, and its own writers.
WRITE = """\
import json, sys
import _damo_records as records, _damon as damon
given = json.load(sys.stdin)
filters = [damon.DamosFilter(*each) for each in given["filters"]]
intervals = damon.DamonIntervals(given["sample_us"], given["aggr_us"], 1000000)
record = records.DamonRecord(0, 0, intervals, 0, None, filters)
for number, regions in enumerate(given["snapshots"]):
    end = 82_877_000_000_000 + number * given["aggr_us"] * 1000
    made = [damon.DamonRegion(a, b, n, given["accesses"], age, given["ages"], passed)
            for a, b, n, age, passed in regions]
    record.snapshots.append(records.DamonSnapshot(end - given["aggr_us"] * 1000, end, made, None))
    if given["told"]:
        for region in made:
            region.nr_accesses.add_unset_unit(intervals)
            region.age.add_unset_unit(intervals)
write = records.write_json_compressed if given["compressed"] else records.write_json
write([record], sys.argv[1])
"""
KINDS = {
    "as sysfs has it": {},
    "after a report": {"told": True, "compressed": True},
    "no filter": {"filters": []},
    "per cent and microseconds": {"accesses": "percent", "ages": "usec"},
    "40 samples a window": {"sample_us": 2_500},
}


def written(file: Path, seed: int = 0, **kind) -> Path:
    """A file of three snapshots of tried regions, written by damo."""
    rng = random.Random(seed)
    given = {
        "filters": [["anon", True, True], ["young", False, False]],
        "sample_us": 5_000,
        "aggr_us": 100_000,
        "accesses": "samples",
        "ages": "aggr_intervals",
        "told": False,
        "compressed": False,
        **kind,
    }
    snapshots = []
    for _ in range(3):
        borders = sorted(rng.sample(range(1, 1 << 20), 41))
        snapshots.append(
            [
                [
                    low << 12,
                    high << 12,
                    rng.choice([0, 0, 0, 1, 7, 20]),
                    rng.randrange(3_000) * (100_001 if given["ages"] == "usec" else 1),
                    rng.randrange(high - low + 1) << 12 if given["filters"] else 0,
                ]
                for low, high in pairwise(borders)
            ]
        )
    given["snapshots"] = snapshots
    subprocess.run(
        [sys.executable, "-c", WRITE, file],
        input=json.dumps(given),
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(DAMO)},
    )
    return file


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What `damo report access` prints of a file, line by line."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "file").write_text(FILE)
    (folder / "file").chmod(0o755)

    def run(file: Path, *words: str) -> list[str]:
        command = [Path(sys.executable).with_name("damo"), "report", "access", "--input_file", file]
        done = subprocess.run(
            [*command, "--raw_number", *words],
            env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        return [line.strip() for line in done.stdout.splitlines() if line.strip()]

    return run


def blocks(lines: list[str], row: str) -> list[list[tuple[float, ...]]]:
    """Numbers of the lines that match `row`, a list for each run of such lines."""
    found, last = [], False
    for line in lines:
        matched = re.match(row, line)
        if matched:
            if not last:
                found.append([])
            found[-1].append(tuple(float(text.replace(",", "")) for text in matched.groups()))
        last = bool(matched)
    return found


def order(rows: pd.DataFrame, quantity: str) -> list[pd.DataFrame]:
    """Tables of one quantity as damo prints them: of each snapshot, passed bytes, then all."""
    rows = rows[rows["quantity"] == quantity].sort_values("over", ascending=False, kind="stable")
    return [table for _, table in rows.groupby(["snapshot", "over"], sort=False)]


def by_snapshot(tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    return sorted(tables, key=lambda table: table["snapshot"].iloc[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("quantity", ["idle time", "temperature"])
def test_figures_are_damos_own(kind, quantity, told, tmp_path):
    file = written(tmp_path / "snapshots", list(KINDS).index(kind), **KINDS[kind])
    [one] = recording.read(file)
    word = {"idle time": "recency", "temperature": "temperature"}[quantity]

    printed = told(file, "--style", f"{word}-percentiles")
    ours = by_snapshot(order(access.percentiles(one), quantity))
    theirs = blocks(printed, r"(\d+) +(-?[\d,.]+)(?: us)? +\|")
    assert len(ours) == len(theirs) == (3 if kind == "no filter" else 6)
    for table, lines in zip(ours, theirs, strict=True):
        assert [tuple(row) for row in table[["percentile", "value"]].to_numpy()] == lines

    printed = told(file, "--style", f"{word}-sz-hist")
    ours = by_snapshot(order(access.histograms(one), quantity))
    theirs = blocks(printed, r"\[(-?[\d,.]+)(?: us)?, (-?[\d,.]+)(?: us)?\) +([\d,]+)(?: B)? +\|")
    assert len(ours) == len(theirs)
    for table, lines in zip(ours, theirs, strict=True):
        assert [tuple(row) for row in table[["low", "high", "bytes"]].to_numpy()] == lines


def test_bytes_that_passed_are_damos_own(told, tmp_path):
    file = written(tmp_path / "snapshots")
    [one] = recording.read(file)
    assert one.target == recording.NO_TARGET
    theirs = blocks(
        told(file, "--style", "temperature-percentiles"), r"total size: \d+  df-passed (\d+)"
    )
    assert access.passed(one).tolist() == [int(value) for [(value,)] in theirs]
    total = access.passed(one)[-1]
    said = report.summary([one]).query("quantity == 'passed filters'")["value"]
    assert said.tolist() == [total] and total > 0


def test_more_passed_than_there_is_is_refused(tmp_path):
    file = written(tmp_path / "snapshots")
    records = json.loads(file.read_text())
    records[0]["snapshots"][1]["regions"][3]["sz_filter_passed"] = str(1 << 50)
    file.write_text(json.dumps(records))
    with pytest.raises(BadInput, match="more of a region passed the filters than there is"):
        recording.read(file)


def test_a_recording_without_intervals_has_no_such_figures(tmp_path):
    file = written(tmp_path / "snapshots")
    records = json.loads(file.read_text())
    records[0]["intervals"] = None
    file.write_text(json.dumps(records))
    [one] = recording.read(file)
    assert access.percentiles(one).empty and access.histograms(one).empty
    assert np.isnan(one.age_us).all()


def test_a_folio_passes_whole_though_a_region_has_but_a_part_of_it(tmp_path):
    file = written(tmp_path / "snapshots")
    records = json.loads(file.read_text())
    region = records[0]["snapshots"][1]["regions"][3]
    region["sz_filter_passed"] = "1.000 GiB"
    file.write_text(json.dumps(records))
    [one] = recording.read(file)
    size = one.high - one.low
    assert one.passed.max() == 1 << 30 and (one.passed > size).any()


def test_idle_times_of_damon_stat_are_negative_where_memory_is_accessed(tmp_path):
    records = json.loads(written(tmp_path / "snapshots").read_text())
    for region in records[0]["snapshots"][0]["regions"]:
        region["age"] = {"usec": "-1 s", "aggr_intervals": None}
    file = tmp_path / "stat"
    file.write_text(json.dumps(records))
    with pytest.raises(BadInput, match="unsigned int"):
        recording.read(file)
    records[0]["kdamond_idx"] = -1
    file.write_text(json.dumps(records))
    [one] = recording.read(file)
    own = slice(0, one.first[1])
    assert set(one.age_us[own]) == {1e6}
    assert set(one.age[own]) == {int(1e6 / one.intervals.aggr_us)}


@pytest.mark.parametrize("usec", ["-100 ms", "-150 ms", "-199 ms"])
def test_an_idle_time_of_one_window_is_not_taken_for_none(tmp_path, usec):
    """-1 marks a region of unknown age."""
    records = json.loads(written(tmp_path / "snapshots").read_text())
    records[0]["kdamond_idx"] = -1
    for region in records[0]["snapshots"][0]["regions"]:
        region["age"] = {"usec": usec, "aggr_intervals": None}
    for region in records[0]["snapshots"][1]["regions"]:
        region["age"] = {"usec": None, "aggr_intervals": "-1"}
    file = tmp_path / "stat"
    file.write_text(json.dumps(records))
    [one] = recording.read(file)
    assert one.intervals.aggr_us == 100_000
    assert set(one.age[: one.first[2]]) == {1}
    assert set(one.age_us[: one.first[1]]) == {int(usec[1:4]) * 1000}


def test_a_region_just_seen_cold_has_temperature_0(tmp_path):
    records = json.loads(written(tmp_path / "snapshots").read_text())
    for region in records[0]["snapshots"][0]["regions"]:
        region["nr_accesses"] = {"samples": 0, "percent": -0.0}
        region["age"] = {"usec": None, "aggr_intervals": "-0.0"}
    file = tmp_path / "cold"
    file.write_text(json.dumps(records))
    table = access.percentiles(recording.read(file)[0])
    assert "-0.0" not in table.to_csv()

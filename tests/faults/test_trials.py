"""A few of the trials; `python -m tests.faults.trials` runs all, and the book has its table."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from lorelab.lab import cache
from tests.faults import trials
from tests.faults.disks import mount

BAD = ["unclear", "half_written", "left_over", "failed_again", "lost"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: each trial mounts a file system")
def test_a_few_trials_lose_nothing(tmp_path):
    """In a process of its own, for the trials fork, which a test run with threads should not."""
    if not mount(tmp_path, "-t", "tmpfs", "none"):
        pytest.skip("this root may not mount")
    subprocess.run(["umount", tmp_path], check=True)
    words = ["-m", "tests.faults.trials", "--door", "model", "--number", "2", "-o", tmp_path]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=trials.HERE)
    assert done.returncode == 0, done.stderr
    found = pd.concat(map(pd.read_csv, tmp_path.glob("*.csv")))
    assert sorted(set(found["fault"])) == sorted(trials.FAULTS) and len(found) == 8
    assert (found[BAD] == 0).all(axis=None), done.stderr
    assert found.loc[found["fault"] == "read-only", "disturbed"].all()


def test_the_stored_table_has_nothing_lost():
    found = pd.concat(map(pd.read_csv, (trials.HERE / "data/faults").glob("*.csv")))
    assert (found[BAD] == 0).all(axis=None)


def test_each_stored_table_says_where_it_comes_from():
    for file in sorted((trials.HERE / "data/faults").glob("*.csv")):
        beside, rows = json.loads(file.with_suffix(".json").read_text()), pd.read_csv(file)
        assert beside["sha256"] == cache.file_digest(file), file
        assert beside["seeds"] == f"0 to {len(rows) - 1}", file
        # A guest takes a minute, twice a trial, and some from the network.
        assert len(rows) >= (5 if rows["door"].iloc[0] == "guest" else 20), file
        assert beside["command"] == trials.command(rows["door"].iloc[0]), file


def test_a_table_is_stored_with_where_it_comes_from(tmp_path):
    row = {"door": "run", "fault": "kill -9", "trials": 1, "lost": 0, "said": "not stored"}
    file = trials.store(pd.DataFrame([row, row]), tmp_path, "a digest")
    assert file.name == "run-kill_-9.csv" and "said" not in file.read_text()
    beside = json.loads(file.with_suffix(".json").read_text())
    assert beside["sha256"] == cache.file_digest(file)
    assert beside["seeds"] == "0 to 1" and beside["command"][:2] == ["lorelab", "run"]
    assert beside["library"] == "a digest"

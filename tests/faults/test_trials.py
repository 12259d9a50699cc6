"""A few of the trials; `python -m tests.faults.trials` runs all, and the book has its table."""

import os
import subprocess
import sys

import pandas as pd
import pytest

from tests.faults import trials

BAD = ["unclear", "half_written", "left_over", "failed_again", "lost"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: each trial mounts a file system")
def test_a_few_trials_lose_nothing(tmp_path):
    """In a process of its own, for the trials fork, which a test run with threads should not."""
    asked = subprocess.run(["mount", "-t", "tmpfs", "none", tmp_path], capture_output=True)
    if asked.returncode:
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

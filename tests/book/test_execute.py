"""A build that is told to end does, with the notebooks that it runs."""

import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest

CELL = "import os, pathlib, time; pathlib.Path({!r}).write_text(str(os.getpid())); time.sleep(600)"
BUILD = """
import sys
from pathlib import Path
from lorelab.book import build
build.executed(["notebooks/a.ipynb", "notebooks/b.ipynb"], Path(sys.argv[1]))
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_build_and_its_kernels(tmp_path, number):
    (tmp_path / "notebooks").mkdir()
    told = [tmp_path / "a", tmp_path / "b"]
    for file in told:
        cell = nbformat.v4.new_code_cell(CELL.format(str(file)))
        nbformat.write(
            nbformat.v4.new_notebook(cells=[cell]), tmp_path / f"notebooks/{file.name}.ipynb"
        )
    run = subprocess.Popen(
        [sys.executable, "-c", BUILD, tmp_path], stderr=subprocess.PIPE, start_new_session=True
    )
    # The second starts with the first, on a machine of two cores, or waits.
    while not any(file.exists() and file.read_text() for file in told):
        assert run.poll() is None
        time.sleep(0.1)
    kernels = [int(file.read_text()) for file in told if file.exists() and file.read_text()]
    run.send_signal(number)
    run.communicate(timeout=60)
    assert run.returncode == -number
    late = time.monotonic() + 60
    while any(map(alive, kernels)):  # each looks once a second whether its parent is there
        assert time.monotonic() < late
        time.sleep(0.1)

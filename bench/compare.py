"""What the benchmarks of every design share: results held against each other, jobs apart."""

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from lorelab.errors import RunFailed


def same_rows(trace: str, which: str, expected: np.ndarray, found: np.ndarray) -> None:
    """Raise when an implementation reported other rows than C."""
    least = min(len(expected), len(found))
    if not np.array_equal(expected[:least], found[:least]) or len(found) > len(expected):
        raise RunFailed(f"{trace}: {which} reports other regions than C")


def apart(*words: str, under: tuple[str, ...] = ()) -> dict[str, float]:
    """Run `python -m words` in a process of its own; gives the JSON object that it prints."""
    command = [*under, sys.executable, "-m", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    # perf's own status is 0 where what it counts was killed.
    if done.returncode or not done.stdout:
        said = done.stderr.splitlines() or ["it was killed"]
        raise RunFailed(f"{' '.join(words)} failed: {said[-1]}")
    return json.loads(done.stdout)


def counted(*words: str) -> dict[str, float]:
    """`apart`, and the `instructions` that perf counts while the process lets it.

    The process is given two more words, the pipes of `perf stat --control`. Without perf, or where
    it could not count, `instructions` is nan.
    """
    with tempfile.TemporaryDirectory() as name:
        out, *pipes = (str(Path(name) / part) for part in ("out", "control", "acknowledge"))
        stat = ("perf", "stat", "-x,", "-o", out, "-e", "instructions:u")
        try:
            subprocess.run([*stat, "true"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return apart(*words) | {"instructions": math.nan}
        for pipe in pipes:
            os.mkfifo(pipe)
        stat += ("--delay=-1", f"--control=fifo:{','.join(pipes)}")
        found = apart(*words, *pipes, under=stat)
        said = Path(out).read_text().splitlines()[-1].split(",")[0]
    # <not supported> where the machine has no counter, <not counted> where perf had none to spare.
    return found | {"instructions": math.nan if said.startswith("<") else float(said)}

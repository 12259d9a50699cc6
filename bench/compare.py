"""What the benchmarks of every design share: results held against each other, jobs apart."""

import json
import subprocess
import sys

import numpy as np

from lorelab.errors import RunFailed


def same_rows(trace: str, which: str, expected: np.ndarray, found: np.ndarray) -> None:
    """Raise when an implementation reported other rows than C."""
    least = min(len(expected), len(found))
    if not np.array_equal(expected[:least], found[:least]) or len(found) > len(expected):
        raise RunFailed(f"{trace}: {which} reports other regions than C")


def apart(*words: str) -> dict[str, float]:
    """Run `python -m words` in a process of its own; gives the JSON object that it prints."""
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    if done.returncode:
        raise RunFailed(f"{' '.join(words)} failed: {done.stderr.splitlines()[-1]}")
    return json.loads(done.stdout or "{}")

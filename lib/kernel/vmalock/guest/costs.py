"""Runs faulters.c under icount: instructions of a fault, and of a fork."""

import os
import subprocess
from pathlib import Path

from switches import turned

HERE = Path(__file__).parent


def run(params):
    """Yield the figures of each of `params["runs"]`.

    A run has `what` (faults or forks), `rounds`, `size` and `switches`.
    """
    os.sched_setaffinity(0, {0})
    for number, one in enumerate(params["runs"]):
        with turned(one["switches"]):
            words = [one["what"], str(one["rounds"]), str(one["size"])]
            made = subprocess.run(
                [HERE / "faulters", *words], check=True, capture_output=True, text=True
            )
        yield {"run": number, "ns": [int(line) for line in made.stdout.split()]}

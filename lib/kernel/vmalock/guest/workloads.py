"""Runs launch.c, receive.c and the forks of broken.c: what the kernel counts of its VMA locks."""

import subprocess
from pathlib import Path

from switches import mount, turned
from threads import counts

HERE = Path(__file__).parent


def run(params):
    """Yield what each of `params["runs"]` came to.

    A run has `command` (a program of this folder and its arguments) and `switches`. A row has the
    kernel's `counts` and the numbers that the program `said`.
    """
    mount()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for number, one in enumerate(params["runs"]):
        program, *words = one["command"]
        with turned(one["switches"] | {"vmalock/count": "on"}):
            before = counts()
            made = subprocess.run(
                [HERE / program, *words], check=True, capture_output=True, text=True
            )
            after = counts()
        found = {name: after[name] - before[name] for name in after}
        yield {"run": number, "counts": found, "said": [int(n) for n in made.stdout.split()]}

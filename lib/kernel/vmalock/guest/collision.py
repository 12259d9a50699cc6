"""Runs collide.c: faults and writers around the moment when the sequence has come around."""

import subprocess
from pathlib import Path

import switches
from switches import mount, turned

HERE = Path(__file__).parent


def run(params):
    """Yield the lines of each of `params["runs"]`, which have `n` and `delay_us`."""
    mount()
    for number, one in enumerate(params["runs"]):
        with turned({"vmalock/count": "on"}):
            made = subprocess.run(
                [
                    HERE / "collide",
                    str(one["n"]),
                    str(one["delay_us"]),
                    switches.FOLDER / "vmalock",
                ],
                check=True,
                capture_output=True,
                text=True,
            )
        yield {"run": number, "lines": made.stdout.split("\n")}

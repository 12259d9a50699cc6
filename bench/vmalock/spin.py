"""The protocol in Promela (protocol.pml), checked by spin: the field's own tool as a judge."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from lorelab.errors import RunFailed
from lorelab.vmalock.params import Variant

SOURCE = Path(__file__).parent / "protocol.pml"
VERSIONS = {Variant.V2: 2, Variant.V6_12: 612, Variant.V7_3: 73}
# No partial order reduction, no merging of steps, no values forgotten: every state is counted.
SPIN = ("-o1", "-o2", "-o3", "-a")
CC = ("gcc", "-march=native", "-DNOREDUCE", "-DSAFETY", "-DMEMLIM=8000", "-w")


class Verdict(NamedTuple):
    """What spin says."""

    errors: int
    states: int
    """With the one in which its own `init` has not started the threads yet."""
    transitions: int
    seconds: float
    """Processor time of the search; its own figure is the clock's."""
    bytes: int
    """Of a state, with what spin keeps beside it."""


def there() -> bool:
    """Whether spin and a compiler are installed."""
    return bool(shutil.which("spin") and shutil.which("gcc"))


def check(
    variant: Variant,
    faults: int,
    writers: int,
    unmap: bool,
    sequence_bits: int = 3,
    flags_page: int = 1,
    without: str = "",
    slots: int = 20,
    optimise: str = "-O0",
) -> Verdict:
    """Let spin go through every state, or to the first error.

    Parameters
    ----------
    faults, writers, unmap
        Threads that fault at page 0, that change flags, and whether one unmaps page 0.
    flags_page : int
        Where the writers after the first change flags.
    without : str
        One of the words that protocol.pml can do without, or none.
    slots : int
        Spin's hash table has 2**slots entries.
    optimise : str
        How gcc optimises what spin makes; -O3 takes many times as long to compile.

    Raises
    ------
    RunFailed
        spin is not there, or doesn't accept the model.
    """
    if not there():
        raise RunFailed("no spin or no gcc; as root: apt-get install spin gcc")
    words = {
        "VERSION": VERSIONS[variant],
        "FAULTS": faults,
        "WRITERS": int(writers),
        "UNMAP": int(unmap),
        "MASK": (1 << sequence_bits) - 1,
        "FLAGS_PAGE": flags_page,
    }
    given = [f"-D{name}={value}" for name, value in words.items()]
    given += [f"-D{without}"] if without else []
    with tempfile.TemporaryDirectory() as folder:
        _run(["spin", *given, *SPIN, str(SOURCE)], folder)
        _run([*CC, optimise, "-o", "pan", "pan.c"], folder)
        before = os.times()
        said = _run(["./pan", "-m1000000", f"-w{slots}"], folder)
        after = os.times()
    return Verdict(
        errors=int(_number(r"errors: (\d+)", said)),
        states=int(_number(r"(\d+) states, stored", said)),
        transitions=int(_number(r"(\d+) transitions", said)),
        seconds=sum(after[2:4]) - sum(before[2:4]),
        bytes=int(_number(r"State-vector (\d+) byte", said)),
    )


def _run(command: list[str], folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines() or ["it was killed"]
        raise RunFailed(f"{command[0]} failed: {said[0]}")
    return done.stdout


def _number(pattern: str, said: str) -> float:
    found = re.search(pattern, said)
    if found is None:
        raise RunFailed(f"spin says nothing like {pattern}")
    return float(found[1])

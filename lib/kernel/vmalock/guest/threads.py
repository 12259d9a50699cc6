"""Runs faulters.c: what the kernel counts of its VMA locks, and the log of each step."""

import base64
import subprocess
import zlib
from pathlib import Path

import switches
from switches import mount, turned

HERE = Path(__file__).parent
FOLDER = switches.FOLDER / "vmalock"
EVENTS = Path("/sys/kernel/debug/lock_event_counts")
PIECE = 48 * 1024
"""Bytes of a log in one row, before base64."""


def run(params):
    """Yield what each of `params["runs"]` came to, and its log if it has one.

    A run has `mode`, `faulters`, `mappers`, `rounds`, `pages`, `log` (whether to log it),
    `switches` and `delay_us`.
    """
    mount()
    if not (FOLDER / "log").exists():
        raise NotImplementedError("lorelab/vmalock/log; it takes lib/kernel/vmalock/patches")
    for number, one in enumerate(params["runs"]):
        (FOLDER / "delay_us").write_text(str(one["delay_us"]))
        with turned(one["switches"] | {"vmalock/count": "on"}):
            before = counts()
            words = [one[name] for name in ("mode", "faulters", "mappers", "rounds", "pages")]
            log = FOLDER / "log" if one["log"] else "-"
            subprocess.run([HERE / "faulters", "threads", *map(str, words), log], check=True)
            after = counts()
        (FOLDER / "delay_us").write_text("0")
        yield {"run": number, "counts": {name: after[name] - before[name] for name in after}}
        if one["log"]:
            yield from ({"run": number, **row} for row in entries())


def entries():
    """Yield the log in rows: how many steps it has, or would have had with more room; pieces."""
    yield {"logged": int((FOLDER / "log_nr").read_text())}
    packed = zlib.compress((FOLDER / "log").read_bytes(), 6)
    for at in range(0, len(packed), PIECE):
        yield {"piece": base64.b64encode(packed[at : at + PIECE]).decode()}


def counts():
    """What the kernel has counted of VMA locks, faults and rwsems since it booted."""
    found = {}
    for file, wanted in (
        (Path("/proc/vmstat"), ("vma_lock_", "pgfault")),
        (FOLDER / "counters", ""),
    ):
        for line in file.read_text().splitlines():
            name, value = line.split()
            if name.startswith(wanted):
                found[name if wanted else f"step_{name}"] = int(value)
    for file in EVENTS.glob("rwsem_*"):
        found[file.name] = int(file.read_text())
    return found

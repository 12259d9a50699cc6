"""Runs faulters.c: what the kernel counts of its VMA locks, and the log of each step."""

import base64
import subprocess
import zlib
from pathlib import Path

import switches
from switches import mount, turned

HERE = Path(__file__).parent
FOLDER = switches.FOLDER / "vmalock"
VMSTAT = Path("/proc/vmstat")
EVENTS = Path("/sys/kernel/debug/lock_event_counts")
PIECE = 48 * 1024
"""Bytes of a log in one row, before base64."""


def run(params):
    """Yield what each of `params["runs"]` came to, and its log if it has one.

    A run has `mode`, `faulters`, `mappers`, `rounds`, `pages`, `log` (whether to log it),
    `switches` and `delay_us`. Its `counts` are of the time from when all threads are ready until
    all are done, in which this program waits.
    """
    mount()
    if not (FOLDER / "log").exists():
        raise NotImplementedError("lorelab/vmalock/log; it takes lib/kernel/vmalock/patches")
    for number, one in enumerate(params["runs"]):
        (FOLDER / "delay_us").write_text(str(one["delay_us"]))
        with turned(one["switches"] | {"vmalock/count": "on"}):
            words = [one[name] for name in ("mode", "faulters", "mappers", "rounds", "pages")]
            log = FOLDER / "log" if one["log"] else "-"
            command = [HERE / "faulters", "threads", *map(str, words), log, *files()]
            said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        (FOLDER / "delay_us").write_text("0")
        before, after = (counted(read_out(half)) for half in said.split("=\n"))
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
    return counted({file: file.read_text() for file in files()})


def files():
    """Where the kernel says that."""
    return [VMSTAT, FOLDER / "counters", *sorted(EVENTS.glob("rwsem_*"))]


def read_out(said):
    """Files by name, as faulters.c prints what they say."""
    return {
        Path(name): text
        for name, _, text in (part.partition("\n") for part in said.split("= ")[1:])
    }


def counted(texts):
    """Counters by name, of what `files()` say."""
    found = {}
    for file, text in texts.items():
        if file.parent == EVENTS:
            found[file.name] = int(text)
            continue
        for name, value in (line.split() for line in text.splitlines()):
            if file != VMSTAT:
                found[f"step_{name}"] = int(value)
            elif name.startswith(("vma_lock_", "pgfault")):
                found[name] = int(value)
    return found

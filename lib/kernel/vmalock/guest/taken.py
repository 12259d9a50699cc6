"""Runs faulters.c under the kernel's tracepoints: how often mmap_lock is taken, and for what.

Any kernel has them that has MMAP_LOCK's tracepoints and HIST_TRIGGERS.
"""

import re
import subprocess
from pathlib import Path

from switches import turned

HERE = Path(__file__).parent
TRACING = Path("/sys/kernel/tracing")
HISTOGRAMS = {
    "mmap_lock/mmap_lock_acquire_returned": "write,success",
    "exceptions/page_fault_user": "error_code",
}
ONLY = 'if comm == "faulters"'
ENTRY = re.compile(r"^\{ (.*?) \} hitcount:\s+(\d+)", re.MULTILINE)


def run(params):
    """Yield what each of `params["runs"]` came to.

    A run has `mode`, `faulters`, `mappers`, `rounds`, `pages` and `switches`. A row has, of threads
    of faulters.c alone, `reads` and `writes` of mmap_lock, trylocks that `failed`, and `faults`.
    """
    if not TRACING.is_mount():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    for event in HISTOGRAMS:
        if not (TRACING / "events" / event / "trigger").exists():
            raise NotImplementedError(f"the tracepoint {event}")
    for number, one in enumerate(params["runs"]):
        words = [one[name] for name in ("mode", "faulters", "mappers", "rounds", "pages")]
        with turned(one["switches"]):
            for event, keys in HISTOGRAMS.items():
                trigger(event, f"hist:keys={keys} {ONLY}")
            subprocess.run([HERE / "faulters", "threads", *map(str, words), "-"], check=True)
            found = {event: histogram(event) for event in HISTOGRAMS}
            for event, keys in HISTOGRAMS.items():
                trigger(event, f"!hist:keys={keys} {ONLY}")
        lock, faults = found.values()
        yield {
            "run": number,
            "reads": sum(n for key, n in lock.items() if key == (0, 1)),
            "writes": sum(n for key, n in lock.items() if key == (1, 1)),
            "failed": sum(n for key, n in lock.items() if not key[1]),
            "faults": sum(faults.values()),
        }


def trigger(event, text):
    (TRACING / "events" / event / "trigger").write_text(text)


def histogram(event):
    """Hits by the values of the keys."""
    text = (TRACING / "events" / event / "hist").read_text()
    found = {}
    for keys, hits in ENTRY.findall(text):
        values = tuple(int(value, 0) for value in re.findall(r":\s*(\w+)", keys))
        found[values] = found.get(values, 0) + int(hits)
    dropped = re.search(r"Dropped:\s+(\d+)", text)
    if dropped and int(dropped[1]):
        raise RuntimeError(f"{event}: the histogram dropped {dropped[1]} hits")
    return found

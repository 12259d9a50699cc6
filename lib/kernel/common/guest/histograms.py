"""Histograms of trace events, which the kernel itself fills: no reader is too slow for them."""

import re
import subprocess
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
ENTRY = re.compile(r"^\{ (.*?) \} hitcount:\s+(\d+)", re.MULTILINE)


def mount():
    """Mount tracefs, if it is not."""
    if not TRACING.is_mount():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)


def trigger(event, text):
    """Have an event (`mmap_lock/mmap_lock_released`) fill a histogram, or with `!` no longer."""
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

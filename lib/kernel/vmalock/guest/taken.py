"""Runs faulters.c, and counts what its threads do, by the kernel's trace points.

Any kernel has them that has MMAP_LOCK's tracepoints, HIST_TRIGGERS and KPROBE_EVENTS.
"""

import subprocess
from pathlib import Path

from switches import mount, turned
from threads import FOLDER
from traced import counting

HERE = Path(__file__).parent


def run(params):
    """Yield what each of `params["runs"]` came to.

    A run has `mode`, `faulters`, `mappers`, `rounds`, `pages` and `switches`. A row has what
    `counting()` counts, of all threads.
    """
    mount()
    # Marks of VMAs go through a function that has a name while the kernel with the patches counts.
    counts = {"vmalock/count": "on"} if (FOLDER / "counters").exists() else {}
    for number, one in enumerate(params["runs"]):
        words = [one[name] for name in ("mode", "faulters", "mappers", "rounds", "pages")]
        hits = {}
        with turned(one["switches"] | counts), counting(hits):
            subprocess.run([HERE / "faulters", "threads", *map(str, words), "-"], check=True)
        yield {"run": number, **{name: sum(by.values()) for name, by in hits.items()}}

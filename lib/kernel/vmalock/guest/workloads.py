"""Runs launch.c, receive.c and the forks of broken.c: what the kernel counts of its VMA locks."""

import subprocess
from pathlib import Path

from switches import mount, turned
from threads import FOLDER, counts, entries
from traced import counting

HERE = Path(__file__).parent


def run(params):
    """Yield what each of `params["runs"]` came to.

    A run has `command` (a program of this folder and its arguments, but for the log), `switches`,
    and `log`. With a log, rows have that (see threads.py). Without, the row has the numbers that
    the program `said`, what its threads did by trace points (`traced`, of its `first` thread and of
    `all`), and the kernel's `counts` where it has the patches.
    """
    mount()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    patched = (FOLDER / "counters").exists()
    for number, one in enumerate(params["runs"]):
        choices = one["switches"] | ({"vmalock/count": "on"} if patched else {})
        with turned(choices):
            if one["log"]:
                said(one["command"], FOLDER / "log")
                yield from ({"run": number, **row} for row in entries())
                continue
            hits = {}
            before = counts() if patched else {}
            with counting(hits):
                first, numbers = said(one["command"], "-")
            after = counts() if patched else {}
        yield {
            "run": number,
            "said": numbers,
            "counts": {name: after[name] - before[name] for name in after},
            "traced": {
                name: {"first": by.get(first, 0), "all": sum(by.values())}
                for name, by in hits.items()
            },
        }


def said(command, log):
    """Run a program: number of its first thread, and what it said."""
    program, *words = command
    with subprocess.Popen(
        [HERE / program, *words, log], stdout=subprocess.PIPE, text=True
    ) as running:
        out, _ = running.communicate()
    if running.returncode:
        raise RuntimeError(f"{program} ended with {running.returncode}")
    return running.pid, [int(n) for n in out.split()]

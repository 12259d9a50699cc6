"""`vmalock/broken` on a real kernel: a step of the lock left out, in a guest to be thrown away."""

from collections import Counter
from typing import Any

import pandas as pd

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, variant
from lorelab.vmalock.params import Broken

NAME = "vmalock/broken"
SWITCHES = {"fork": "vmalock/fork_mark", "remap": "vmalock/detached_check"}
WRONG = {"fork": ("lost", "writes"), "remap": ("stale", "places")}
APPEND = {
    # A thread that dies with mmap_lock held would leave the others waiting; and where a check
    # failed is said before the console listens (PANIC_PRINT_ALL_PRINTK_MSG, kernel/panic.c).
    "debug": ("oops=panic", "panic_print=0x20"),
    # The job lets it look; what it says of a boot would be the run's failure.
    "kcsan": ("kcsan.early_enable=0",),
}
COUNTED = ("locked", "early", "trylock", "late", "detached", "marked")


def _request(batch: list[Broken]) -> Request:
    [params] = batch
    one = {
        "command": [params.workload, str(params.rounds), str(params.size)],
        "switches": switches(params),
    }
    # A check of DEBUG_VM that fails ends the kernel.
    fatal = params.config == "debug"
    job = Job(DESIGN, "broken", {"runs": [one]}, 2 * SECONDS_A_RUN, 1, fatal=fatal)
    machine = Machine(cpus=4, memory_mib=1024, append=APPEND.get(params.config, ()))
    config = None if params.config == "lab" else params.config
    return Request(machine, job, patched=True, config=config)


def _counters(params: Broken, measured: Measured, run: int) -> pd.DataFrame:
    """All of step 0: `ended` (whether the program did), `lost` writes or `stale` places.

    Besides what the kernel counted of its locks, and its complaints, each a counter `kernel: WORDS`
    with how often it came. Of a kernel that died `ended` and its complaints.
    """
    [row] = measured.rows
    columns = counters_of(params.workload, row)
    return table(NAME, variant(measured), "kernel", columns, first=0)


def counters_of(workload: str, row: dict[str, Any]) -> dict[str, tuple[str, list[int]]]:
    """The counters of a row of guest/broken.py, or of the kernel's death in place of one."""
    if "died" in row:
        counters = {"ended": ("programs", [0])}
        complaints = Counter(row["died"])
    else:
        counters = {"ended": ("programs", [int(row["ended"])])}
        if row["said"]:
            name, unit = WRONG[workload]
            counters[name] = (unit, [row["said"][1]])
        counters |= {f"step_{each}": ("VMAs", [row["counts"][f"step_{each}"]]) for each in COUNTED}
        complaints = row["complaints"]
    return counters | {f"kernel: {words}": ("times", [n]) for words, n in complaints.items()}


def switches(params: Broken) -> dict[str, str]:
    """What is turned: the step that is left out; with KASAN a reader dawdles before it locks."""
    turned = {SWITCHES[params.workload]: "off"} if params.without else {}
    if params.config == "kasan" and params.workload == "remap":
        turned["vmalock/dawdle"] = "on"  # lib/kernel/vmalock/configs/kasan
    return turned


# A boot for each, with the step and without it, for a broken guest can't be trusted.
measure = Measurement(NAME, _request, _counters)

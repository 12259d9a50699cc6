"""`vmalock/workloads` on a real kernel: threads that start, fork, and receive without copying.

A kernel without the chapter's patches answers `path=vma` only, which needs no switch.
"""

from functools import partial

import pandas as pd

from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request, RunOptions
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, cpus, row_of, variant
from lorelab.vmalock.kernel.threads import COUNTED
from lorelab.vmalock.params import AREAS, Workloads

NAME = "vmalock/workloads"
LAUNCHED = range(16, 10_001)
"""Pages of a thread: of its stack it touches at least those that it needs itself, four."""
FORKS = 20
PRINTED = {
    "launch": {},
    "fork": {"forks": "forks", "lost": "writes", "vmas": "VMAs"},
    "receive": {"receives": "calls", "mapped": "bytes", "copied": "bytes"},
}
"""What the programs print, in order."""
TRACED = {
    "faults": "faults",
    "locked": "VMAs",
    "refused": "VMAs",
    "marks": "VMAs",
    "reads": "times",
    "writes": "times",
}
"""What trace points count of the program's own threads."""
WRITERS = ("marks", "reads", "writes")
"""Of these a fork's count is the forking thread's, for its children bear the program's name."""


def request(batch: list[Workloads], log: bool) -> Request:
    """A boot that runs the program of each, all of as many CPUs."""
    runs = [
        {"command": _command(params), "log": log, "switches": _switches(params)} for params in batch
    ]
    machine = Machine(cpus=batch[0].cpus, memory_mib=1024)
    rows = None if log else len(runs)
    job = Job(DESIGN, "workloads", {"runs": runs}, SECONDS_A_RUN * len(runs), rows)
    return Request(machine, job, patched=True)


def check(params: Workloads, options: RunOptions) -> None:
    """Raise BadInput for a launch of threads that touch less than they need, or too much."""
    if params.workload == "launch" and params.size not in LAUNCHED:
        raise BadInput(f"size={params.size}: a launch takes {LAUNCHED[0]} to {LAUNCHED[-1]}")


def _command(params: Workloads) -> list[str]:
    numbers = [str(params.threads), str(params.size)]
    if params.workload == "launch":
        return ["launch", numbers[0], str(AREAS), numbers[1]]
    if params.workload == "fork":
        return ["broken", "fork", str(FORKS), numbers[1]]
    return ["receive", *numbers, "same" if params.same else "other"]


def _switches(params: Workloads) -> dict[str, str]:
    if params.path == "vma":
        return {}
    return {"vmalock/fault_path": params.path, "vmalock/tcp_path": params.path}


def _counters(params: Workloads, measured: Measured, run: int) -> pd.DataFrame:
    """All of step 0: what the program printed, and `TRACED`.

    And from a kernel with the patches the counters of `vmalock/threads`, these for the whole guest,
    receives among them.
    """
    row = row_of(measured, run)
    columns = {
        name: (unit, [row["counts"][name]])
        for name, unit in COUNTED.items()
        if name in row["counts"]
    }
    for (name, unit), value in zip(PRINTED[params.workload].items(), row["said"], strict=True):
        columns[name] = (unit, [value])
    for name, unit in TRACED.items():
        whose = "first" if params.workload == "fork" and name in WRITERS else "all"
        columns[name] = (unit, [row["traced"][name][whose]])
    return table(NAME, variant(measured), "kernel", columns, first=0)


measure = Measurement(NAME, partial(request, log=False), _counters, machine=cpus, check=check)

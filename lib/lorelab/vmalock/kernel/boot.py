"""The machines that the experiments boot, and the runs of lib/kernel/vmalock/guest/threads.py.

Races need CPUs that run at once, a thread of the host for each; counts of instructions need CPUs in
turn, `-icount`. Times of neither mean anything.
"""

from typing import Any

from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Request
from lorelab.vmalock.params import Faulters, Threads, label_of

DESIGN = "vmalock"
SECONDS_A_RUN = 240.0
OF_THE_GUEST = {"cpus", "path"}
"""Fields of `Faulters` that the machine and its switches take, and faulters.c does not."""
BUILDS = ("inside", "unbuilt")
"""States of the lock that take a kernel of their own: lib/kernel/vmalock/configs."""


def config(lock: str) -> str | None:
    """The config of the kernel that has the lock so, where that is not the chapter's."""
    return lock if lock in BUILDS else None


def threads(batch: list[Threads], log: bool) -> Request:
    """A boot that runs faulters.c once for each, all of as many CPUs."""
    runs = [
        program(params) | {"log": log, "switches": {"vmalock/fault_path": params.path}}
        for params in batch
    ]
    machine = Machine(cpus=batch[0].cpus, memory_mib=1024)
    job = Job(DESIGN, "threads", {"runs": runs}, SECONDS_A_RUN * len(runs))
    return Request(machine, job, patched=True)


def cpus(params: Faulters) -> int:
    """What runs that can share a boot have in common."""
    return params.cpus


def program(params: Faulters) -> dict[str, Any]:
    """What faulters.c is run with, by name: every field but those `OF_THE_GUEST`."""
    return params.model_dump(exclude=OF_THE_GUEST)


def variant(measured: Measured) -> str:
    """Variant of the rows of a run: that of the kernel which ran, whatever was asked for."""
    return label_of(measured.source["kernel"].release)


def row_of(measured: Measured, run: int) -> dict[str, Any]:
    """The one row of a run."""
    [row] = (row for row in measured.rows if row["run"] == run)
    return row


def counts_of(measured: Measured, run: int) -> dict[str, int]:
    """What the kernel counted during one run."""
    [counts] = (row["counts"] for row in measured.rows if row["run"] == run and "counts" in row)
    return counts


def pieces_of(measured: Measured, run: int) -> list[str]:
    """The log of one run, as the guest sent it."""
    return [row["piece"] for row in measured.rows if row["run"] == run and "piece" in row]


def logged(measured: Measured, run: int) -> int:
    """Steps that were logged, or would have been if there had been room."""
    [steps] = (row["logged"] for row in measured.rows if row["run"] == run and "logged" in row)
    return steps

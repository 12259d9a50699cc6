"""`vmalock/taken` on a real kernel, ours or not: how often mmap_lock is taken, by tracepoints.

A kernel without the chapter's patches answers `path=vma` only, which needs no switch.
"""

import pandas as pd

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, cpus, program, row_of, variant
from lorelab.vmalock.kernel.workloads import TRACED
from lorelab.vmalock.params import Taken

NAME = "vmalock/taken"
COUNTED = {**TRACED, "failed": "times"}


def _request(batch: list[Taken]) -> Request:
    runs = [
        program(params)
        | {"switches": {} if params.path == "vma" else {"vmalock/fault_path": params.path}}
        for params in batch
    ]
    machine = Machine(cpus=batch[0].cpus, memory_mib=1024)
    job = Job(DESIGN, "taken", {"runs": runs}, SECONDS_A_RUN * len(runs), len(runs))
    return Request(machine, job, patched=True)


def _counters(params: Taken, measured: Measured, run: int) -> pd.DataFrame:
    """All of step 0, of the threads of faulters.c from when all are ready until each is done.

    `TRACED`, and trylocks of mmap_lock that `failed`.
    """
    row = row_of(measured, run)
    columns = {name: (unit, [row[name]]) for name, unit in COUNTED.items()}
    return table(NAME, variant(measured), "kernel", columns, first=0)


measure = Measurement(NAME, _request, _counters, machine=cpus)

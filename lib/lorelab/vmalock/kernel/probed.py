"""`vmalock/probed` on a real kernel: faults and mmap_lock as bcc probes see them."""

import pandas as pd

from lorelab.counters import table
from lorelab.lab import probes
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, cpus, program, row_of, variant
from lorelab.vmalock.params import Probed

NAME = "vmalock/probed"
PROBES = ("faultpath", "mmaplock")
COUNTED = ("vma_lock_success", "vma_lock_abort", "vma_lock_retry", "step_locked")
"""The kernel's own counters that `faultpath` counts, too."""
ATTACH_SECONDS = 300.0


def _request(batch: list[Probed]) -> Request:
    runs = [program(params) | {"switches": {"vmalock/fault_path": params.path}} for params in batch]
    content = {"runs": runs, "probes": PROBES, "still": PROBES[0]}
    job = Job(DESIGN, "probed", content, (ATTACH_SECONDS + SECONDS_A_RUN) * len(runs), len(runs))
    return Request(Machine(cpus=batch[0].cpus, memory_mib=1024, icount=True), job, patched=True)


def _counters(params: Probed, measured: Measured, run: int) -> pd.DataFrame:
    """For the whole guest: `COUNTED`, and what the probes count (`faultpath.*`, `mmaplock.*`).

    All are between the same two moments. Times are of the guest's clock, which counts instructions,
    those of the probes among them.

    Raises
    ------
    RunFailed
        A probe missed something.
    """
    row = row_of(measured, run)
    probes.check_whole(NAME, row["probes"])
    own = {name: ("faults", [row["counts"][name]]) for name in COUNTED}
    kernel = table(NAME, variant(measured), "kernel", own, first=0)
    frames = probes.counters(NAME, variant(measured), row["probes"])
    return pd.concat([kernel, frames], ignore_index=True)


measure = Measurement(NAME, _request, _counters, machine=cpus)

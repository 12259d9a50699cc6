"""`vmalock/threads` on a real kernel: what becomes of faults, how often one waits."""

import pandas as pd

from lorelab.counters import table
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.vmalock.kernel import boot
from lorelab.vmalock.params import Threads

NAME = "vmalock/threads"
COUNTED = {
    "pgfault": "faults",
    "vma_lock_success": "faults",
    "vma_lock_abort": "faults",
    "vma_lock_retry": "faults",
    "vma_lock_miss": "faults",
    "step_no_vma": "faults",
    "step_early": "faults",
    "step_trylock": "faults",
    "step_late": "faults",
    "step_range": "faults",
    "step_locked": "VMAs",
    "step_mmap": "faults",
    "step_marked": "VMAs",
    "step_marked_again": "VMAs",
    "step_wait": "VMAs",
    "rwsem_sleep_reader": "sleeps",
    "rwsem_sleep_writer": "sleeps",
    "rwsem_rlock_steal": "events",
    "rwsem_rlock_handoff": "events",
    "rwsem_wlock_handoff": "events",
    "rwsem_opt_lock": "events",
}


def _request(batch: list[Threads]) -> Request:
    return boot.threads(batch, log=False)


def _counters(params: Threads, measured: Measured, run: int) -> pd.DataFrame:
    """`COUNTED`, all of step 0, for the whole guest.

    From when all threads are ready until all are done, in which nothing else of it runs.
    """
    counts = boot.counts_of(measured, run)
    columns = {name: (unit, [counts[name]]) for name, unit in COUNTED.items()}
    return table(NAME, boot.variant(measured), "kernel", columns, first=0)


measure = Measurement(NAME, _request, _counters, machine=boot.cpus)

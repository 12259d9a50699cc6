"""`vmalock/threads` on a real kernel: what becomes of faults, how often one waits."""

from lorelab.counters import table
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
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


def measure(wanted: list[Threads], lab: Lab) -> list[Record]:
    """Run faulters.c on a kernel with the chapter's switches; runs of as many CPUs share a boot.

    Returns
    -------
    list of Record
        As asked: `COUNTED`, all of step 0, for the whole guest from when all threads are ready
        until all are done, in which nothing else of it runs.
    """
    return by_boot(wanted, lambda params: params.cpus, lambda runs: _measure(runs, lab))


def _measure(wanted: list[Threads], lab: Lab) -> list[Record]:
    measured = boot.threads(wanted, lab, log=False)
    found = []
    for run, params in enumerate(wanted):
        counts = boot.counts_of(measured, run)
        counters = {name: (unit, [counts[name]]) for name, unit in COUNTED.items()}
        laid = table(NAME, boot.variant(measured), "kernel", counters, first=0)
        found.append(measured.record(NAME, params, laid, run + 1))
    return found

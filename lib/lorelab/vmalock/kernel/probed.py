"""`vmalock/probed` on a real kernel: faults and mmap_lock as bcc probes see them."""

import pandas as pd

from lorelab.counters import table
from lorelab.errors import RunFailed
from lorelab.lab import probes
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as run
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, counts_of, program, variant
from lorelab.vmalock.params import Probed

NAME = "vmalock/probed"
PROBES = ("faultpath", "mmaplock")
COUNTED = ("vma_lock_success", "vma_lock_abort", "vma_lock_retry", "step_locked")
"""The kernel's own counters that `faultpath` counts, too."""
ATTACH_SECONDS = 300.0


def measure(wanted: list[Probed], lab: Lab) -> list[Record]:
    """Run faulters.c under probes, with `-icount`; runs of as many CPUs share a boot.

    Returns
    -------
    list of Record
        As asked, for the whole guest: `COUNTED`, and what the probes count (`faultpath.*`,
        `mmaplock.*`), all between the same two moments. Times are of the guest's clock, which
        counts instructions, those of the probes among them.

    Raises
    ------
    RunFailed
        A probe missed something.
    """
    return by_boot(wanted, lambda params: params.cpus, lambda runs: _measure(runs, lab))


def _measure(wanted: list[Probed], lab: Lab) -> list[Record]:
    runs = [
        program(params) | {"switches": {"vmalock/fault_path": params.path}} for params in wanted
    ]
    told = {"runs": runs, "probes": PROBES, "still": PROBES[0]}
    machine = Machine(cpus=wanted[0].cpus, memory_mib=1024, icount=True)
    job = Job(DESIGN, "probed", told, (ATTACH_SECONDS + SECONDS_A_RUN) * len(runs), len(runs))
    measured = run(machine, job, lab, patched=True)
    found = []
    for number, params in enumerate(wanted):
        [row] = (row for row in measured.rows if row["run"] == number)
        if missed := probes.lost(row["probes"]):
            raise RunFailed(f"{NAME}: probes missed events, so that nothing is whole: {missed}")
        counts = counts_of(measured, number)
        own = {name: ("faults", [counts[name]]) for name in COUNTED}
        laid = table(NAME, variant(measured), "kernel", own, first=0)
        said = probes.counters(NAME, variant(measured), row["probes"])
        both = pd.concat([laid, said], ignore_index=True)
        found.append(measured.record(NAME, params, both, number + 1))
    return found

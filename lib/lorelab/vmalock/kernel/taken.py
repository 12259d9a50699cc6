"""`vmalock/taken` on a real kernel, ours or not: how often mmap_lock is taken, by tracepoints."""

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as run
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, program, variant
from lorelab.vmalock.kernel.workloads import TRACED
from lorelab.vmalock.params import Taken

NAME = "vmalock/taken"
COUNTED = {**TRACED, "failed": "times"}


def measure(wanted: list[Taken], lab: Lab) -> list[Record]:
    """Run faulters.c under the tracepoints; runs of as many CPUs share a boot.

    A kernel without the chapter's patches answers `path=vma` only, which needs no switch.

    Returns
    -------
    list of Record
        As asked, all of step 0, of the threads of faulters.c from when all are ready until each is
        done: `TRACED`, and trylocks of mmap_lock that `failed`.
    """
    return by_boot(wanted, lambda params: params.cpus, lambda runs: _measure(runs, lab))


def _measure(wanted: list[Taken], lab: Lab) -> list[Record]:
    runs = [
        program(params)
        | {"switches": {} if params.path == "vma" else {"vmalock/fault_path": params.path}}
        for params in wanted
    ]
    machine = Machine(cpus=wanted[0].cpus, memory_mib=1024)
    job = Job(DESIGN, "taken", {"runs": runs}, SECONDS_A_RUN * len(runs), len(runs))
    measured = run(machine, job, lab, patched=True)
    found = []
    for number, params in enumerate(wanted):
        [row] = (row for row in measured.rows if row["run"] == number)
        counters = {name: (unit, [row[name]]) for name, unit in COUNTED.items()}
        laid = table(NAME, variant(measured), "kernel", counters, first=0)
        found.append(measured.record(NAME, params, laid, number + 1))
    return found

"""`vmalock/instructions` on a real kernel: what a fault and a fork execute."""

from lorelab.counters import table
from lorelab.errors import RunFailed
from lorelab.lab import records
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as run
from lorelab.params import words
from lorelab.vmalock.kernel.boot import BUILDS, DESIGN, of_lock, variant
from lorelab.vmalock.params import Instructions

NAME = "vmalock/instructions"
SECONDS_A_RUN = 120.0


def measure(wanted: list[Instructions], lab: Lab) -> list[Record]:
    """Count under icount, on one CPU; runs of the same kernel share a boot.

    Returns
    -------
    list of Record
        As asked, one step a round: `instructions` of a fault, or of a fork until the parent has its
        child's number.
    """
    return by_boot(
        wanted,
        lambda params: params.lock if params.lock in BUILDS else "",
        lambda runs: _measure(runs, of_lock(runs[0].lock, lab)),
    )


def _measure(wanted: list[Instructions], lab: Lab) -> list[Record]:
    runs = [
        params.model_dump(exclude={"lock"})
        | {"switches": {"vmalock/fault_path": "mmap"} if params.lock == "off" else {}}
        for params in wanted
    ]
    job = Job(DESIGN, "costs", {"runs": runs}, SECONDS_A_RUN * len(runs), len(runs))
    measured = run(Machine(memory_mib=1024, icount=True), job, lab, patched=True)
    found = []
    for number, params in enumerate(wanted):
        [counted] = (row["ns"] for row in measured.rows if row["run"] == number)
        counters = {"instructions": ("instructions", counted)}
        found.append(
            measured.record(
                NAME, params, table(NAME, variant(measured), "kernel", counters), number + 1
            )
        )
    return found


def median(what: str, lock: str) -> float:
    """Median of the recorded rounds [instructions of a fault, or of a fork]."""
    params = Instructions(what=what, lock=lock)
    record = records.load(NAME, params)
    if record is None:
        raise RunFailed(f"{NAME} of {words(params)} is not recorded; add --record to a run of it")
    return record.counters["value"].median()

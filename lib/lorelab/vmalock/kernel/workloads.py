"""`vmalock/workloads` on a real kernel: threads that start, fork, and receive without copying."""

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab, by_boot
from lorelab.lab.run import measure as run
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, counts_of
from lorelab.vmalock.kernel.threads import COUNTED
from lorelab.vmalock.params import Workloads

NAME = "vmalock/workloads"
AREAS = 4
"""A thread's stack, TLS, signal stack and table, as in the model's launch."""
FORKS = 20
SAID = {
    "launch": {},
    "fork": {"forks": "forks", "lost": "writes"},
    "receive": {"receives": "calls", "mapped": "bytes", "copied": "bytes"},
}
"""What the programs print, in order."""


def measure(wanted: list[Workloads], lab: Lab) -> list[Record]:
    """Run the programs on a kernel with the chapter's switches; runs of as many CPUs share a boot.

    Returns
    -------
    list of Record
        As asked: the counters of `vmalock/threads`, `step_locked` (VMAs locked by faults and by
        receives), and what the program printed, all of step 0.
    """
    return by_boot(wanted, lambda params: params.cpus, lambda runs: _measure(runs, lab))


def _command(params: Workloads) -> list[str]:
    numbers = [str(params.threads), str(params.size)]
    if params.workload == "launch":
        return ["launch", numbers[0], str(AREAS), numbers[1]]
    if params.workload == "fork":
        return ["broken", "fork", str(FORKS), numbers[1]]
    return ["receive", *numbers, "same" if params.same else "other"]


def _measure(wanted: list[Workloads], lab: Lab) -> list[Record]:
    runs = [
        {
            "command": _command(params),
            "switches": {
                "vmalock/fault_path": params.path,
                "vmalock/tcp_path": params.path,
            },
        }
        for params in wanted
    ]
    machine = Machine(cpus=wanted[0].cpus, memory_mib=1024)
    job = Job(DESIGN, "workloads", {"runs": runs}, SECONDS_A_RUN * len(runs), len(runs))
    measured = run(machine, job, lab, patched=True)
    found = []
    for number, params in enumerate(wanted):
        counts = counts_of(measured, number)
        [said] = (row["said"] for row in measured.rows if row["run"] == number)
        counters = {name: (unit, [counts[name]]) for name, unit in COUNTED.items()}
        counters["step_locked"] = ("VMAs", [counts["step_locked"]])
        for (name, unit), value in zip(SAID[params.workload].items(), said, strict=True):
            counters[name] = (unit, [value])
        laid = table(NAME, "v6.12", "kernel", counters, first=0)
        found.append(measured.record(NAME, params, laid, number + 1))
    return found

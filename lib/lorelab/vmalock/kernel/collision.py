"""`vmalock/collision` on a real kernel: the sequence moved to where it meets a VMA's again."""

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as run
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, variant
from lorelab.vmalock.params import Collision

NAME = "vmalock/collision"


def measure(wanted: list[Collision], lab: Lab) -> list[Record]:
    """Run collide.c on a kernel with the chapter's switches, all in one boot.

    Returns
    -------
    list of Record
        As asked. Step i is the i-th writer after the sequence was moved, up to the second after the
        n-th: `refused`, faults that found equal sequences in a VMA that nobody marked, while that
        writer was in its section; `marked` and `taken`, the VMAs that it marked, and those that it
        took for marked, where it was that VMA's own first writer.
    """
    runs = [params.model_dump() for params in wanted]
    job = Job(DESIGN, "collision", {"runs": runs}, SECONDS_A_RUN * len(runs), len(runs))
    measured = run(Machine(cpus=2, memory_mib=1024), job, lab, patched=True)
    found = []
    for number, params in enumerate(wanted):
        [lines] = (row["lines"] for row in measured.rows if row["run"] == number)
        words = [line.split() for line in lines if line]
        readers = [int(early) for kind, _, early, *_ in words if kind == "reader"]
        writers = [tuple(map(int, rest)) for kind, _, *rest in words if kind == "writer"]
        counters = {
            "refused": ("faults", readers),
            "marked": ("VMAs", [marked for marked, _ in writers]),
            "taken": ("VMAs", [again for _, again in writers]),
        }
        laid = table(NAME, variant(measured), "kernel", counters)
        found.append(measured.record(NAME, params, laid, number + 1))
    return found

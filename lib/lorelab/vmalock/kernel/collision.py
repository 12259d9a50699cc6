"""`vmalock/collision` on a real kernel: the sequence moved to where it meets a VMA's again."""

import pandas as pd

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request, one_boot
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, row_of, variant
from lorelab.vmalock.params import Collision

NAME = "vmalock/collision"


def _request(batch: list[Collision]) -> Request:
    runs = [params.model_dump() for params in batch]
    job = Job(DESIGN, "collision", {"runs": runs}, SECONDS_A_RUN * len(runs), len(runs))
    return Request(Machine(cpus=2, memory_mib=1024), job, patched=True)


def _counters(params: Collision, measured: Measured, run: int) -> pd.DataFrame:
    """Step i is the i-th writer after the sequence was moved, up to the second after the n-th.

    `refused`, faults that found equal sequences in a VMA that nobody marked, while that writer was
    in its section; `marked` and `taken`, the VMAs that it marked, and those that it took for
    marked, where it was that VMA's own first writer.
    """
    words = [line.split() for line in row_of(measured, run)["lines"] if line]
    readers = [int(early) for kind, _, early, *_ in words if kind == "reader"]
    writers = [tuple(map(int, rest)) for kind, _, *rest in words if kind == "writer"]
    columns = {
        "refused": ("faults", readers),
        "marked": ("VMAs", [marked for marked, _ in writers]),
        "taken": ("VMAs", [again for _, again in writers]),
    }
    return table(NAME, variant(measured), "kernel", columns)


measure = Measurement(NAME, _request, _counters, machine=one_boot)

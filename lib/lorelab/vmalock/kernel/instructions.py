"""`vmalock/instructions` on a real kernel: what a fault and a fork execute, on one CPU."""

import pandas as pd

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.vmalock.kernel.boot import DESIGN, config, row_of, variant
from lorelab.vmalock.params import Instructions

NAME = "vmalock/instructions"
SECONDS_A_RUN = 120.0


def _request(batch: list[Instructions]) -> Request:
    runs = [
        params.model_dump(exclude={"lock"})
        | {"switches": {"vmalock/fault_path": "mmap"} if params.lock == "off" else {}}
        for params in batch
    ]
    job = Job(DESIGN, "costs", {"runs": runs}, SECONDS_A_RUN * len(runs), len(runs))
    machine = Machine(memory_mib=1024, icount=True)
    return Request(machine, job, patched=True, config=config(batch[0].lock))


def _counters(params: Instructions, measured: Measured, run: int) -> pd.DataFrame:
    """A step a round: `instructions` of a fault, or of a fork until the parent has its child."""
    columns = {"instructions": ("instructions", row_of(measured, run)["ns"])}
    return table(NAME, variant(measured), "kernel", columns)


measure = Measurement(NAME, _request, _counters, machine=lambda params: config(params.lock) or "")

"""`faultaround/faults` on an unmodified kernel."""

import pandas as pd

from lorelab.counters import table
from lorelab.faultaround.params import Faults
from lorelab.faultaround.workload import COUNTERS, cached, reads
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request, one_boot

SECONDS_A_RUN = 20.0


def _request(batch: list[Faults]) -> Request:
    runs = [
        {
            "order": params.order,
            "first": params.first,
            "cached": "".join(map(str, cached(params).astype(int))),
            "reads": reads(params).tolist(),
        }
        for params in batch
    ]
    job = Job("faultaround", "faults", {"runs": runs}, 60 + SECONDS_A_RUN * len(runs), len(runs))
    return Request(Machine(memory_mib=1024), job)


def _counters(params: Faults, measured: Measured, run: int) -> pd.DataFrame:
    columns = zip(*measured.rows[run]["faults"], strict=True)
    counters = {
        name: (unit, values) for (name, unit), values in zip(COUNTERS.items(), columns, strict=True)
    }
    return table("faultaround/faults", "v6.12", "kernel", counters)


measure = Measurement("faultaround/faults", _request, _counters, machine=one_boot)

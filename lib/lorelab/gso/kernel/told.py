"""`gso/told` on a kernel without a patch: one socket, two devices, its error queue.

It sends over `dummy0`, which copies nothing, and over loopback, which copies.
"""

import pandas as pd

from lorelab.errors import BadInput
from lorelab.gso.kernel.traffic import LINKS, SECONDS_A_RUN
from lorelab.gso.model.told import Notification
from lorelab.gso.params import Told
from lorelab.gso.workload.told import kinds, table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request, RunOptions, one_boot


def _check(params: Told, options: RunOptions) -> None:
    if params.mended:
        raise BadInput("mended=true: is for the model; no kernel has the patch")


def _request(batch: list[Told]) -> Request:
    runs = [program(params) for params in batch]
    job = Job("gso", "told", {"runs": runs}, SECONDS_A_RUN * len(runs), rows=len(runs))
    return Request(Machine(modules=LINKS), job)


def _counters(params: Told, measured: Measured, run: int) -> pd.DataFrame:
    row = measured.rows[run]
    said = [Notification(low, high, copied) for low, high, copied in row["said"]]
    return table(params, said, row["copied"], "kernel")


def program(params: Told) -> dict[str, object]:
    """One run for the guest's `told.py`."""
    return {"copied": kinds(params), "late": params.late}


measure = Measurement("gso/told", _request, _counters, machine=one_boot, check=_check)

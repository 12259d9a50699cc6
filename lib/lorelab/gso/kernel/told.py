"""`gso/told` on a kernel: one socket, two devices, its error queue.

It sends over `dummy0`, which copies nothing, and over loopback, which copies. With `fixed` a module
has another msg_zerocopy_complete() (see `lorelab.gso.kernel.fixed`).
"""

import pandas as pd

from lorelab.errors import BadInput
from lorelab.gso.kernel import boot, fixed
from lorelab.gso.model.told import Notification
from lorelab.gso.params import Told
from lorelab.gso.workload.told import kinds, table
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request, RunOptions

MODULE = "told_fixed"


def _check(params: Told, options: RunOptions) -> None:
    if params.mended:
        raise BadInput("mended=true: is for the model; no kernel has the patch")
    if params.fixed and options.image is None:
        raise BadInput(
            "fixed=true: takes --kernel PATH, Debian's 6.12 with the module that "
            "`make -C lib/kernel/gso/fixed` adds"
        )


def _request(batch: list[Told]) -> Request:
    runs = [program(params) for params in batch]
    job = Job(boot.DESIGN, "told", {"runs": runs}, boot.SECONDS_A_RUN * len(runs), rows=len(runs))
    # A live patch takes the place of the function as it is loaded.
    modules = (*boot.LINKS, MODULE) if batch[0].fixed else boot.LINKS
    return Request(boot.MACHINE._replace(modules=modules), job)


def _counters(params: Told, measured: Measured, run: int) -> pd.DataFrame:
    row = measured.rows[run]
    queue = [Notification(low, high, copied) for low, high, copied in row["said"]]
    return table(params, queue, row["copied"], "kernel")


def program(params: Told) -> dict[str, object]:
    """One run for the guest's `told.py`."""
    return {"copied": kinds(params), "late": params.late}


plain = Measurement("gso/told", _request, _counters, lambda params: params.fixed, _check)
measure = fixed.measured(plain, "one-word-for-many")

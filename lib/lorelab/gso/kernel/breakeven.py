"""`gso/breakeven` on a kernel: instructions of a send over `dummy0`, one CPU, with icount."""

import pandas as pd

from lorelab import counters
from lorelab.gso.kernel import boot
from lorelab.gso.params import Breakeven
from lorelab.lab.boot import Job
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.params import label

SENDS, REPEATS = 20, 6
"""Six, so that their range has the median with 97 % (`lorelab.judging.rows.intervals`)."""


def _request(batch: list[Breakeven]) -> Request:
    runs = [program(params) for params in batch]
    rows = REPEATS * len(runs)
    job = Job(
        boot.DESIGN, "instructions", {"runs": runs, "repeats": REPEATS}, 30.0 * rows, rows=rows
    )
    config = None if batch[0].pointer == "none" else batch[0].pointer
    return Request(boot.MACHINE._replace(icount=True), job, patched=True, config=config)


def _counters(params: Breakeven, measured: Measured, run: int) -> pd.DataFrame:
    """`instructions` of so many `sends` and of being told of each, a step for each repeat.

    Those are of the system calls, segmentation, the driver, freeing.
    """
    columns = {
        "sends": ("sends", [SENDS] * REPEATS),
        "instructions": ("instructions", [r["ns"] for r in measured.rows if r["run"] == run]),
    }
    return counters.table("gso/breakeven", label(params.variant), "kernel", columns)


def program(params: Breakeven) -> dict[str, object]:
    """One run for the guest's `instructions.py`."""
    return {
        "switches": boot.switches(params.variant),
        "sends": SENDS,
        "length": params.length,
        "segment": params.segment,
        "zerocopy": params.zerocopy,
    }


measure = Measurement(
    "gso/breakeven",
    _request,
    _counters,
    machine=lambda params: params.pointer,
    check=lambda params, _: boot.check_variant(params.variant),
)

"""`gso/told` on a kernel without a patch: one socket, two devices, its error queue."""

from lorelab.errors import BadInput
from lorelab.gso.experiments.told import kinds, table
from lorelab.gso.kernel.traffic import LINKS, SECONDS_A_RUN
from lorelab.gso.model.told import Notification
from lorelab.gso.params import Told
from lorelab.lab.boot import Job, Machine
from lorelab.lab.records import Record
from lorelab.lab.run import Lab
from lorelab.lab.run import measure as boot


def measure(wanted: list[Told], lab: Lab | None = None) -> list[Record]:
    """Send over `dummy0`, which copies nothing, and over loopback, which copies; all in one boot.

    Raises
    ------
    BadInput
        `mended`, or the laboratory lacks something.
    RunFailed
        The guest did not come to the end.
    """
    if any(params.mended for params in wanted):
        raise BadInput("mended=true: is for the model; no kernel has the patch")
    runs = [program(params) for params in wanted]
    job = Job("gso", "told", {"runs": runs}, SECONDS_A_RUN * len(runs), rows=len(runs))
    measured = boot(Machine(modules=LINKS), job, lab)
    records = []
    for run, (params, row) in enumerate(zip(wanted, measured.rows, strict=True), 1):
        said = [Notification(low, high, copied) for low, high, copied in row["said"]]
        counters = table(params, said, row["copied"], "kernel")
        records.append(measured.record("gso/told", params, counters, run))
    return records


def program(params: Told) -> dict[str, object]:
    """One run for the guest's `told.py`."""
    return {"copied": kinds(params), "late": params.late}

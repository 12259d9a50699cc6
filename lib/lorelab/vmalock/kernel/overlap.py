"""`vmalock/overlap` on a real kernel: a fault is held in its VMA, and a writer comes to it."""

import pandas as pd

from lorelab.counters import table
from lorelab.lab.boot import Job, Machine
from lorelab.lab.run import Measured, Measurement, Request
from lorelab.vmalock.kernel.boot import DESIGN, SECONDS_A_RUN, variant
from lorelab.vmalock.kernel.followed import log_table
from lorelab.vmalock.params import Overlap

NAME = "vmalock/overlap"
APPEND = (
    # A freed VMA is filled with 0x6b: a fault that goes on with it finds no file there.
    "slab_debug=FZP,vm_area_struct",
    # A thread that dies with the file system's lock held would leave the others waiting.
    *("oops=panic", "panic_print=0x20"),
)
STEPS = ("marked", "marked_again", "wait")


def _request(batch: list[Overlap]) -> Request:
    [params] = batch
    job = Job(DESIGN, "overlap", {"writer": params.writer}, SECONDS_A_RUN, fatal=True)
    machine = Machine(cpus=2, memory_mib=1024, append=APPEND)
    config = None if params.config == "lab" else params.config
    return Request(machine, job, patched=True, config=config)


def _counters(params: Overlap, measured: Measured, run: int) -> pd.DataFrame:
    """All of step 0, from when the fault begins until it may go on.

    `inside`, readers of the VMA when the writer comes to it; the step that it then takes: `marked`,
    `marked_again` (it takes the VMA for write-locked by itself) or `wait`; `returned`, writers that
    were through while the fault was still held; and `ended`, faults that went on to their end. Of a
    kernel that died of the fault its complaints, each a counter `kernel: WORDS`.
    """
    rows = measured.rows
    log = log_table([row["piece"] for row in rows if "piece" in row])
    # The process faults in other VMAs, too, which the writer does not come to.
    faulted = log.loc[log["event"] == "locked", "vma"]
    came = log[log["vma"].isin(faulted) & log["event"].isin(STEPS)].iloc[0]
    columns = {
        "inside": ("readers", [int(came["holder"])]),
        **{step: ("writers", [int(came["event"] == step)]) for step in STEPS},
        "returned": ("writers", [int(rows[0]["returned"])]),
        "ended": ("faults", [int("ended" in rows[-1])]),
    }
    complaints = rows[-1].get("died", [])
    columns |= {f"kernel: {words}": ("times", [1]) for words in complaints}
    return table(NAME, variant(measured), "kernel", columns, first=0)


# A boot for each, for a kernel that dies can't be asked again.
measure = Measurement(NAME, _request, _counters)

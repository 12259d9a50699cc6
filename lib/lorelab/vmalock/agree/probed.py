"""`vmalock/probed`: what the probes count, against what the kernel counts itself."""

import pandas as pd

from lorelab.judging.agreement import Agreement
from lorelab.lab.probes import counted
from lorelab.lab.records import Record
from lorelab.vmalock.params import Probed

PAIRS = {
    "faultpath.done": "vma_lock_success",
    "faultpath.retry": "vma_lock_retry",
    "faultpath.refused": "vma_lock_abort",
    "faultpath.locked": "step_locked",
}
"""The probe's counters, and those of the kernel that have to be the same. None is an identity: the
probe sees functions of the unpatched kernel return."""


def agree(params: Probed, record: Record) -> Agreement:
    """A probe has to count exactly what the kernel does between the same two moments."""
    values = record.counters.query("step == 0").set_index("counter")["value"]
    rows = [
        {
            "counter": kernel,
            "unit": "faults",
            "kernel": int(values[kernel]),
            "probe": counted(values, probe),
        }
        for probe, kernel in PAIRS.items()
    ]
    table = pd.DataFrame(rows).astype({"probe": "Int64"})
    table["agrees"] = (table["kernel"] == table["probe"]).fillna(False).astype(bool)
    both, same = int(table["probe"].notna().sum()), int(table["agrees"].sum())
    method = f"{same} of {both} counters of the kernel are what the probes count, exactly"
    if both < len(table):
        method += f"; no probe watched the other {len(table) - both}"
    # What no probe watched is missing, and not 0.
    table["detectable"] = table["probe"].astype(float) * 0
    return Agreement.of(table, method)

"""`vmalock/probed`: what the probes count, against what the kernel counts itself."""

import pandas as pd

from lorelab.agreement import Agreement, Verdict
from lorelab.lab.records import Record
from lorelab.vmalock.params import Probed

PAIRS = {
    "faultpath.done": "vma_lock_success",
    "faultpath.retry": "vma_lock_retry",
    "faultpath.refused": "vma_lock_abort",
    "faultpath.locked": "step_locked",
}
"""Probes, and the counters of the kernel that are counted in another place of its code."""


def agree(params: Probed, record: Record) -> Agreement:
    """A probe has to count exactly what the kernel does between the same two moments."""
    found = record.counters.query("step == 0").set_index("counter")["value"]
    rows = [
        {
            "counter": kernel,
            "unit": "faults",
            "kernel": int(found[kernel]),
            "probe": int(found.get(probe, 0)),
        }
        for probe, kernel in PAIRS.items()
    ]
    table = pd.DataFrame(rows).assign(agrees=lambda t: t["kernel"] == t["probe"])
    same = int(table["agrees"].sum())
    judged = f"{same} of {len(table)} counters of the kernel are what the probes count, exactly"
    return Agreement(Verdict.PASSED if same == len(table) else Verdict.FAILED, table, judged)

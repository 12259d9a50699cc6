"""What came of a run of the performance model, as counters."""

import numpy as np
import pandas as pd

from lorelab.counters import table
from lorelab.errors import RunFailed
from lorelab.params import label
from lorelab.vmalock.model.run import run
from lorelab.vmalock.model.state import BUCKETS, COUNT, Machine
from lorelab.vmalock.params import Timed

EVENTS = {
    "vma": "faults",
    "mmap": "faults",
    "abort_early": "faults",
    "abort_trylock": "faults",
    "abort_late": "faults",
    "retry": "faults",
    "sleep_reader": "sleeps",
    "sleep_writer": "sleeps",
    "vma_sleep": "sleeps",
    "handoff": "events",
    "opt_lock": "events",
    "steal": "events",
    "marks": "VMAs",
    "remote": "cache lines",
}
"""Counters of the model that a run gives as they are, and their units."""


def bounds() -> np.ndarray:
    """Least latency of each bucket [ns]; 32 buckets an octave from 64 ns on."""
    n = np.arange(BUCKETS)
    octave = np.maximum(n // 32 - 1, 0)
    return (n - 32 * octave) << octave


def quantile(histogram: np.ndarray, share: float) -> float:
    """Latency that `share` of those in a histogram stay below, within 3 % [ns]; 0 of none."""
    total = int(histogram.sum())
    if not total:
        return 0.0
    reached = np.searchsorted(np.cumsum(histogram), share * total)
    return float(bounds()[reached])


def mean(machine: Machine, total: str, of: str) -> float:
    """Quotient of two counters, 0 of none."""
    number = int(machine.count[COUNT[of]])
    return int(machine.count[COUNT[total]]) / number if number else 0.0


def done(machine: Machine) -> Machine:
    """Run a machine to its end."""
    if not run(machine):
        raise RunFailed("threads of the model are left that nothing wakes; this is a defect of it")
    return machine


def counters(name: str, params: Timed, machine: Machine) -> pd.DataFrame:
    """Counters of a machine that has run (see `lorelab.counters`), all of step 0.

    `reader_wait` and `writer_wait` are means over those that had to wait for mmap_lock.
    """
    count = machine.count
    seconds = max(int(count[COUNT["last"]]), 1) / 1e9
    faults, writes = (int(count[COUNT[each]]) for each in ("faults", "writes"))
    found = {
        "time": ("ms", seconds * 1e3),
        "faults": ("faults", faults),
        "writes": ("calls", writes),
        "fault_rate": ("faults / s", faults / seconds),
        "write_rate": ("calls / s", writes / seconds),
        "fault_p50": ("ns", quantile(machine.fault_latency, 0.5)),
        "fault_p99": ("ns", quantile(machine.fault_latency, 0.99)),
        "fault_mean": ("ns", mean(machine, "fault_time", "faults")),
        "write_p50": ("ns", quantile(machine.write_latency, 0.5)),
        "write_p99": ("ns", quantile(machine.write_latency, 0.99)),
        "reader_wait": ("ns", mean(machine, "reader_wait", "reader_waits")),
        "writer_wait": ("ns", mean(machine, "writer_wait", "writer_waits")),
        "vma_wait": ("ns", mean(machine, "vma_wait", "marks")),
    }
    found |= {each: (unit, int(count[COUNT[each]])) for each, unit in EVENTS.items()}
    laid = {each: (unit, [value]) for each, (unit, value) in found.items()}
    return table(name, label(params.policy), "model", laid, first=0)


def totals(machine: Machine) -> dict[str, int]:
    """The model's own counters by name."""
    return {each: int(machine.count[n]) for each, n in COUNT.items()}

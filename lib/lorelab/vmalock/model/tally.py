"""What a machine counted while it ran, as the counters of a run: rates, means, quantiles."""

import numpy as np

from lorelab.numerics import njit
from lorelab.vmalock.model.state import BUCKETS, COUNT

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


LEAST = bounds()


@njit
def quantile(histogram, share):
    """Latency that `share` of those in a histogram stay below, within 3 % [ns]; 0 of none."""
    total = histogram.sum()
    reached, number = np.uint64(0), 0
    while total and reached + histogram[number] < share * total:
        reached += histogram[number]
        number += 1
    return np.float64(LEAST[number])


@njit
def mean(count, total, of):
    """Quotient of two of the model's counters, 0 of none."""
    return count[total] / count[of] if count[of] else 0.0


UNITS = {
    "time": "ms",
    "faults": "faults",
    "writes": "calls",
    "fault_rate": "faults / s",
    "write_rate": "calls / s",
    "fault_p50": "ns",
    "fault_p99": "ns",
    "fault_mean": "ns",
    "write_p50": "ns",
    "write_p99": "ns",
    "reader_wait": "ns",
    "writer_wait": "ns",
    "vma_wait": "ns",
} | EVENTS
"""Counters of a run and their units, in the order of `tally`."""
FAULTS, WRITES, LAST = COUNT["faults"], COUNT["writes"], COUNT["last"]
FAULT_TIME, VMA_WAIT, MARKS = COUNT["fault_time"], COUNT["vma_wait"], COUNT["marks"]
READER_WAIT, READER_WAITS = COUNT["reader_wait"], COUNT["reader_waits"]
WRITER_WAIT, WRITER_WAITS = COUNT["writer_wait"], COUNT["writer_waits"]
AS_THEY_ARE = np.array([COUNT[name] for name in EVENTS])


@njit
def tally(machine):
    """Counters of a machine that has run, in the order of `UNITS`; shape (counters,)."""
    count = machine.count
    seconds = max(count[LAST], np.uint64(1)) / 1e9
    found = np.zeros(13 + len(AS_THEY_ARE))
    found[0] = seconds * 1e3
    found[1] = count[FAULTS]
    found[2] = count[WRITES]
    found[3] = count[FAULTS] / seconds
    found[4] = count[WRITES] / seconds
    found[5] = quantile(machine.fault_latency, 0.5)
    found[6] = quantile(machine.fault_latency, 0.99)
    found[7] = mean(count, FAULT_TIME, FAULTS)
    found[8] = quantile(machine.write_latency, 0.5)
    found[9] = quantile(machine.write_latency, 0.99)
    found[10] = mean(count, READER_WAIT, READER_WAITS)
    found[11] = mean(count, WRITER_WAIT, WRITER_WAITS)
    found[12] = mean(count, VMA_WAIT, MARKS)
    for n in range(len(AS_THEY_ARE)):
        found[13 + n] = count[AS_THEY_ARE[n]]
    return found

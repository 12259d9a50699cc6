"""`swap/usemem`: repeats of a kernel, a page swapped out, against the model's one run."""

from lorelab.judging.agreement import Agreement, by_interval, compare_runs
from lorelab.judging.rows import by_run, intervals, scattered, without
from lorelab.lab.records import Record
from lorelab.swap.experiments.usemem import simulate
from lorelab.swap.params import Usemem

TIMING = ("deferred", "flushes")
"""Which entries are deferred depends on who meets whose pages; the model is one order of many."""

ONE_SIDED = (
    *("faults", "resident", "reclaims", "aged", "requests", "scanned"),
    *("remote_flushes", "interrupted"),
)
"""What no probe counts, and what the model has no notion of: interrupts, and who flushes whom."""


def agree(params: Usemem, record: Record) -> Agreement:
    """Compare the model with the mean of the repeats."""
    sides = without(ONE_SIDED, simulate(params), record.counters)
    aside = scattered(by_run(sides[1], "swapped"), TIMING)
    return by_interval(intervals(*sides, "swapped", aside), TIMING)


def agree_with_record(params: Usemem, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean of the recorded repeats with that of the new ones."""
    return compare_runs(recorded.counters, measured.counters, "swapped", timing=TIMING)

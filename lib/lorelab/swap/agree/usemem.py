"""`swap/usemem`: repeats of a kernel, a page swapped out, against the model's one run."""

import pandas as pd

from lorelab.agreement import Agreement, by_range, intervals
from lorelab.lab.records import Record
from lorelab.swap.experiments.usemem import simulate
from lorelab.swap.params import Usemem

TIMING = ("deferred", "flushes")
"""Which entries are deferred depends on who meets whose pages; the model is one order of many."""


def agree(params: Usemem, record: Record) -> Agreement:
    """Compare the model with the range of the repeats."""
    return _judge(simulate(params), record.counters)


def again(recorded: Record, measured: Record) -> Agreement:
    """Compare the range of the recorded repeats with that of the new ones."""
    return _judge(recorded.counters, measured.counters)


def _judge(expected: pd.DataFrame, counted: pd.DataFrame) -> Agreement:
    return by_range(intervals(expected, counted, "swapped"), TIMING)

"""`gso/breakeven`: repeats, which interrupts keep from being the same, against those before.

There is no model of it.
"""

from lorelab.gso.params import Breakeven
from lorelab.judging.agreement import Agreement, compare_runs
from lorelab.lab.records import Record


def agree_with_record(params: Breakeven, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean of the recorded repeats, a send, with that of the new ones."""
    return compare_runs(recorded.counters, measured.counters, "sends")

"""`gso/vhost-cost`: repeats, which interrupts keep from being the same, against those before.

There is no model of it.
"""

from lorelab.agreement import Agreement, by_range, intervals
from lorelab.lab.records import Record


def again(recorded: Record, measured: Record) -> Agreement:
    """Compare the range of the recorded repeats, a packet, with that of the new ones."""
    return by_range(intervals(recorded.counters, measured.counters, "sends"))

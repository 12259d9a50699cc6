"""`gso/breakeven`: repeats, which interrupts keep from being the same, against those before.

There is no model of it.
"""

from lorelab.agreement import Agreement, anew
from lorelab.gso.params import Breakeven
from lorelab.lab.records import Record


def again(params: Breakeven, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean of the recorded repeats, a send, with that of the new ones."""
    return anew(recorded.counters, measured.counters, "sends")

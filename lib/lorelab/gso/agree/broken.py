"""`gso/broken`: whether model and kernel complain of the same designs."""

from lorelab.gso.experiments.broken import simulate
from lorelab.gso.params import Broken
from lorelab.judging.agreement import Agreement, equal
from lorelab.lab.records import Record


def agree(params: Broken, record: Record) -> Agreement:
    """Compare `complains`; what the kernel says in words, and how often, no model has."""
    counters = record.counters
    return equal(simulate(params), counters[counters["counter"] == "complains"])

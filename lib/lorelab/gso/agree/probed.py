"""`gso/probed`: equal in every counter that the run measured."""

from lorelab.gso.agree.measured import equal
from lorelab.gso.experiments.probed import simulate
from lorelab.gso.params import Traffic
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record


def agree(params: Traffic, record: Record) -> Agreement:
    """Compare counter by counter."""
    return equal(simulate(params), record.counters)

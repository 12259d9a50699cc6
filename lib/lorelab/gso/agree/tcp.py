"""`gso/tcp`: equal in every counter that the run measured."""

from lorelab.gso.agree.measured import equal
from lorelab.gso.experiments.tcp import simulate
from lorelab.gso.params import Tcp
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record


def agree(params: Tcp, record: Record) -> Agreement:
    """Compare counter by counter."""
    return equal(simulate(params), record.counters)

"""`gso/tcp`: equal in every counter that the run measured."""

from lorelab.agreement import Agreement
from lorelab.gso.agree.measured import equal
from lorelab.gso.experiments.tcp import simulate
from lorelab.gso.params import Tcp
from lorelab.lab.records import Record


def agree(params: Tcp, record: Record) -> Agreement:
    """Compare counter by counter."""
    return equal(simulate(params), record.counters)

"""`gso/vhost`: equal in every counter that the run measured."""

from lorelab.gso.agree.measured import equal
from lorelab.gso.experiments.vhost import simulate
from lorelab.gso.params import Vhost
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record


def agree(params: Vhost, record: Record) -> Agreement:
    """Compare counter by counter."""
    return equal(simulate(params), record.counters)

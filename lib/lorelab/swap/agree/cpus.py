"""`swap/cpus`: the repeats of a kernel against as many of the model's."""

from lorelab.agreement import Agreement, by_range, intervals
from lorelab.lab.records import Record
from lorelab.swap.experiments.cpus import simulate
from lorelab.swap.params import Cpus


def agree(params: Cpus, record: Record) -> Agreement:
    """Let the model's task move as often as the kernel's did, and compare ranges.

    How often is between scheduler and host: 2 moves in a repeat on a busy host, fewer than 1 on an
    idle one. So a run measured anew can't be held against the record.
    """
    counted = record.counters
    moves = counted.loc[counted["counter"] == "migrations", "value"].mean()
    model = simulate(params.model_copy(update={"moves": float(moves)}))
    return by_range(intervals(model, counted, "folios"))

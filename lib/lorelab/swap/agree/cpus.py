"""`swap/cpus`: the repeats of a kernel against as many of the model's."""

from lorelab.judging.agreement import Agreement, by_interval, compare_runs
from lorelab.judging.rows import intervals
from lorelab.lab.records import Record
from lorelab.swap.experiments.cpus import simulate
from lorelab.swap.params import Cpus

MOVES = ("migrations",)
"""How often a task moves is between scheduler and host: 2 moves in a repeat on a busy host, fewer
than 1 on an idle one. The model is given the kernel's mean; of two runs of a kernel, timing alone
decides it."""


def agree(params: Cpus, record: Record) -> Agreement:
    """Let the model's task move as often as the kernel's did, and compare means."""
    counted = record.counters
    moves = counted.loc[counted["counter"] == "migrations", "value"].mean()
    model = simulate(params.model_copy(update={"moves": float(moves)}))
    return by_interval(intervals(model, counted, "folios", MOVES), inputs=MOVES)


def agree_with_record(params: Cpus, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean of the recorded repeats with that of the new ones."""
    return compare_runs(recorded.counters, measured.counters, "folios", timing=MOVES)

"""`damon/schemes`: totals of runs, on either side."""

import pandas as pd

from lorelab.damon.agree.runs import RUNS, WITHIN, compare_runs, intervals, judged
from lorelab.damon.experiments import schemes
from lorelab.damon.params import TOOK, Schemes, Speeds
from lorelab.errors import BadInput
from lorelab.judging.agreement import Agreement
from lorelab.judging.rows import without
from lorelab.lab.records import Record

ONE_SIDED = ("own", "splits", "bloat")
"""Pages of the process' own and splits of its huge ones; the model counts what collapses filled."""


def agree(params: Schemes, record: Record) -> Agreement:
    """Judge totals of runs by their means, which may be 5 % apart."""
    how = f"by means of totals, which may be {WITHIN:.0%} apart"
    return judged(compared(params, record), how)


def agree_with_record(params: Schemes, recorded: Record, measured: Record) -> Agreement:
    """Compare the mean totals of the recorded runs with those of the new ones."""
    return compare_runs(recorded.counters, measured.counters, "runs")


def compared(params: Schemes, measured: Record) -> pd.DataFrame:
    """Totals of the kernel's runs against those of the model's.

    They agree where the means are not shown to differ, or are within 5 %: the kernel's count some
    pages of the process' own, the model's do not. Where a record does not say how long
    monitoring led the program, the model begins with it.
    """
    took = measured.counters.groupby("counter")["value"].mean()
    if "collapse" not in took:
        raise BadInput("the recorded run does not say what things took; measure again: --live")
    inputs = ("access", "check", "page", "collapse", "lead")
    like = Speeds(cpus=1)._replace(
        **{f"{name}_{TOOK[name]}": round(took[name]) for name in inputs if name in took}
    )
    model = schemes.simulate(params.model_copy(update={"runs": RUNS}), like)
    table = intervals(*without(ONE_SIDED, model, measured.counters), "runs")
    return table.assign(agrees=table["agrees"] | ((table["model/kernel"] - 1).abs() <= WITHIN))

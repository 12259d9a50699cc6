"""`damon/overhead`: the cost of monitoring, on either side."""

import pandas as pd

from lorelab.damon.agree.runs import ON_ONE_CPU, RUNS, WITHIN, judged, seeded
from lorelab.damon.experiments import overhead
from lorelab.damon.params import Overhead
from lorelab.errors import BadInput
from lorelab.judging import equivalence
from lorelab.judging.agreement import Agreement
from lorelab.lab.records import Record


def agree(params: Overhead, record: Record) -> Agreement:
    """Judge the figures of a run by whether they are within 5 % of the model's mean."""
    how = f"the kernel's run is within {WITHIN:.0%} of the mean of the model's"
    return judged(compared(params, record), how, inputs=("cpu",))


def compared(params: Overhead, measured: Record) -> pd.DataFrame:
    """One run of the kernel against the mean of the model's, which takes a check's cost from it."""
    kernel = measured.counters.set_index("counter")["value"]
    if "instructions_per_check" not in kernel:
        raise BadInput("the recorded run does not say what a check costs; measure again: --live")
    like = ON_ONE_CPU._replace(check_ns=round(kernel["instructions_per_check"]))
    models = [overhead.simulate(seeded(params, params.seed + n), like) for n in range(RUNS)]
    mean = pd.concat(models).groupby(["counter", "unit"], sort=False)["value"].mean()
    table = mean.rename("model").reset_index()
    table["kernel"] = table["counter"].map(kernel)
    table["model/kernel"] = table["model"] / table["kernel"]
    each = pd.concat(models).groupby("counter")["value"]
    table["agrees"] = (table["model/kernel"] - 1).abs() <= WITHIN
    # Of the kernel one run: what it has of chance is what the model's runs have.
    table["detectable"] = [
        equivalence.ratio(each.get_group(row.counter), [row.kernel]).detectable
        for row in table.itertuples()
    ]
    return table

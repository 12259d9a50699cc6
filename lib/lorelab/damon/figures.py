"""The three tables of the evaluation, and the arithmetic that their author did on them."""

from functools import cache, partial

import numpy as np
import pandas as pd

from lorelab.judging import threads

METRICS = {"runtime": "s", "memused.avg": "KiB", "rss.avg": "KiB"}
"""Names of the tables as printed, and the unit of their cells."""
HALF = 0.0005
"""Half a unit of the last digit printed: cells have three decimals."""

figure = partial(threads.figure, "damon")
"""Value of one printed figure, by its row in data/threads/damon.csv."""


def cells() -> pd.DataFrame:
    """The 312 cells, indexed by id; `percent` is a float, not a number where none is printed."""
    rows = threads.figures("damon")
    rows = rows[rows["quantity"].isin(list(METRICS))]
    return rows.assign(percent=pd.to_numeric(rows["percent"]))


@cache
def table(metric: str, column: str = "value") -> pd.DataFrame:
    """A table as printed.

    Parameters
    ----------
    metric : str
        One of `METRICS`.
    column : str
        `value`, in the unit of the metric, or `percent`, the overhead printed beside it.

    Returns
    -------
    DataFrame
        One row a workload, the last one `total`; one column a configuration, `orig` first. It is
        kept, and not to be changed.
    """
    here = cells()
    here = here[here["quantity"] == metric]
    wide = here.pivot_table(index="workload", columns="configuration", values=column, sort=False)
    return wide.rename_axis(index=None, columns=None)


def workloads(metric: str) -> pd.DataFrame:
    """The table without its total."""
    return table(metric).drop(index="total")


def overhead(values: pd.DataFrame) -> pd.DataFrame:
    """Overhead over `orig` in per cent."""
    return 100 * (values.div(values["orig"], axis=0) - 1).drop(columns="orig")


def spread(metrics: tuple[str, ...]) -> pd.DataFrame:
    """Overhead of each workload in some tables.

    Returns
    -------
    DataFrame
        `workload`, `configuration`, `overhead` (%) and `metric`, a row for each.
    """
    return pd.concat(
        overhead(workloads(metric))
        .rename_axis("workload")
        .reset_index()
        .melt("workload", var_name="configuration", value_name="overhead")
        .assign(metric=metric)
        for metric in metrics
    ).round(3)


def unweighted(metric: str) -> pd.Series:
    """Geometric mean overhead of the workloads, in per cent, by configuration."""
    ratios = workloads(metric).div(workloads(metric)["orig"], axis=0)
    return (100 * (np.exp(np.log(ratios).mean()) - 1)).drop("orig")


def without(metric: str, workload: str) -> pd.Series:
    """Overhead of the sum of all workloads but one, in per cent, by configuration."""
    rest = workloads(metric).drop(index=workload).sum()
    return (100 * (rest / rest["orig"] - 1)).drop("orig")


def awk(number: float) -> float:
    """What is left of a number that awk prints and reads again.

    An integer keeps all its digits, any other number six (POSIX awk: `%d` if integral, else
    OFMT, by default `%.6g`).
    """
    return number if float(number).is_integer() else float(f"{number:.6g}")


def printed_sum(values: pd.Series) -> float:
    """Sum with one pass through awk's text after each addition."""
    total = 0.0
    for value in values:
        total = awk(round(total + value, 6))
    return total


def reachable_sums(values: pd.Series, steps: int = 21) -> list[float]:
    """Every such sum that the digits cut from the cells allow, in order.

    Each cell may be off by up to half a unit of its last printed digit; `steps` values across
    that width are tried at every addition.
    """
    hidden = np.linspace(-HALF, HALF, steps)[1:-1]
    sums = {0.0}
    for value in values:
        sums = {awk(round(total + value + cut, 7)) for total in sums for cut in hidden}
    return sorted(sums)


def totals() -> pd.DataFrame:
    """The twelve totals beside three ways to add up their rows.

    Returns
    -------
    DataFrame
        Columns metric, configuration, `printed`, `exact` (sum of the rows), `slack` (what
        rounding of the rows can make up for), `text` (see `printed_sum`), `reachable` (see
        `reachable_sums`; runtimes only, memory in KiB averaged over 5 runs hides no digit).
    """
    rows = []
    for metric in METRICS:
        for name, values in workloads(metric).items():
            printed = float(table(metric).loc["total", name])
            reach = metric == "runtime" and printed in reachable_sums(values)
            text = printed_sum(values)
            rows.append(
                {
                    "metric": metric,
                    "configuration": name,
                    "printed": printed,
                    "exact": round(float(values.sum()), 3),
                    "slack": round(HALF * len(values), 4) if metric == "runtime" else 0.0,
                    "text": text,
                    "reachable": reach or text == printed,
                }
            )
    return pd.DataFrame(rows)


def percentages() -> pd.DataFrame:
    """Every printed overhead beside the one that its cells give.

    Returns
    -------
    DataFrame
        Indexed by the cell's id; `printed`, `recomputed`, `slack` (what the digits cut from the
        two cells can change) and `agrees`, all but the last in per cent.
    """
    here = cells()
    here = here[here["configuration"] != "orig"]
    base = {metric: table(metric)["orig"] for metric in METRICS}
    pairs = zip(here["quantity"], here["workload"], strict=True)
    orig = np.array([base[metric][workload] for metric, workload in pairs])
    ratio = here["value"].to_numpy() / orig
    cut = np.where(here["quantity"] == "runtime", HALF, 0)
    rows = pd.DataFrame(
        {
            "printed": here["percent"],
            "recomputed": 100 * (ratio - 1),
            "slack": 100 * cut / orig * (1 + ratio),
        }
    )
    far = (rows["printed"] - rows["recomputed"]).abs()
    return rows.assign(agrees=far <= 0.005 + rows["slack"] + 1e-9)

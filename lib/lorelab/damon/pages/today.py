"""A question that was open on the list in 2026, put to the model of 7.3.4's kdamond."""

import pandas as pd

from lorelab.damon.experiments import accuracy, masim
from lorelab.damon.model.memory import Pages
from lorelab.damon.model.state import Damon
from lorelab.damon.params import ALONE, Accuracy, Speeds, Variant, runs
from lorelab.damon.workload.accuracy import figures
from lorelab.damon.workload.setup import configuration, context, memory

FIGURES = ["rate_error", "misplaced", "lag_mean", "checks_per_second"]
RULES = {
    "6.12.117": {"variant": Variant.DAMON},
    "7.3.4 without splits above half": {"variant": Variant.V7_3, "splits_some": False},
    "7.3.4": {"variant": Variant.V7_3},
}


def above_half(program: str, max_regions: int, repeats: int, seed: int = 1) -> pd.DataFrame:
    """Runs of kdamond at a bound on its regions, by `RULES`: a row a run.

    Returns
    -------
    DataFrame
        `rules`, `max_regions`, and `FIGURES` as `damon/accuracy` has them.
    """
    rows = []
    for name, rules in RULES.items():
        params = Accuracy(
            workload=program,
            max_regions=max_regions,
            variant=rules["variant"],
            runs=repeats,
            seed=seed,
        )
        for one in runs(params):
            pages, ctx = _started(one)
            ctx.info["splits_some"] = rules.get("splits_some", True)
            seen = masim.compare_windows(one, pages, masim.monitored(one, ctx, pages))
            rows.append({"rules": name, "max_regions": max_regions} | _figures(one, seen))
    return pd.DataFrame(rows)


def _started(params: Accuracy) -> tuple[Pages, Damon]:
    pages = memory(params, configuration(params), _speeds(params), truth=True)
    return pages, context(params, pages)


def _speeds(params: Accuracy) -> Speeds:
    return ALONE._replace(sleep_us=params.sample_us)


def _figures(params: Accuracy, seen: pd.DataFrame) -> dict[str, float]:
    found = figures(seen, accuracy.planned(params), params, _speeds(params))
    return {name: found[name][1] for name in FIGURES}

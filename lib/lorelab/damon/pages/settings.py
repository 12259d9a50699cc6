"""Variant beside variant, and setting beside setting: error against overhead."""

from collections.abc import Callable, Iterator
from itertools import product

import pandas as pd

from lorelab.damon.experiments import accuracy, masim
from lorelab.damon.model.alternatives import NULLS, Watched
from lorelab.damon.pages import views
from lorelab.damon.params import ALONE, Accuracy, Variant
from lorelab.damon.workload.accuracy import figures
from lorelab.damon.workload.setup import configuration, memory
from lorelab.params import label

BOTH = ("stairs-30secs", "random")
"""Programs that settings are compared on."""
BESIDE = (Variant.FIXED, Variant.SPLIT_2, Variant.TUNED, Variant.IDEAL)
"""Variants that stand beside the settings, at the default ones."""


def measured(params: Accuracy, **changes: object) -> pd.Series:
    """Counters of a run of damon/accuracy."""
    run = accuracy.simulate(params.model_copy(update=changes))
    return run.set_index("counter")["value"]


def variants(params: Accuracy, programs: list[str]) -> dict[str, pd.DataFrame]:
    """Counters of every variant on each program.

    Returns
    -------
    dict of DataFrame
        By program: a row a counter, a column a variant.
    """
    return {
        program: pd.DataFrame(
            {label(v): measured(params, variant=v, workload=program) for v in Variant}
        )
        for program in programs
    }


def nulls(params: Accuracy, programs: list[str]) -> dict[str, pd.DataFrame]:
    """Counters of reports that take no monitor (`NULLS`), as `variants` has them."""
    return {
        program: pd.DataFrame(
            {
                name: _null(params.model_copy(update={"workload": program}), windows)
                for name, windows in NULLS.items()
            }
        )
        for program in programs
    }


def _null(params: Accuracy, windows: Callable[..., Iterator[Watched]]) -> pd.Series:
    speeds = ALONE._replace(sleep_us=params.sample_us)
    pages = memory(params, configuration(params), speeds, truth=True)
    reported = windows(pages, params.samples, params.sample_us)
    compared = masim.compare_windows(params, pages, reported)
    values = figures(compared, accuracy.planned(params), params, speeds)
    return pd.Series({name: value for name, (_, value) in values.items()})


def table(runs: dict[str, pd.DataFrame], counter: str) -> pd.DataFrame:
    """One counter of `variants`, a row a variant and a column a program."""
    return pd.DataFrame({program: run.loc[counter] for program, run in runs.items()})


def both(params: Accuracy, **changes: object) -> dict[str, float]:
    """Mean of the error of the rate and of the checks a second, over the programs `BOTH`."""
    runs = [measured(params, workload=program, **changes) for program in BOTH]
    return {
        "error": sum(run["rate_error"] for run in runs) / len(runs),
        "checks": sum(run["checks_per_second"] for run in runs) / len(runs),
    }


def grid(
    params: Accuracy, samples_us: list[int], windows: list[int], leasts: list[int]
) -> pd.DataFrame:
    """Error and checks of `both` at every setting, and of the variants `BESIDE`.

    Parameters
    ----------
    params : Accuracy
    samples_us, windows, leasts : list of int
        Sampling intervals, samples a window, least numbers of regions.

    Returns
    -------
    DataFrame
        `kind`, `setting` (in words), `us`, `n`, `least`, `error`, `checks`, and `front`, which
        says whether nothing is better in both (`views.front`).
    """
    rows = []
    for us, n, least in product(samples_us, windows, leasts):
        run = both(params, sample_us=us, aggr_us=us * n, min_regions=least)
        setting = {"setting": f"{us / 1000:g} ms, {n} samples", "us": us, "n": n, "least": least}
        rows.append({"kind": f"at least {least} regions", **setting, **run})
    for variant in BESIDE:
        run = both(params, variant=variant)
        rows.append({"kind": "variants, default setting", "setting": label(variant), **run})
    return views.front(pd.DataFrame(rows)).sort_values("kind", ascending=False)

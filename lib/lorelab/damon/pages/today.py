"""Questions that were open on the list in 2026, put to the models of kdamond."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

import pandas as pd

from lorelab.damon.agree.hotspot import at_speed
from lorelab.damon.experiments import accuracy, hotspot, masim
from lorelab.damon.model.alternatives import NULLS, Watched
from lorelab.damon.model.memory import Pages
from lorelab.damon.model.state import Damon
from lorelab.damon.model.v7_3 import LAST_NR_REGIONS, ROTATION
from lorelab.damon.params import ALONE, Accuracy, Hotspot, Speeds, Variant, runs
from lorelab.damon.workload.accuracy import figures
from lorelab.damon.workload.setup import configuration, context, memory
from lorelab.experiments import experiment
from lorelab.params import seeded

FIGURES = ["rate_error", "misplaced", "lag_mean", "checks_per_second", "regions_mean"]
RULES = {
    "6.12.117": {"variant": Variant.DAMON},
    "fixed regions": {"variant": Variant.FIXED},
    "7.3.4 without splits above half": {"variant": Variant.V7_3, "splits_some": False},
    "7.3.4": {"variant": Variant.V7_3},
}
SHARED = {
    "neither (the fix)": (),
    "last_nr_regions": (LAST_NR_REGIONS,),
    "rotation": (ROTATION,),
    "both (7.3.4)": (LAST_NR_REGIONS, ROTATION),
}
"""Static variables that two kdamonds share."""
SEARCH = {"hot_kib": 256, "runs": 12, "windows": 150, "own": True}
"""What was recorded on 6.12.117, by one kdamond and by two."""


def above_half(program: str, max_regions: int, repeats: int, seed: int = 1) -> pd.DataFrame:
    """Runs of kdamond at a bound on its regions, by `RULES`, and of `NULLS`, which take no monitor.

    Returns
    -------
    DataFrame
        `rules`, names of `NULLS` among them, `max_regions`, `FIGURES` as `damon/accuracy` has
        them, and kdamond's `merges` in all windows; a row a run.
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
            compared = masim.compare_windows(one, pages, masim.monitored(one, ctx, pages))
            merges = int(ctx.info["merges"][0])
            rows.append({"rules": name, "merges": merges} | _figures(one, compared))
    for (name, null), one in product(NULLS.items(), runs(params)):
        pages, _ = _started(one)
        windows = null(pages, one.samples, one.sample_us)
        rows.append({"rules": name} | _figures(one, masim.compare_windows(one, pages, windows)))
    return pd.DataFrame(rows).assign(max_regions=max_regions)


def shared(
    program: str, max_regions: int, repeats: int, seed: int = 1, names: Iterable[str] = SHARED
) -> pd.DataFrame:
    """Runs of one of two kdamonds of 7.3.4, each with its own program, by what they share.

    Their windows alternate, as those of two kdamonds of 6.12.117 do in every recorded run.

    Parameters
    ----------
    program : str
        A workload of `damon/accuracy`.
    max_regions, repeats, seed : int
        Bound of the number of regions; runs, with seeds from `seed` on.
    names : iterable of str
        Those of `SHARED` to run.

    Returns
    -------
    DataFrame
        `shared` (`SHARED`), `seed`, and `FIGURES` of the first kdamond; a row a run.
    """
    params = Accuracy(
        workload=program, max_regions=max_regions, variant=Variant.V7_3, runs=repeats, seed=seed
    )
    rows = []
    for name in names:
        for one in runs(params):
            first, second = _started(one), _started(seeded(one, one.seed + repeats))
            windows = _in_turns(one, first, second, SHARED[name])
            compared = masim.compare_windows(one, first[0], windows)
            rows.append({"shared": name, "seed": one.seed} | _figures(one, compared))
    return pd.DataFrame(rows)


def _in_turns(
    params: Accuracy,
    first: tuple[Pages, Damon],
    second: tuple[Pages, Damon],
    places: tuple[int, ...],
) -> Iterator[Watched]:
    """Windows of the first kdamond; after each, the second has one of its own."""
    (pages, ctx), (memory_, other) = first, second
    beside = masim.monitored(params, other, memory_)
    for window in masim.monitored(params, ctx, pages):
        yield window
        for place in places:
            other.static[place] = ctx.static[place]
        next(beside)
        for place in places:
            ctx.static[place] = other.static[place]


@cache
def missed(repeats: int, windows: int, seed: int = 1) -> pd.DataFrame:
    """Runs of the model that miss 256 hot KiB of 1 GiB in all windows (`SEARCH`).

    Returns
    -------
    DataFrame
        A row by rules, and one at the speeds of the runs recorded on 6.12.117; a column by the
        number of kdamonds.
    """
    columns = {}
    for kdamonds in (1, 2):
        search = Hotspot(**SEARCH, kdamonds=kdamonds)
        old = search.model_copy(update={"runs": repeats, "windows": windows, "seed": seed})
        record = experiment("damon/hotspot").recorded(search)
        ways = {
            "6.12.117": (old, ALONE),
            "6.12.117 at the speeds of its record": at_speed(old, record),
            "7.3.4": (old.model_copy(update={"variant": Variant.V7_3}), ALONE),
        }
        columns[kdamonds] = {
            name: sum(hotspot.watched(one, speeds).wait == 0 for one in runs(params))
            for name, (params, speeds) in ways.items()
        }
    return pd.DataFrame(columns).rename_axis(columns="kdamonds")


def _started(params: Accuracy) -> tuple[Pages, Damon]:
    pages = memory(params, configuration(params), _speeds(params), truth=True)
    return pages, context(params, pages)


def _speeds(params: Accuracy) -> Speeds:
    return ALONE._replace(sleep_us=params.sample_us)


def _figures(params: Accuracy, seen: pd.DataFrame) -> dict[str, float]:
    values = figures(seen, accuracy.planned(params), params, _speeds(params))
    return {name: values[name][1] for name in FIGURES}

"""Answers of the page of questions: a table of runs of the model, and what it comes to."""

import pandas as pd

from lorelab.damon.experiments import accuracy, hot_range
from lorelab.damon.params import Accuracy, HotRange

RANGE = ["nr_regions", "checks", "misplaced", "rate_error"]
"""Of a window of `damon/hot-range`, in the mean of the run."""


def _mean(params: HotRange) -> pd.Series:
    return hot_range.simulate(params).groupby("counter")["value"].mean()


def _runs(name: str, kinds: dict[str, HotRange], shown: list[str]) -> pd.DataFrame:
    runs = {kind: _mean(params) for kind, params in kinds.items()}
    return pd.DataFrame(runs).T[shown].rename_axis(name)


def faster() -> tuple[pd.DataFrame, str]:
    """What DAMON sees of a hot range, and of `zigzag`, with a sample each 5 ms and each ms."""
    every = _runs("sample_us", {us: HotRange(sample_us=us) for us in (5000, 1000)}, RANGE)
    times = every.loc[1000] / every.loc[5000]
    zigzag = {
        us: accuracy.simulate(Accuracy(sample_us=us)).set_index("counter")["value"]
        for us in (5000, 1000)
    }
    moving = zigzag[1000] / zigzag[5000]
    assert times["misplaced"] < 1 < moving["misplaced"]
    return every.round(4), (
        f"Yes, if the range moves once in {HotRange().windows} windows: DAMON checks "
        f"{times['checks']:.1f} times as often and misplaces {times['misplaced']:.2f} times as "
        "much memory. No, if it moves on as in the program `zigzag` (`lorelab model damon/accuracy "
        f"-p sample_us=1000`): there it checks {moving['checks_per_second']:.1f} times as often, "
        f"misplaces {moving['misplaced']:.1f} times as much memory, and sees "
        f"{zigzag[1000]['hot_seen']:.0%} of the accesses to hot memory in place of "
        f"{zigzag[5000]['hot_seen']:.0%}. One seed each."
    )


def fewer() -> tuple[pd.DataFrame, str]:
    """What is left of it with ten regions at most."""
    kinds = {
        "10 to 1000": HotRange(),
        "10 at most": HotRange(max_regions=10),
        "never split or merged": HotRange(variant="fixed"),
    }
    means = _runs("regions", kinds, ["splits", *RANGE, "rate_error_cold"])
    assert means.loc["10 at most"].equals(means.loc["never split or merged"])
    percent = 100 * means.loc["10 at most"]
    return means.round(4), (
        "Nothing that adapts: every counter is the same as with regions that are never split or "
        f"merged. The error is {percent['rate_error']:.1f} %, where calling all memory cold has "
        f"{percent['rate_error_cold']:.1f} % and DAMON's default "
        f"{100 * means.loc['10 to 1000', 'rate_error']:.1f} %. `kdamond_split_regions()` splits "
        "none while there are more than half of the regions allowed."
    )


def every_page() -> tuple[pd.DataFrame, str]:
    """What it costs to look at every page."""
    pages = HotRange(windows=10, min_regions=70_000, max_regions=100_000)
    kinds = {"10 to 1000": HotRange(windows=10), "70000 to 100000": pages}
    means = _runs("regions", kinds, RANGE)
    lasted = {}
    for kind, params in kinds.items():
        ends = hot_range.simulate(params).query("counter == 'end'")["value"]
        lasted[kind] = ends.iloc[-1] / params.windows
    means["seconds"] = pd.Series(lasted)
    more = means.loc["70000 to 100000"] / means.loc["10 to 1000"]
    return means.round(4), (
        f"{more['checks']:,.0f} times as many checks per window, and "
        f"{means.loc['70000 to 100000', 'misplaced'] / 1024:.0f} KiB are misplaced in place of "
        f"{means.loc['10 to 1000', 'misplaced'] / 1024:,.0f}. One thread can't make the checks in "
        f"time: its window lasts {lasted['70000 to 100000']:.2f} s in place of "
        f"{lasted['10 to 1000']:.2f}."
    )

"""Answers of the page of questions: a table of runs of the model, and what it comes to."""

import pandas as pd

from lorelab.damon.experiments.accuracy import simulate
from lorelab.damon.params import Accuracy


def faster() -> tuple[pd.DataFrame, str]:
    """What DAMON sees of `zigzag` with a sample each 5 ms and each ms."""
    shown = ["checks_per_second", "misplaced", "hot_seen", "regions_mean"]
    looks = {
        us: simulate(Accuracy(sample_us=us)).set_index("counter")["value"] for us in (5000, 1000)
    }
    every = pd.DataFrame(looks).T[shown].rename_axis("sample_us")
    table = every.round(3)
    times = every.loc[1000] / every.loc[5000]
    assert times["misplaced"] > 1 > times["hot_seen"]
    return table, (
        f"No. It checks {times['checks_per_second']:.1f} times as often, misplaces "
        f"{times['misplaced']:.1f} times as much memory, and sees "
        f"{every.loc[1000, 'hot_seen']:.0%} of the accesses to hot memory in place of "
        f"{every.loc[5000, 'hot_seen']:.0%}. One program and one seed."
    )


def fewer() -> tuple[pd.DataFrame, str]:
    """What is left of it with ten regions at most."""
    kinds = {
        "10 to 1000": Accuracy(),
        "10 at most": Accuracy(max_regions=10),
        "never split or merged": Accuracy(variant="fixed"),
    }
    rows = {name: simulate(given).set_index("counter")["value"] for name, given in kinds.items()}
    regions = pd.DataFrame(rows).T[["regions_mean", "lag_mean", "misplaced"]]
    table = regions.rename_axis("regions").round(2)
    assert rows["10 at most"].equals(rows["never split or merged"])
    late = regions["lag_mean"]
    return table, (
        "Nothing that adapts: every counter is the same as with regions that are never split or "
        f"merged. DAMON is {late['10 at most']:.0f} windows late in place of "
        f"{late['10 to 1000']:.0f}. `kdamond_split_regions()` splits none "
        "while there are more than half of the regions allowed."
    )


def every_page() -> tuple[pd.DataFrame, str]:
    """What it costs to look at every page."""
    ways = {
        variant: simulate(Accuracy(variant=variant)).set_index("counter")["value"]
        for variant in ("damon", "page-scan")
    }
    costs = pd.DataFrame(ways).T[["checks_per_second", "misplaced", "windows"]]
    table = costs.rename_axis("variant").round(0)
    more = costs.loc["page-scan"] / costs.loc["damon"]
    windows, misplaced = costs["windows"], costs["misplaced"]
    assert misplaced["page-scan"] == 0
    return table, (
        f"{more['checks_per_second']:.0f} times as many checks a second, and nothing is misplaced "
        f"(DAMON: {misplaced['damon']:,.0f} bytes). One thread can't make them in time: it ends "
        f"{windows['page-scan']:.0f} windows where DAMON ends {windows['damon']:.0f}."
    )

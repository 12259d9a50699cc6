"""Runs of the model that pages set side by side: of several variants, settings and ways to swap."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pandas as pd

from lorelab import counters
from lorelab.numerics import U
from lorelab.params import label
from lorelab.swap.experiments import allocator_test, usemem
from lorelab.swap.experiments.mixed import STEALS, first_failures, simulate
from lorelab.swap.params import AllocatorTest, ForceSplit, Mixed, Usemem, Variant, order_weights
from lorelab.swap.workload.load import run, start

OPTIONS = {"-a": "-a", "-a -s": "-a -s", "no option": "", "-s": "-s"}
"""Sets of options of the allocator's test, in the order in which runs were published."""


def by_iteration(params: AllocatorTest, **changes: Any) -> pd.DataFrame:
    """Run the model with some parameters changed: a row an iteration, a column a counter."""
    table = allocator_test.simulate(params.model_copy(update=changes))
    return table.pivot_table(index="step", columns="counter", values="value", aggfunc="sum")


def fallback_rates(params: AllocatorTest, runs: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Share of the 64 KiB folios of a run that were split.

    Parameters
    ----------
    params : AllocatorTest
    runs : dict
        Changes of `params` by the name of their row.

    Returns
    -------
    DataFrame
        In per cent; a column for each of `OPTIONS`.
    """

    def rate(**changes: Any) -> float:
        total = by_iteration(params, **changes).sum()
        return 100 * total["swpout_fallback"] / total.sum()

    return pd.DataFrame(
        {
            name: {row: rate(**changes, options=options) for row, changes in runs.items()}
            for name, options in OPTIONS.items()
        }
    )


def until_full(params: Mixed) -> pd.DataFrame:
    """Swap out, nothing coming back, until a page gets no slot.

    Parameters
    ----------
    params : Mixed
        `fill`, `turnovers`, `steps`, `lifetimes` and `paged` don't matter here.

    Returns
    -------
    DataFrame
        The counters of a whole run of `swap/mixed`, step 0.
    """
    si, ld = start(params)
    while not ld.held_at_failure[0]:
        run(si, ld, U(64), True)
    whole = first_failures(si, ld, list(order_weights(params.orders)))
    return counters.table("swap/mixed", label(params.variant), "model", whole, first=0)


def grid(
    params: Mixed, by: Callable[[Mixed], pd.DataFrame] = simulate, **values: list[Any]
) -> pd.DataFrame:
    """Run every combination of `values`.

    Parameters
    ----------
    params : Mixed
        What stays the same.
    by : function
        `simulate` of `swap/mixed`, or `until_full`.
    **values
        Lists of values by parameter.

    Returns
    -------
    DataFrame
        The counters of all runs, with one more column for each parameter but `variant`.
    """
    tables = []
    for combination in product(*values.values()):
        changes = dict(zip(values, combination, strict=True))
        columns = {name: value for name, value in changes.items() if name != "variant"}
        tables.append(by(Mixed(**(params.model_dump() | changes))).assign(**columns))
    return pd.concat(tables, ignore_index=True)


def by_stealing(params: Mixed, seeds: range) -> pd.DataFrame:
    """What 7.2 splits and reads by `STEALS`: means over seeds, after filling and one turnover.

    Returns
    -------
    DataFrame
        A row each of `STEALS`: share of folios split, by order [%], and slots of swap_map read per
        allocation.
    """
    names = [f"fallback_order{order}" for order in order_weights(params.orders) if order]
    each = [params.model_copy(update={"variant": Variant.V7_2, "seed": seed}) for seed in seeds]
    rows = {}
    for steals in STEALS:
        runs = pd.concat([simulate(one, steals).assign(seed=one.seed) for one in each])
        rows[steals] = late(runs, [*names, "scanned"], ["seed"], after=2).mean()
    return pd.DataFrame(rows).T


def run_lengths(params: Mixed, variants: list[Variant], tasks: list[int]) -> pd.DataFrame:
    """Length of the runs that tasks write, each on a CPU of its own.

    Returns
    -------
    DataFrame
        In slots, by step and variant; a column for each number of tasks.
    """
    tables = []
    for number in tasks:
        changed = params.model_copy(update={"tasks": number, "cpus": number})
        table = grid(changed, variant=variants)
        tables.append(table[table["counter"] == "run_length"].assign(tasks=number))
    length = pd.concat(tables)
    return length.pivot_table(index=["step", "variant"], columns="tasks", values="value")


def late(
    table: pd.DataFrame, counters: list[str], index: list[str], after: int = 1
) -> pd.DataFrame:
    """Means of some counters over the steps of a `grid` that come after one.

    Parameters
    ----------
    table : DataFrame
    counters : list of str
        The columns of the result.
    index : list of str
        Columns of `table` that tell its rows apart.
    after : int
        Step 1 is the filling.
    """
    chosen = table[(table["step"] > after) & table["counter"].isin(counters)]
    wide = chosen.pivot_table(index=index, columns="counter", values="value", sort=False)
    return wide[counters]


USEMEM_PATHS = {
    "4K": {"variant": Variant.V6_6, "folio_order": 0},
    "64K split, up to 6.7": {"variant": Variant.V6_6},
    "64K split, from 6.8": {"variant": Variant.V6_6, "split_batching": True},
    "64K whole": {"variant": Variant.V3},
    "2M whole": {"variant": Variant.V3, "folio_order": 9},
}
"""Ways of a swap-out, as parameters of `swap/usemem` that are not the defaults."""


def per_64k(params: Usemem, paths: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Run the model on several paths: counters for each 64 KiB swapped out.

    Parameters
    ----------
    params : Usemem
    paths : dict
        Changes of `params` by the name of their row.

    Returns
    -------
    DataFrame
        A row a path, a column for each of `UNITS`.
    """
    counted = {
        path: usemem.count(params.model_copy(update=changes)) for path, changes in paths.items()
    }
    per_page = pd.DataFrame(counted).T
    return 16 * per_page.div(per_page["swapped"], axis="index")


SPLIT = {"force_split": ForceSplit.NOT_PMD_MAPPED}


SWAPOUT_PATHS = {
    "whole": {},
    "split, from 6.8": SPLIT,
    "split, up to 6.7": SPLIT | {"split_batching": False},
    "whole, by its own process": {"reclaimer": "own"},
    "split, by its own process": SPLIT | {"reclaimer": "own"},
    "4 KiB pages": {"folio_order": 0, "folios": 4096},
}
"""Ways of 64 KiB to swap, as parameters of `swap/swapout` that are not the defaults."""

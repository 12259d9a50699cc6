"""What a swap-out costs: event counts of the model, weighted, against the tables of the thread.

The counts are the model's (`lorelab.swap.model.reclaim`) and have no free parameter. The weights
do: each table gives three relative costs (four kinds of swap-out, one of them the unit), and there
are six weights. So a fit proves nothing about one weight. What the tables can do is refuse a
reading: when no non-negative weights give a table back, then "improvement" did not mean that.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd

from lorelab.swap.experiments import usemem
from lorelab.swap.figures import figure
from lorelab.swap.params import Usemem, Variant

WEIGHTS = ("base", "fault", "invalidation", "flush", "slot", "split")
"""Costs of one event each. `base` is what every byte costs (zeroing, the device's copy); `slot` is
one swap entry with its write: allocations and bios come in the same numbers on every path, so no
table can tell them apart."""

ORDERS = {"4K": 0, "64K": 4, "2M": 9}
RUNS = 5
"""Behind each cell."""
READINGS = ("throughput", "time")
"""What improved: bytes a second (1 + i times as many), or seconds (a share i fewer)."""


@dataclass(frozen=True)
class Table:
    """One printed table: rows of data/threads, the CPUs that ran, the kernel's way to split."""

    name: str
    cores: int
    split_batching: bool


TABLES = {
    "v3": Table("v3", 70, False),
    "v4": Table("v4", 8, True),
    "v5": Table("v5", 8, True),
}
"""v3 ran on an Ampere Altra with a 6.6-rc kernel, v4 and v5 in a VM of 8 CPUs with 6.8-rc5 and
6.9-rc1. Two machines and three kernels: weights are fitted to each table alone. (6.9-rc1 also maps
64 KiB folios with the contiguous bit on arm64; taking that apart again is not counted.)"""


@cache
def events(size: str, series: bool, split_batching: bool, aging: bool = True) -> np.ndarray:
    """Events per 64 KiB swapped out, in the order of `WEIGHTS`; shape (6,).

    Counted by the model on a small usemem: per page, its scale changes nothing.

    Parameters
    ----------
    size : str
        `4K`, `64K` or `2M`.
    series : bool
        With the series (v3's allocator) or without (6.6).
    split_batching : bool
        Whether a split waits once for its invalidations (from 6.8).
    aging : bool
        Whether an entry found young costs an invalidation, as it does on arm64.
    """
    counted = usemem.count(
        Usemem(
            processes=8,
            cpus=8,
            mib_each=16,
            memcg_mib=64,
            swap_mib=256,
            folio_order=ORDERS[size],
            variant=Variant.V3 if series else Variant.V6_6,
            split_batching=split_batching,
        )
    )
    invalidations = counted["invalidations"] + (counted["aged"] if aging else 0)
    total = [counted["faults"], invalidations, counted["flushes"]]
    total += [counted["slot_allocations"], counted["splits"]]
    faulted = counted["resident"] + counted["swapped"]
    return np.array(
        [1.0, 16 * total[0] / faulted, *(16 * n / counted["swapped"] for n in total[1:])]
    )


def relative_cost(improvement: float, reading: str) -> float:
    """Cost against the 4K baseline of a printed improvement (a ratio, not per cent)."""
    return 1 / (1 + improvement) if reading == "throughput" else 1 - improvement


def cells(table: str, reading: str, aging: bool = True) -> tuple[pd.DataFrame, np.ndarray]:
    """The six cells of a table and the events behind each.

    Returns
    -------
    DataFrame
        `size`, `series`, `improvement` (ratio), `cost` (against the 4K baseline).
    ndarray
        Events per 64 KiB, shape (6 cells, 6 weights).
    """
    rows = [(size, series) for series in (False, True) for size in ORDERS]
    printed = pd.DataFrame(rows, columns=["size", "series"])
    printed["improvement"] = [
        figure(f"{table}-{size.lower()}-{'series' if series else 'base'}") / 100
        for size, series in rows
    ]
    printed["cost"] = [relative_cost(i, reading) for i in printed["improvement"]]
    batching = TABLES[table].split_batching
    return printed, np.array([events(size, series, batching, aging) for size, series in rows])


KINDS = ("4K", "64K split", "64K whole", "2M")


def kinds(table: str, reading: str, aging: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The four kinds of swap-out in a table, in the order of `KINDS`.

    The series changes nothing for 4K and 2M, so each of them is printed twice; the mean stands.

    Returns
    -------
    cost : ndarray
        Against the 4K baseline, shape (4,).
    counts : ndarray
        Events per 64 KiB, shape (4, 6).
    """
    printed, counts = cells(table, reading, aging)
    before, after = np.split(printed["cost"].to_numpy(), 2)
    mean = (before + after) / 2
    return np.array([mean[0], before[1], after[1], mean[2]]), counts[[0, 1, 4, 2]]


@dataclass(frozen=True)
class Fit:
    """Non-negative weights nearest to a table.

    Attributes
    ----------
    weights : dict
        Cost of one event as a share of what 64 KiB in 4K pages cost on the baseline.
    kinds : DataFrame
        By `KINDS`: `printed` and `fitted` cost, and `error` (fitted over printed, less one).
    """

    weights: dict[str, float]
    kinds: pd.DataFrame

    @property
    def worst(self) -> float:
        """Largest relative error of a kind's cost."""
        return float(self.kinds["error"].abs().max())


@cache
def fit(table: str, reading: str, aging: bool = True) -> Fit:
    """Least squares on relative errors under non-negative weights.

    Every support is tried (2**6 of them), so the minimum is the minimum. Where several weights
    do equally well the smallest support stands; `ranges()` says how far they could move.
    """
    cost, counts = kinds(table, reading, aging)
    scaled = counts / cost[:, None]
    best, weights = np.inf, np.zeros(len(WEIGHTS))
    for size in range(1, len(WEIGHTS) + 1):
        for support in combinations(range(len(WEIGHTS)), size):
            coefficients = np.linalg.lstsq(scaled[:, support], np.ones(len(scaled)), rcond=None)[0]
            error = float(((scaled[:, support] @ coefficients - 1) ** 2).sum())
            if (coefficients >= 0).all() and error < best - 1e-9:
                best, weights = error, np.zeros(len(WEIGHTS))
                weights[list(support)] = coefficients
    fitted = counts @ weights
    shown = {"printed": cost, "fitted": fitted, "error": fitted / cost - 1}
    named = pd.DataFrame(shown, index=pd.Index(KINDS, name="kind"))
    return Fit(dict(zip(WEIGHTS, map(float, weights), strict=True)), named)


def ranges(table: str, reading: str, aging: bool = True) -> pd.DataFrame:
    """How far each weight may move while the table stays exact; empty when it never is.

    The weights that give the four kinds exactly form a polytope; each bound is reached at one of
    its corners, a solution with as many non-zero weights as there are independent kinds.

    Returns
    -------
    DataFrame
        `weight`, `lowest`, `highest`, and `lowest_share`, `highest_share`: how much of the penalty
        of splitting (64K split over 4K) the weight's events make; the shares of one corner add
        up to one.
    """
    cost, counts = kinds(table, reading, aging)
    corners = []
    for support in combinations(range(len(WEIGHTS)), int(np.linalg.matrix_rank(counts))):
        coefficients = np.linalg.lstsq(counts[:, support], cost, rcond=None)[0]
        if (coefficients >= -1e-9).all() and np.allclose(
            counts[:, support] @ coefficients, cost, atol=1e-9
        ):
            corner = np.zeros(len(WEIGHTS))
            corner[list(support)] = coefficients
            corners.append(corner)
    columns = ["lowest", "highest", "lowest_share", "highest_share"]
    if not corners:
        return pd.DataFrame(columns=["weight", *columns])
    reached = np.array(corners)
    shares = reached * (counts[1] - counts[0]) / (cost[1] - cost[0])
    spans = np.stack([reached.min(0), reached.max(0), shares.min(0), shares.max(0)], axis=1)
    return pd.DataFrame(spans, columns=columns).assign(weight=WEIGHTS)[["weight", *columns]]


def spread(table: str, deviation: float, draws: int = 2000) -> np.ndarray:
    """Shares of the penalty that `ranges` gives to invalidations, where each cell has chance in it.

    A cell is the mean of five runs over that of the baseline's five, read as throughput. Draws that
    no weights give exactly are left out.

    Parameters
    ----------
    deviation : float
        Standard deviation of a run [%], the same in all cells.

    Returns
    -------
    ndarray
        Ends of the interval with 95 % of the shares.
    """
    printed, counts = cells(table, "throughput")
    chance = np.random.default_rng(1).standard_normal((draws, len(printed)))
    means = (1 + deviation / 100 / np.sqrt(RUNS) * chance) / printed["cost"].to_numpy()
    old_4k, split, old_2m, new_4k, whole, new_2m = (means[:, :1] / means).T
    cost = np.array([(old_4k + new_4k) / 2, split, whole, (old_2m + new_2m) / 2])
    counts, which = counts[[0, 1, 4, 2]], WEIGHTS.index("invalidation")
    corners = []
    for support in combinations(range(len(WEIGHTS)), int(np.linalg.matrix_rank(counts))):
        weights = np.zeros((len(WEIGHTS), draws))
        weights[list(support)] = np.linalg.lstsq(counts[:, support], cost, rcond=None)[0]
        exact = (weights >= -1e-9).all(0) & np.isclose(counts @ weights, cost, atol=1e-9).all(0)
        share = weights[which] * (counts[1] - counts[0])[which] / (cost[1] - cost[0])
        corners.append(np.where(exact, share, np.nan))
    shares = np.ma.masked_invalid(corners).mean(axis=0).compressed()
    return np.quantile(shares, [0.025, 0.975])


def gains(table: str) -> pd.DataFrame:
    """Cost of each size before and with the series, under either reading, and their ratio."""
    rows = []
    for reading in READINGS:
        printed, _ = cells(table, reading)
        wide = printed.pivot_table(index="size", columns="series", values="cost", sort=False)
        rows.append(wide.assign(reading=reading, gain=wide[False] / wide[True]).reset_index())
    whole = pd.concat(rows, ignore_index=True).rename_axis(columns=None)
    whole = whole.rename(columns={False: "cost before", True: "cost with the series"})
    return whole[["reading", "size", "cost before", "cost with the series", "gain"]]


def errors() -> pd.DataFrame:
    """Largest error of the nearest weights [%]: a row a table, columns by reading and aging."""
    rows = [
        {"table": table, "reading": reading, "aging": aging}
        | {"worst": 100 * fit(table, reading, aging).worst}
        for table in TABLES
        for reading in READINGS
        for aging in (True, False)
    ]
    worst = pd.DataFrame(rows).round(1).replace(-0.0, 0.0)
    return worst.pivot_table(
        index="table", columns=["reading", "aging"], values="worst", sort=False
    )


def nearest() -> pd.DataFrame:
    """Printed and fitted cost of every kind, in every table and reading.

    Returns
    -------
    DataFrame
        `table`, `reading`, `kind`, `cost is` (printed or fitted) and `cost`, to a thousandth.
    """
    shown = pd.concat(
        {(table, reading): fit(table, reading).kinds for table in TABLES for reading in READINGS},
        names=["table", "reading"],
    )
    long = shown[["printed", "fitted"]].round(3).reset_index()
    return long.melt(["table", "reading", "kind"], var_name="cost is", value_name="cost")


def spans(tables: tuple[str, ...]) -> pd.DataFrame:
    """`ranges` of several tables read as throughput, by table and weight, to a thousandth."""
    whole = pd.concat(ranges(table, "throughput").assign(table=table) for table in tables)
    return whole.set_index(["table", "weight"]).round(3).replace(-0.0, 0.0)

"""The model beside every number of the threads that it has one for, with the factor between them.

Gains of reads are compared as gains, in per cent, and shares as shares. The model's gain is that
of its hits, if hits cost nothing. It has the zones of the machine that a number belongs to.
"""

from typing import NamedTuple

import pandas as pd

from lorelab.fairzone import figures
from lorelab.fairzone.figures import figure
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread.checks import factor, near, ran
from lorelab.fairzone.thread.follow_ups import (
    hits_by_threads,
    hits_of_big_batches,
    larger,
    posted,
    reviewers,
    whole,
)

NONE_BELOW = 1.0
"""Gains below this many per cent count as none: the same, if both are."""
CLOSE = 0.25
"""A gain of the model within so much of the printed one is close to it."""
DAYS = ("29 May", "18 June", "19 June", "25 June", "27 June", "30 June", "1 July")
JUNE, REVIEWER, OTHER = "June", "the reviewer's", "zones not printed"
"""Machines. That of May is not named; its baseline is within 4 % of that of June."""
CHECKLOW = "checklow-v2r14"
"""The patch of kswapd alone, with the policy as it was."""
CLASS_ZONE_KEPT = "v4r8, class zone kept"
STATIC = (CHECKLOW, "v2", "v3", "v4", "v4r5", "v4r8")
"""Kernels whose kswapd keeps no reserve free, so that DMA32 takes no allocation of the reads."""


class Read(NamedTuple):
    """Gains of sequential reads that a message prints, and what the model runs for them."""

    kernel: str
    day: str
    machine: str
    series: str
    old: str
    new: str
    variant: Variant


READS = (
    Read("v1", "29 May", JUNE, "seqread", "baseline", "v1", Variant.V1),
    Read("3.0", "18 June", JUNE, "june18-seqread", "vanilla", "3.0", Variant.OFF),
    # The columns of 18 June add up: cfq600 is patch 1, fairzone is patch 3 on top of it.
    Read("18 June", "18 June", JUNE, "june18-seqread", "cfq600", "fairzone", Variant.JUNE_18),
    Read("laptop", "18 June", OTHER, "laptop-seqread", "cfq600", "fairzone", Variant.JUNE_18),
    Read("desktop", "18 June", OTHER, "desktop-seqread", "cfq600", "fairzone", Variant.JUNE_18),
    Read("3.0", "19 June", REVIEWER, "big-seqread", "rc1", "3.0", Variant.OFF),
    Read("v2", "25 June", JUNE, "june25-seqread", "vanilla", "lessdirty", Variant.JUNE_25),
    Read(CHECKLOW, "25 June", JUNE, "june25-seqread", "vanilla", "checklow", Variant.BASELINE),
    Read("3.0", "25 June", JUNE, "june25-seqread", "vanilla", "3.0", Variant.OFF),
    Read("v3", "27 June", JUNE, "june27-seqread", "vanilla", "lessdirty", Variant.MERGED),
    Read("v4r5", "30 June", JUNE, "june30-seqread", "vanilla", "fairzone", Variant.MERGED),
    Read("3.0", "30 June", JUNE, "june30-seqread", "vanilla", "3.0", Variant.OFF),
    Read("v4r8", "1 July", REVIEWER, "v4r8-seqread", "rc1", "series", Variant.MERGED),
    Read(CLASS_ZONE_KEPT, "1 July", REVIEWER, "v4r8-seqread", "rc1", "classzone", Variant.MERGED),
)


def against() -> pd.DataFrame:
    """The model beside the threads, a row a printed number.

    Returns
    -------
    DataFrame
        `kernel`, as printed; `day` of the message in 2014; `machine`; `of`, what is compared;
        `threads`, 0 where the number is not of a number of threads; `printed` and `model`, in per
        cent; `factor`, model over print, absent where both gains are none; `within`, whether it is
        at most `checks.FACTOR`, or both are none.
    """
    rows = [*_managed_4(), *_shares()]
    for read in READS:
        table = figures.gains(read.series, read.old, read.new)
        fields = reviewers() if read.machine == REVIEWER else {}
        zones = {**_reserves(read.kernel), **fields}
        hits = hits_by_threads(read.series, read.old, read.variant, **zones)
        rows += _gains(read.kernel, read.day, read.machine, table, hits)
    columns = ["kernel", "day", "machine", "of", "threads", "printed", "model"]
    table = pd.DataFrame(rows, columns=columns)
    none = (table["of"] == "gain") & _none(table)
    pairs = table[["model", "printed"]]
    table["factor"] = pairs.apply(lambda pair: factor(*pair), axis=1).mask(none)
    table["within"] = none | pairs.apply(lambda pair: near(*pair), axis=1)
    place = table["day"].map(DAYS.index)
    order = table.assign(place=place).sort_values(["place", "of", "kernel", "threads"]).index
    return table.loc[order].reset_index(drop=True)


def off(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of `against()` that are more than `checks.FACTOR` apart."""
    return table[~table["within"]].drop(columns="within").reset_index(drop=True)


def worth(table: pd.DataFrame) -> pd.DataFrame:
    """What a hit is worth: the part of a disk read's time that it saves, 1 if it costs nothing.

    In `STATIC` the model's DMA32 is static, as it was measured of v4r8. What is printed is less of
    a gain than so many hits that cost nothing would make.

    Parameters
    ----------
    table : DataFrame
        `against()`.

    Returns
    -------
    DataFrame
        Hits that the printed gain needs over those of the model: a row a series, by `machine` and
        `kernel`, and a column a number of threads.
    """
    rows = table[(table["of"] == "gain") & table["kernel"].isin(STATIC)]
    rows = rows.assign(worth=hits_of(rows["printed"]) / hits_of(rows["model"]))
    return rows.pivot_table(index=["machine", "kernel"], columns="threads", values="worth")


def weighted(table: pd.DataFrame) -> pd.DataFrame:
    """Gains of kernels that are not `STATIC`, with hits worth what they are on their machine.

    Returns
    -------
    DataFrame
        Rows of `against()` whose machine has such a series; `model` anew, with the mean worth of
        the machine's series, and its `factor`. Rows that are none on both sides are left out.
    """
    known = worth(table).melt(ignore_index=False, value_name="worth").reset_index()
    known = known.groupby(["machine", "threads"])["worth"].mean()
    rows = table[(table["of"] == "gain") & ~table["kernel"].isin(STATIC) & ~_none(table)]
    rows = rows.join(known, on=["machine", "threads"], how="inner")
    rows["model"] = (hits_of(rows["model"]) * rows["worth"]).map(figures.speedup)
    rows["factor"] = rows["model"] / rows["printed"]
    return rows.drop(columns=["within", "worth"])


def beside_static(table: pd.DataFrame, kernel: str) -> pd.DataFrame:
    """The mean gain of the `STATIC` series on the machine of June, over that of a kernel there.

    Where the model's are alike, the kernel's zone is static in it, too.

    Returns
    -------
    DataFrame
        `printed` and `model`, by threads.
    """
    rows = table[(table["of"] == "gain") & (table["machine"] == JUNE)]
    sides = rows.groupby(["kernel", "threads"])[["printed", "model"]].mean()
    static = sides[sides.index.isin(STATIC, level="kernel")].groupby("threads").mean()
    return static / sides.loc[kernel]


def close(factors: pd.Series) -> pd.Series:
    """Whether factors are within `CLOSE`, either way."""
    return (factors >= 1 / (1 + CLOSE)) & (factors <= 1 + CLOSE)


def hits_of(gain: pd.Series) -> pd.Series:
    """The part of the reads that makes a gain of so many per cent, if it costs nothing."""
    return gain / (100 + gain)


def _none(table: pd.DataFrame) -> pd.Series:
    return table[["printed", "model"]].abs().max(axis=1) < NONE_BELOW


def _gains(
    kernel: str, day: str, machine: str, table: pd.DataFrame, hits: dict[int, float]
) -> list[tuple]:
    printed = figures.printed(table)
    return [
        (kernel, day, machine, "gain", n, printed[n], figures.speedup(hits[n])) for n in table.index
    ]


def _reserves(kernel: str) -> dict[str, bool]:
    """Nothing where kswapd keeps them, so that runs have the name that others give them too."""
    return {"balance_reserves": False} if kernel in STATIC else {}


def _managed_4() -> list[tuple]:
    table = figures.gains("big-seqread", "rc1", "bigbatches")
    return _gains("managed/4", "19 June", REVIEWER, table, hits_of_big_batches())


def _shares() -> list[tuple]:
    """DMA32's part of allocations and of what is scanned; a velocity's beside that of the reads."""
    in_core, velocity = "share, data of 80 %", "velocity"
    pairs = [
        ("baseline", "18 June", in_core, "june18-{}-allocs-vanilla", Variant.BASELINE),
        ("18 June", "18 June", in_core, "june18-{}-allocs-fairzone", Variant.JUNE_18),
        ("3.0", "18 June", in_core, "june18-{}-allocs-3.0", Variant.OFF),
        ("v2", "27 June", "share", "june27-{}-allocs-fairzone", Variant.JUNE_25),
        ("baseline", "1 July", in_core, "july1-{}-allocs-vanilla", Variant.BASELINE),
        ("v4", "1 July", in_core, "july1-{}-allocs-fairzone", Variant.MERGED),
        ("3.0", "19 June", velocity, "big-velocity-{}-3.0", Variant.OFF),
        ("baseline", "19 June", velocity, "big-velocity-{}-rc1", Variant.BASELINE),
        ("baseline", "1 July", velocity, "v4r8-velocity-{}-rc1", Variant.BASELINE),
        ("v4r8", "1 July", velocity, "v4r8-velocity-{}-series", Variant.MERGED),
        (CLASS_ZONE_KEPT, "1 July", velocity, "v4r8-velocity-{}-classzone", Variant.MERGED),
    ]
    rows = []
    for kernel, day, of, row, variant in pairs:
        pattern, name = row.rsplit("-", 1)
        machine, fields = (REVIEWER, reviewers()) if of == velocity else (JUNE, {})
        data = 80 if of == in_core else 200
        run = ran(variant, data_percent=data, **_reserves(kernel), **fields)
        model = run.loc["read", "share"] if of == velocity else whole(run)
        rows.append((kernel, day, machine, of, 0, 100 * posted(pattern, name), 100 * model))
    slow = larger(figure("cold-read")).loc["read", "share"]
    large = posted("big-velocity-{}", "bigbatches")
    rows.append(("managed/4", "19 June", REVIEWER, velocity, 0, 100 * large, 100 * slow))
    fifth = whole(ran(Variant.BASELINE, **reviewers("june30-dma32-size")))
    rows.append(
        ("baseline", "30 June", REVIEWER, "share", 0, figure("june30-dma32-share"), 100 * fifth)
    )
    # The baseline's share of 1 July, 40 %, is no row: the machine's zones are taken from it.
    split = whole(ran(Variant.MERGED, balance_reserves=False, **reviewers()))
    rows.append(("v4r8", "1 July", REVIEWER, "share", 0, figure("v4r8-split-series"), 100 * split))
    return rows

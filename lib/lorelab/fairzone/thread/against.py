"""The model beside every number of the threads that it has one for, with the factor between them.

Gains of reads are compared as gains, in per cent, and shares as shares. The model's gain is that
of its hits, if hits cost nothing. Its machine is the one of June 2014; the reviewer's is unknown.
"""

import pandas as pd

from lorelab.fairzone import figures
from lorelab.fairzone.figures import THREADS, figure
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread.checks import factor, near, ran
from lorelab.fairzone.thread.follow_ups import big_batches, hits_by_threads, posted, whole

NONE_BELOW = 1.0
"""Gains below this many per cent count as none: the same, if both are."""
DAYS = ("29 May", "18 June", "19 June", "27 June", "1 July")
READS = (
    ("3.0", "18 June", "june18-seqread", "vanilla", "3.0", Variant.OFF, {}),
    ("18 June", "18 June", "june18-seqread", "vanilla", "fairzone", Variant.JUNE_18, {}),
    ("3.0", "19 June", "big-seqread", "rc1", "3.0", Variant.OFF, {}),
    (
        "v4r8",
        "1 July",
        "v4r8-seqread",
        "rc1",
        "series",
        Variant.MERGED,
        {"balance_reserves": False},
    ),
    ("v4r8, class zone kept", "1 July", "v4r8-seqread", "rc1", "classzone", Variant.MERGED, {}),
)
"""Printed kernel, day, series, its two kernels, and the model's variant and parameters."""


def against() -> pd.DataFrame:
    """The model beside the threads, a row a printed number.

    Returns
    -------
    DataFrame
        `kernel`, as printed; `day` of the message in 2014; `of`, what is compared; `threads`, 0
        where the number is not of a number of threads; `printed` and `model`, in per cent;
        `factor`, model over print; `within`, whether that is at most `checks.FACTOR`, or both
        gains are none.
    """
    rows = [*_v1(), *_managed_4(), *_shares()]
    for kernel, day, series, old, new, variant, changes in READS:
        table = figures.gains(series, old, new)
        hits = hits_by_threads(table, variant, **changes)
        rows += _gains(kernel, day, table, hits)
    table = pd.DataFrame(rows, columns=["kernel", "day", "of", "threads", "printed", "model"])
    none = (table["of"] == "gain") & (table[["printed", "model"]].abs().max(axis=1) < NONE_BELOW)
    pairs = table[["model", "printed"]].mask(none, 1.0)
    table["factor"] = pairs.apply(lambda pair: factor(*pair), axis=1)
    table["within"] = pairs.apply(lambda pair: near(*pair), axis=1)
    place = table["day"].map(DAYS.index)
    order = table.assign(place=place).sort_values(["place", "of", "kernel", "threads"]).index
    return table.loc[order].reset_index(drop=True)


def off(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of `against()` that are more than `checks.FACTOR` apart."""
    return table[~table["within"]].drop(columns="within").reset_index(drop=True)


def worth(table: pd.DataFrame) -> pd.Series:
    """What a hit is worth by threads, as v4r8 tells: 1 if it costs nothing.

    DMA32 was measured static there, so the model's hits are taken for the kernel's; what is printed
    is less of a gain than so many hits that cost nothing would make.

    Parameters
    ----------
    table : DataFrame
        `against()`.

    Returns
    -------
    Series
        Hits that the printed gain needs over those of the model, by `threads`.
    """
    rows = table.query("kernel == 'v4r8' and of == 'gain'").set_index("threads")
    return hits_of(rows["printed"]) / hits_of(rows["model"])


def weighted(table: pd.DataFrame) -> pd.DataFrame:
    """Gains of all kernels but v4r8 itself, with hits of that worth.

    Returns
    -------
    DataFrame
        Rows of `against()` with `model` anew, and its `factor`; those that are none on both sides
        are left out.
    """
    rows = table.query("of == 'gain' and not kernel.str.startswith('v4r8')")
    rows = rows[rows[["model", "printed"]].abs().max(axis=1) >= NONE_BELOW]
    hits = hits_of(rows["model"]) * rows["threads"].map(worth(table))
    model = hits.map(figures.speedup)
    return rows.assign(model=model, factor=model / rows["printed"]).drop(columns="within")


def hits_of(gain: pd.Series) -> pd.Series:
    """The part of the reads that makes a gain of so many per cent, if it costs nothing."""
    return gain / (100 + gain)


def _gains(kernel: str, day: str, table: pd.DataFrame, hits: dict[int, float]) -> list[tuple]:
    printed = table["percent"].fillna(100 * (table["new"] / table["old"] - 1))
    return [(kernel, day, "gain", n, printed[n], figures.speedup(hits[n])) for n in table.index]


def _v1() -> list[tuple]:
    reads, writes = (figures.gains(name, "baseline", "v1") for name in ("seqread", "seqwrite"))
    data = round(100 * figure("data-size"))
    hits = {
        n: ran(
            Variant.V1,
            threads=n,
            data_percent=data,
            disk_mb_s=reads.loc[n, "old"],
            write_mb_s=writes.loc[n, "old"],
        ).loc["read", "hits"]
        for n in THREADS
    }
    return _gains("v1", "29 May", reads, hits)


def _managed_4() -> list[tuple]:
    table = figures.gains("big-seqread", "rc1", "bigbatches")
    data = round(100 * figure("data-size"))
    tables = {n: big_batches(speed, data) for n, speed in table["old"].items()}
    hits = {n: phases.loc["read", "hits"] for n, phases in tables.items()}
    return _gains("managed/4", "19 June", table, hits)


def _shares() -> list[tuple]:
    """DMA32's part of allocations and of what is scanned; a velocity's beside that of the reads."""
    unreserved = {"balance_reserves": False}
    in_core = "share, data of 80 %"
    pairs = [
        ("baseline", "18 June", in_core, "june18-{}-allocs-vanilla", Variant.BASELINE, {}),
        ("18 June", "18 June", in_core, "june18-{}-allocs-fairzone", Variant.JUNE_18, {}),
        ("3.0", "18 June", in_core, "june18-{}-allocs-3.0", Variant.OFF, {}),
        ("25 June", "27 June", "share", "june27-{}-allocs-fairzone", Variant.JUNE_25, unreserved),
        ("3.0", "19 June", "velocity", "big-velocity-{}-3.0", Variant.OFF, {}),
        ("baseline", "19 June", "velocity", "big-velocity-{}-rc1", Variant.BASELINE, {}),
        ("baseline", "1 July", "velocity", "v4r8-velocity-{}-rc1", Variant.BASELINE, {}),
        ("v4r8", "1 July", "velocity", "v4r8-velocity-{}-series", Variant.MERGED, unreserved),
        (
            "v4r8, class zone kept",
            "1 July",
            "velocity",
            "v4r8-velocity-{}-classzone",
            Variant.MERGED,
            {},
        ),
    ]
    rows = []
    for kernel, day, of, row, variant, changes in pairs:
        pattern, name = row.rsplit("-", 1)
        data = 80 if of == in_core else 200
        run = ran(variant, data_percent=data, **changes)
        model = whole(run) if of == in_core else run.loc["read", "share"]
        rows.append((kernel, day, of, 0, 100 * posted(pattern, name), 100 * model))
    slow = big_batches(figure("cold-read"), 200).loc["read", "share"]
    large = posted("big-velocity-{}", "bigbatches")
    rows.append(("managed/4", "19 June", "velocity", 0, 100 * large, 100 * slow))
    split = whole(ran(Variant.MERGED, **unreserved))
    printed = figure("v4r8-split-series")
    rows.append(("v4r8", "1 July", "share", 0, printed, 100 * split))
    base = whole(ran(Variant.BASELINE))
    rows.append(("baseline", "1 July", "share", 0, figure("v4r8-split-rc1"), 100 * base))
    return rows

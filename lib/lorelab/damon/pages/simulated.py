"""Tables of runs of the model that the pages show; `recorded` has those of a kernel."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from lorelab import counters
from lorelab.damon.experiments import accuracy, hotspot, overhead, schemes
from lorelab.damon.experiments.hot_range import watch
from lorelab.damon.pages import studies, views
from lorelab.damon.params import (
    ALONE,
    Accuracy,
    HotRange,
    Hotspot,
    Monitoring,
    Overhead,
    Schemes,
    Speeds,
    Variant,
)
from lorelab.damon.workload.hot_range import DRAWN, UNITS
from lorelab.damon.workload.masim import Access
from lorelab.flat import flat
from lorelab.numerics import PAGE
from lorelab.params import label, seeded

QUARTILES = [0.25, 0.5, 0.75]
SETTINGS = {
    "page scan": {"variant": Variant.PAGE_SCAN},
    "5 ms, at least 10 regions (default)": {},
    "20 ms, at least 30 regions": {"sample_us": 20_000, "min_regions": 30},
    "20 ms, at least 100 regions": {"sample_us": 20_000, "min_regions": 100},
    "fixed regions": {"variant": Variant.FIXED},
}
"""Ways to watch the same program, and what they change."""
BOUNDS = {"10 to 1000": {}, "1000 to 1000": {"min_regions": 1000}}
SEARCHES = {
    "damon": (Variant.DAMON, 3, False),
    "split-2": (Variant.SPLIT_2, 2, False),
    "damon, own pages": (Variant.DAMON, 3, True),
}
"""Variant, pieces of a split, and whether the program's own pages are monitored too."""


def steps(seed: int, **changes: object) -> pd.Series:
    """Counters of a run of damon/accuracy on *stairs-30secs*."""
    run = accuracy.simulate(Accuracy(workload="stairs-30secs", seed=seed, **changes))
    return run.set_index("counter")["value"]


def settings(seed: int) -> pd.DataFrame:
    """Counters on *stairs-30secs*, a row for each of `SETTINGS`."""
    return pd.DataFrame({kind: steps(seed, **changes) for kind, changes in SETTINGS.items()}).T


def cost(seed: int, **changes: object) -> pd.Series:
    """Counters of a run of damon/overhead."""
    return overhead.simulate(Overhead(seed=seed, **changes)).set_index("counter")["value"]


def costs(seed: int, mibs: tuple[int, ...] = (64, 4096, 1 << 20)) -> pd.DataFrame:
    """Counters of damon/overhead by bounds of regions (`BOUNDS`) and size of memory."""
    rows = [
        {"bounds": name, "mib": mib, **cost(seed, mib=mib, **changes)}
        for name, changes in BOUNDS.items()
        for mib in mibs
    ]
    return pd.DataFrame(rows).set_index(["bounds", "mib"])


def merging(rates: list[float]) -> pd.DataFrame:
    """How often neighbours of one rate fail to merge, exactly, and the age that leaves them.

    Where no count reaches ten the threshold is 0. From a rate of one half on the neighbours' own
    counts reach ten, so that column is empty there.
    """
    table = pd.DataFrame({"fail to merge": [studies.apart(20, p, 2) for p in rates]}, index=rates)
    table["mean age"] = 1 / table["fail to merge"] - 1
    low = [studies.apart(20, p, 0, most=9) if p < 0.5 else np.nan for p in rates]
    table["fail, none at ten"] = low
    return table


def merged(p: float, seed: int) -> dict[str, float]:
    """The same of the model's regions, on a program whose pages all have the rate `p`.

    With fixed regions the share of neighbours that are apart; with DAMON's their number and age.
    """
    sizes = {"always": 16 * PAGE, "same": int(2.5e6 / -np.log(1 - p)) * PAGE}
    config = studies.program(sizes, Access("always", False, PAGE, 1), Access("same", True, 64, 1))
    low, high = studies.addresses(config, "same")
    values = {}
    for variant, least in ((Variant.FIXED, 100), (Variant.DAMON, 10)):
        params = Monitoring(seed=seed, variant=variant, min_regions=least)
        rows = views.history(params, 300, config, Speeds(access_ns=1))
        rows = rows[(rows["stage"] == "reported") & (rows["low"] >= low) & (rows["high"] <= high)]
        if variant == Variant.FIXED:
            counts = rows.pivot_table(index="window", columns="low", values="nr_accesses")
            values["fail to merge"] = (
                (counts.diff(axis=1).iloc[:, 1::2].abs() > 2).to_numpy().mean()
            )
        else:
            late = rows[rows["window"] > 100]
            values["regions"] = late.groupby("window").size().mean()
            size = (late["high"] - late["low"]).astype(float)
            values["mean age"] = np.average(late["age"], weights=size)
    return values


def turning(ms: int, seed: int) -> pd.Series:
    """Counts of one half of memory that is touched `ms` in turn, by window, after 50 windows."""
    config = studies.alternating({"a": 100_000_000, "b": 100_000_000}, ms, 40_000)
    return studies.counts(Monitoring(seed=seed), 300, config, "a")[50:]


def by_period(periods: list[int], seed: int) -> pd.DataFrame:
    """Quantiles of `turning`, and the count that the overlap of a sample and a turn makes."""
    table = pd.DataFrame({ms: turning(ms, seed).quantile([0.1, 0.5, 0.9]) for ms in periods}).T
    table["expected"] = [20 * min(1, (ms + 5) / (2 * ms)) for ms in periods]
    return table


def largest(least: int, seed: int) -> float:
    """Largest region reported once the first ones are cut, over all bytes monitored."""
    rows = views.history(Accuracy(workload="stairs-30secs", seed=seed, min_regions=least), 100)
    rows = rows[(rows["stage"] == "reported") & (rows["window"] > 10)]
    size = rows["high"] - rows["low"]
    return float(size.max()) / float(size[rows["window"] == 11].sum())


def by_least(leasts: list[int], seed: int) -> pd.DataFrame:
    """Counters on *stairs-30secs* and the `largest` region, by `min_nr_regions`."""
    rows = [{"largest region": largest(n, seed), **steps(seed, min_regions=n)} for n in leasts]
    return pd.DataFrame(rows, index=pd.Index(leasts, name="min_nr_regions"))


def by_most(mosts: tuple[int, ...], seed: int) -> pd.DataFrame:
    """Counters on *stairs-30secs* by `max_nr_regions`."""
    return pd.DataFrame({most: steps(seed, max_regions=most) for most in mosts}).T


def waits(params: Hotspot, **changes: object) -> np.ndarray:
    """Windows until the range is isolated, at the quartiles of 60 runs; 1001 is never."""
    params = params.model_copy(update={"windows": 1000} | changes)
    runs = [seeded(params, params.seed + n) for n in range(60)]
    windows = [hotspot.watched(run).wait or 1001 for run in runs]
    return np.quantile(windows, QUARTILES).round().astype(int)


def expected(kib: int, pieces: int, own: bool) -> np.ndarray:
    """The same by the chain (`hotspot.chain`)."""
    shares = hotspot.chain(kib << 10, (1 << 30) / 10, 20, 1000, own, pieces)
    return np.searchsorted(shares, QUARTILES) + 1


def searches(params: Hotspot, kibs: list[int]) -> pd.DataFrame:
    """Quartiles of the wait, by size of the hot range; `SEARCHES` by the model and the chain."""
    columns = {}
    for name, (variant, pieces, own) in SEARCHES.items():
        columns[name, "model"] = [waits(params, variant=variant, own=own, hot_kib=k) for k in kibs]
        columns[name, "chain"] = [expected(kib, pieces, own) for kib in kibs]
    return pd.DataFrame(columns, index=pd.Index(kibs, name="hot KiB"))


def applied(
    program: str, rules: str, seed: int, all_cold: bool = False, **changes: object
) -> pd.DataFrame:
    """Counters of one run of damon/schemes, a row a window."""
    params = Schemes(workload=program, schemes=rules, seed=seed, **changes)
    run = schemes_by_window(params, all_cold=all_cold)
    return run.pivot_table(index="step", columns="counter", values="value")


def huge_pages(programs: tuple[str, ...], seed: int) -> pd.DataFrame:
    """Counters of `ethp` at the end of each program; what was made and split also in bytes."""
    runs = {program: applied(program, "ethp", seed) for program in programs}
    assert all((run["resident"].diff().dropna() >= 0).all() for run in runs.values())
    table = pd.DataFrame({program: run.iloc[-1] for program, run in runs.items()})
    table.loc["made"] = (table.loc["collapses"] + table.loc["huge_faults"]) * 2**21
    table.loc["PMDs split"] = table.loc["pmd_splits"] * 2**21
    return table


def damage(programs: tuple[str, ...], ages: tuple[str, ...], quotas: tuple[int, ...], seed: int):
    """What paging out by age does to a program: MiB resident, paged out, faulted back in."""
    rows = []
    for program, age, quota in pd.MultiIndex.from_product([programs, ages, quotas]):
        run = applied(program, f"4K null null 5 {age} null pageout", seed, quota_mib=quota)
        out, back = (run[name].iloc[-1] / studies.PAGES_A_MIB for name in ("paged_out", "refaults"))
        rows.append((program, age, quota, run["resident"].mean() / 2**20, out, back))
    names = ["program", "age", "quota, MiB/s", "mean resident", "out", "back"]
    return pd.DataFrame(rows, columns=names).set_index(names[:3])


def hidden(mib: int, switch_us: int, seed: int, tlb: int = 1536) -> float:
    """Mean count of a set that is accessed all the time, behind a TLB of `tlb` pages."""
    config = studies.program({"set": mib << 20}, Access("set", False, PAGE, 1))
    params = Monitoring(tlb=tlb, switch_us=switch_us, seed=seed)
    return studies.counts(params, 100, config, "set")[20:].mean()


def quartiles(counters: pd.DataFrame) -> str:
    """Quartiles of the waits of damon/hotspot, in words."""
    return " ".join(f"{wait:.0f}" for wait in np.quantile(waited(counters), QUARTILES))


def waited(counters: pd.DataFrame) -> list[float]:
    """What runs of damon/hotspot waited, in windows."""
    return list(counters.loc[counters["counter"] == "wait", "value"])


def reach(regions: list[int], hots: tuple[int, ...] = (1, 4)) -> pd.DataFrame:
    """Chance that a hot range (GiB) stands out of a region (GiB), without and with `rand64`."""
    chances = {
        (f"{hot} GiB", name): [chance(hot << 30, gib << 30, 20, True) for gib in regions]
        for hot in hots
        for name, chance in (("off", truncated), ("on", hotspot.stand_out))
    }
    return pd.DataFrame(chances, index=pd.Index(regions, name="region, GiB"))


def drawing(gib: int, hot_gib: int, ways: Iterable[bool], seed: int) -> list[str]:
    """Quartiles of the wait for `hot_gib` in `gib`, with offsets of 32 bits and of 64."""
    params = Hotspot(
        mib=gib << 10, hot_kib=hot_gib << 20, own=True, runs=40, windows=150, seed=seed
    )
    runs = [params.model_copy(update={"rand64": rand64}) for rand64 in ways]
    return [quartiles(hotspot.simulate(run)) for run in runs]


def by_size(ways: dict[str, dict], mibs: list[int]) -> pd.DataFrame:
    """Counters of damon/overhead, a row for each way to watch and size of memory."""
    return pd.DataFrame(
        {"kind": kind, "mib": mib, **cost(1, mib=mib, **changes)}
        for kind, changes in ways.items()
        for mib in mibs
    )


def paged_out(ways: dict[str, dict], seed: int) -> pd.DataFrame:
    """What `prcl` does to *stairs*, a column for each way to run it (arguments of `applied`)."""
    columns = {}
    for name, changes in ways.items():
        run = applied("stairs", "prcl", seed, **changes)
        columns[name] = {
            "mean resident, MiB": run["resident"].mean() / 2**20,
            "MiB paged out": run["paged_out"].iloc[-1] / studies.PAGES_A_MIB,
            "MiB faulted back in": run["refaults"].iloc[-1] / studies.PAGES_A_MIB,
            "windows the quota held back": run["scheme0_qt_exceeds"].iloc[-1],
        }
    return pd.DataFrame(columns)


def hot_range(params: HotRange) -> pd.DataFrame:
    """Run `damon/hot-range`, and keep what a chart draws.

    Returns
    -------
    DataFrame
        By step, `variant`, the counters and `DRAWN`: a row for each window, and those that are
        drawn.
    """
    frame = pd.DataFrame(watch(flat(params, {})[0]), columns=[*UNITS, *DRAWN])
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="step")
    return frame.assign(variant=label(params.variant))


REACH = 1 << 32
"""Bytes that 32 bits can tell apart."""


def truncated(hot: float, region: float, samples: int, always: bool, cells: int = 500) -> float:
    """`hotspot.stand_out` where pages are drawn from the first (size modulo 4 GiB) bytes alone.

    The mean over all places of the hot range in the region, and over all remainders.
    """
    if region <= REACH:
        return hotspot.stand_out(hot, region, samples, always)
    middles = (np.arange(cells) + 0.5) / cells
    drawn, at = middles[:, None] * REACH, middles * (region - hot)
    return float(hotspot.set_apart(np.clip(drawn - at, 0, hot) / drawn, samples, always).mean())


def schemes_by_window(
    params: Schemes, speeds: Speeds = ALONE, all_cold: bool = False
) -> pd.DataFrame:
    """One run of `damon/schemes` window by window.

    Parameters
    ----------
    all_cold : bool
        Let no check find an access: the null, beside which one sees what monitoring is worth.

    Returns
    -------
    DataFrame
        Counters, a step a window: regions, bytes resident, swapped and mapped huge; so far: pages
        out, refaults, huge faults, collapses, pages that those filled, split PMDs, and of each
        scheme its statistics.
    """
    columns: dict[str, tuple[str, list[float]]] = {}
    for ctx, pages, n in schemes.windows(params, speeds, (False,) if all_cold else ()):
        values = {"nr_regions": ("regions", float(n))} | schemes.state(ctx, pages)
        for name, (unit, value) in values.items():
            columns.setdefault(name, (unit, []))[1].append(value)
    return counters.table("damon/schemes", label(params.variant), "model", columns)

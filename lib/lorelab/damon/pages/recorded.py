"""What the pages show of recorded runs, each beside the model."""

import numpy as np
import pandas as pd

from lorelab.damon.agree import follow as agree_follow
from lorelab.damon.agree import hotspot as agree_hotspot
from lorelab.damon.agree import runs as agree_runs
from lorelab.damon.agree import schemes_followed as agree_schemes
from lorelab.damon.experiments import hotspot
from lorelab.damon.kernel import follow as logs
from lorelab.damon.kernel import schemes_followed as schemes_log
from lorelab.damon.pages import kernel_views as record_views
from lorelab.damon.pages import simulated, studies, views
from lorelab.damon.params import (
    Accuracy,
    FollowedSchemes,
    Hotspot,
    Masim,
    Monitoring,
    Overhead,
    Speeds,
)
from lorelab.damon.workload.masim import builtin
from lorelab.experiments import experiment
from lorelab.judging import equivalence
from lorelab.lab import records
from lorelab.lab.records import Record
from lorelab.numerics import PAGE

ACCURACY, OVERHEAD, HOTSPOT, MASIM = (
    experiment(f"damon/{name}") for name in ("accuracy", "overhead", "hotspot", "masim")
)


def followed(params: Masim) -> Record:
    """A recorded run whose regions the model has in every window, or AssertionError."""
    record = records.load(logs.NAME, params)
    assert agree_follow.compared(params, record)["agrees"].all()
    return record


def even(params: Masim) -> pd.DataFrame:
    """Reported regions of the program's memory, after 20 windows."""
    record = followed(params)
    accessed = record_views.accesses(record.counters).iloc[0]
    windows = logs.unpack(record.counters, params).windows[20:]
    return studies.regions_within(windows, int(accessed["low"]), int(accessed["high"]))


def merging(mib: int) -> dict[str, float]:
    """How often neighbours of one rate fail to merge on the kernel, beside the exact chance.

    On a program whose pages all have one rate: with as many regions as there may be, and free.
    """
    params = Masim(workload="even", mib=mib, max_regions=40)
    still, free = even(params.model_copy(update={"min_regions": 40})), even(params)
    places = still.assign(place=still.groupby("window").cumcount())
    places = places.pivot_table(index="window", columns="place", values="nr_accesses")
    p = float(places.mean(axis=None)) / 20
    pairs = places.diff(axis=1).iloc[:, 1::2].abs().melt()["value"].dropna()
    chance = studies.apart(20, p, 2)
    return {
        "rate": p,
        "pairs": len(pairs),
        "fail to merge": (pairs > 2).mean(),
        "binomial": chance,
        "standard error": (chance * (1 - chance) / len(pairs)) ** 0.5,
        "regions": free.groupby("window").size().mean(),
        "mean age": np.average(free["age"], weights=free["size"]),
    }


def in_turn(ms: int) -> Masim:
    """Parameters of the recorded runs of a program that touches its halves `ms` in turn."""
    return Masim(workload=f"halves-{ms}ms", sample_us=100_000, aggr_us=2_000_000)


def guest_speeds() -> Speeds:
    """The guest's speeds, as those runs have them."""
    took = record_views.took(records.load(logs.NAME, in_turn(100)).counters)
    whole = {"access_ns": round(took.access_ns), "check_ns": round(took.check_ns)}
    return agree_runs.ON_ONE_CPU._replace(**whole)


def halves(ms: int, speeds: Speeds, seed: int) -> dict[tuple[str, object], float]:
    """Counts of one half after three windows, in the kernel and in twelve runs of the model.

    Quantiles of both, the length of a sample `s` and of a turn `T` (ms), and the formula's count.
    """
    params = in_turn(ms)
    record = followed(params)
    truth = record_views.accesses(record.counters)
    low, high = (int(truth[name].iloc[0]) for name in ("low", "high"))
    windows = logs.unpack(record.counters, params).windows
    kernel = pd.Series([studies.mean_count(rows, low, high) for rows in windows[3:]])
    ended = record.counters.loc[record.counters["window"] > 0, "us"]
    s, t = ended.diff().mean() / 20_000, (truth["end"] - truth["begin"]).mean()
    runs = [
        Monitoring(sample_us=100_000, aggr_us=2_000_000, seed=seed + n)
        for n in range(agree_runs.RUNS)
    ]
    config = builtin(params.workload)
    model = pd.concat([studies.counts(run, len(windows), config, "a", speeds)[3:] for run in runs])
    ends = views.history(runs[0], len(windows), config, speeds).groupby("window")["end"].first()
    values = {("kernel", "T"): 1000 * t}
    for side, counts, sample in (("kernel", kernel, s), ("model", model, 50 * ends.diff().mean())):
        values[side, "s"] = sample
        values |= {(side, q): counts.quantile(q) for q in (0.1, 0.5, 0.9)}
    return values | {("formula", ""): 20 * min(1, (t + s / 1000) / (2 * t))}


def bounded(least: int) -> dict[str, float]:
    """Figures of the run on *stairs-30secs* with `min_nr_regions`, once the first are cut."""
    record = followed(Masim(workload="stairs-30secs", min_regions=least))
    reported, truth = record_views.reports(record.counters), record_views.accesses(record.counters)
    late = reported[reported["end"].isin(reported["end"].unique()[10:])]
    size = late["high"] - late["low"]
    each = late.groupby("end").size()
    return {
        "largest region": float(size.max()) / float(size[late["end"] == late["end"].iloc[0]].sum()),
        "rate_error": studies.rate_errors(late, truth, 20).mean(),
        "regions_p50": each.median(),
        "regions_max": each.max(),
    }


def sides(params: Hotspot) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Counters of damon/hotspot: the kernel's, and twice as many of the model at its speed."""
    record = HOTSPOT.recorded(params)
    alike, speeds = agree_hotspot.at_speed(params, record)
    twice = alike.model_copy(update={"runs": 2 * params.runs})
    return record.counters, hotspot.simulate(twice, speeds)


def slower(off: pd.DataFrame, on: pd.DataFrame) -> tuple[float, float, float]:
    """How many times the waits of `on` those of `off` are: low, estimate, high."""
    return equivalence.hodges_lehmann_ratio(simulated.waited(on), simulated.waited(off))


def compared(waits: dict[tuple[str, str], tuple], names: list[str]) -> pd.DataFrame:
    """Waits without and with `rand64`, and their quotient, by name and side.

    Parameters
    ----------
    waits : dict
        `sides` by name and `off` or `on`.
    names : list of str
        The names, in order.

    Returns
    -------
    DataFrame
        `off` and `on` (quartiles), `off / on` (estimate and interval in words), `low`, `high`.
    """
    rows = {}
    for name in names:
        for k, side in enumerate(("kernel", "model")):
            off, on = (waits[name, switch][k] for switch in ("off", "on"))
            low, estimate, high = slower(off, on)
            words = f"{estimate:.1f} ({low:.1f} to {high:.1f})"
            rows[name, side] = [simulated.quartiles(off), simulated.quartiles(on), words, low, high]
    return pd.DataFrame(rows, index=["off", "on", "off / on", "low", "high"]).T


def drawn(wides: dict[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Draws of damon_rand() in regions over 4 GiB, and those at or past the size mod 4 GiB."""
    totals = {case: run.groupby("counter")["value"].sum() for case, run in wides.items()}
    table = pd.DataFrame(totals).T[["wide", "out_of_reach"]]
    return table.assign(share=table["out_of_reach"] / table["wide"])


def kdamonds(pair: dict[int, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Regions, share of windows that split them three ways, and waits, by number of kdamonds."""
    rows = {}
    for k, runs in pair.items():
        for side, run in zip(("kernel", "model"), runs, strict=True):
            means = run.groupby("counter")["value"].mean()
            named = f"{k} kdamond{'s' * (k > 1)}, {side}"
            rows[named] = (means["nr_regions"], means["in_three"], simulated.quartiles(run))
    table = pd.DataFrame(rows, index=["regions", "share split three ways", "windows"]).T
    return table.map(lambda value: value if isinstance(value, str) else round(value, 2))


def listed(counters: pd.DataFrame) -> float:
    """Pages of the program's region that count as accessed, in a window's mean over samples."""
    return (counters.loc[counters["counter"] == "hot_seen", "value"] / PAGE).median()


def waiting() -> pd.DataFrame:
    """Pages seen of one MiB, fresh or on the LRU lists, in the kernel and in the model."""
    rows = {}
    for fresh in (False, True):
        params = Masim(workload="whole", mib=1, min_regions=1000, fresh=fresh)
        runs = MASIM.recorded(params).counters, MASIM.simulate(params)
        rows["fresh" if fresh else "on the lists"] = [listed(run) for run in runs]
    return pd.DataFrame(rows, index=["kernel", "model"]).T


def count(**changes: object) -> float:
    """Mean count of the hot bytes after five windows, as the kernel recorded it."""
    record = MASIM.recorded(Masim(workload="whole", **changes))
    run = record.counters.pivot_table(index="step", columns="counter", values="value")[5:]
    return 20 * run["hot_seen"].mean() / run["hot"].mean()


def against(programs: tuple[str, ...]) -> pd.DataFrame:
    """Cost at 1000 regions and accuracy on `programs`, kernel beside model; wss_p50 in MiB."""
    full = Overhead(min_regions=1000, seconds=3)
    bound = OVERHEAD.agree(full, OVERHEAD.recorded(full)).table.set_index("counter")
    bound = bound[["kernel", "model"]]
    rows = {
        f"1000 regions, {name}": tuple(bound.loc[name]) for name in ("cpu", "windows_per_second")
    }
    for program in programs:
        params = Accuracy(workload=program, runs=24)
        runs = ACCURACY.agree(params, ACCURACY.recorded(params)).table.set_index("counter")
        for name in ("regions_mean", "rate_error", "lag_mean", "wss_p50", "checks_per_second"):
            unit = 2**20 if name == "wss_p50" else 1
            pair = runs.loc[name, ["kernel", "model"]]
            rows[f"{program}, {name}"] = (pair["kernel"] / unit, pair["model"] / unit)
    return pd.DataFrame(rows, index=["kernel", "model"]).T


def outcome(params: FollowedSchemes) -> dict[str, object]:
    """What a recorded run with schemes did to the program's memory."""
    record = records.load(schemes_log.NAME, params)
    inputs = schemes_log.unpack(record.counters, params)
    assert agree_schemes.compared(params, record)["agrees"].all()
    memory = inputs.memory
    return {
        "program": params.workload,
        "schemes": params.schemes,
        "quota": f"{params.quota_mib} MiB/{params.quota_ms // 1000} s" if params.quota_mib else "",
        "MiB out": memory["paged_out"] / studies.PAGES_A_MIB,
        "MiB back": memory["refaults"] / studies.PAGES_A_MIB,
        "huge pages made": memory["collapses"] + memory["huge_faults"],
        "split": memory["splits"] + memory["pmd_splits"],
        "MiB huge at the end": memory["huge"] / 2**20,
        "held back": inputs.statistics[0]["qt_exceeds"],
    }


def outcomes() -> pd.DataFrame:
    """`outcome` of every recorded run whose schemes neither watermarks nor goals drive."""
    runs = records.recorded(schemes_log.NAME, FollowedSchemes)
    runs = [params for params in runs if not (params.wmark_high or params.goal_percent)]
    return pd.DataFrame(map(outcome, runs)).sort_values(["schemes", "quota"], ignore_index=True)


def totals(params: object, names: list[str]) -> pd.DataFrame:
    """Range of the kernel's runs of damon/schemes and mean of the model's, by counter."""
    asked_of = experiment("damon/schemes")
    table = asked_of.agree(params, asked_of.recorded(params)).table.set_index("counter")
    assert table["agrees"].all()
    return table.loc[names, ["least", "most", "model"]]

"""What `kernel.ipynb` and `agreement.ipynb` show of recorded runs, beside the model."""

from itertools import pairwise

import pandas as pd

from lorelab.damon.agree import accuracy as agree_accuracy
from lorelab.damon.agree import follow as agree_follow
from lorelab.damon.agree import masim as agree_masim
from lorelab.damon.agree import runs as agree_runs
from lorelab.damon.agree import schemes_followed as agree_schemes
from lorelab.damon.kernel import follow as logs
from lorelab.damon.kernel import schemes_followed as schemes_log
from lorelab.damon.kernel.boot import QEMU_TLB
from lorelab.damon.pages.studies import PAGES_A_MIB
from lorelab.damon.params import Accuracy, FollowedSchemes, Masim, Overhead, Schemes
from lorelab.damon.workload.accuracy import accuracy_counters
from lorelab.damon.workload.schemes import STATISTICS
from lorelab.experiments import experiment
from lorelab.judging.rows import intervals
from lorelab.lab import records
from lorelab.numerics import PAGE
from lorelab.params import to_cli

ACCURACY, MASIM, OVERHEAD, SCHEMES = (
    experiment(f"damon/{name}") for name in ("accuracy", "masim", "overhead", "schemes")
)
SEEDS = range(1, 7)
UNITS = {
    "resident_mean": 2**20,
    "collapses": 1,
    "pmd_splits": 1,
    "paged_out": PAGES_A_MIB,
    "refaults": PAGES_A_MIB,
    "scheme0_nr_tried": 1,
    "nr_regions_mean": 1,
}
"""Counters of damon/schemes that a page shows, and what they are divided by (MiB, or as is)."""


def windows(params: Masim) -> dict[str, object]:
    """One recorded run, region for region, against the model."""
    record = records.load(logs.NAME, params)
    both = agree_follow.followed(params, logs.unpack(record.counters, params))
    return {
        "boot": record.provenance.date,
        "place": record.provenance.run_in_boot,
        "parameters": to_cli(params, " "),
        "windows": len(both.windows),
        "equal": int(both.windows["equal"].sum()),
        "regions": both.windows["nr_regions"].max(),
        "checks": both.checks,
        "merges": both.windows["merges"].max(),
        "splits": both.windows["splits"].max(),
    }


def all_windows() -> pd.DataFrame:
    """`windows` of every recorded run, boots numbered, in the order of each."""
    runs = pd.DataFrame(map(windows, records.recorded(logs.NAME, Masim)))
    runs = runs.sort_values(["boot", "place"], ignore_index=True)
    return runs.assign(boot=runs["boot"].rank(method="dense").astype(int))


def mean_count(**changes: object) -> pd.Series:
    """nr_accesses of the bytes that are hot in truth, mean over windows and bytes."""
    params = Masim(workload="whole", **changes)
    both = agree_masim.runs(params, MASIM.recorded(params))
    table = intervals(*both, "hot").set_index("counter")
    return table.loc["hot_seen", ["runs", "least", "most", "model"]] * [1, 20, 20, 20]


def pages_seen(counters: pd.DataFrame) -> tuple[int, float]:
    """Pages of the hot range that count, from the fifth window on: of how many, and how many."""
    wide = counters.pivot_table(index="step", columns="counter", values="value").loc[5:]
    pages = wide["hot"].iloc[0] / PAGE
    return int(pages), round((wide["hot_seen"] / wide["hot"] * pages).median(), 1)


def statistical() -> pd.DataFrame:
    """What is recorded of each experiment whose runs can meet the model's in distribution only.

    Returns
    -------
    DataFrame
        By experiment: its `question`, recorded `settings`, and `values` counted in all of them.
    """
    rows = {}
    for question in (ACCURACY, MASIM, OVERHEAD, SCHEMES):
        runs = records.recorded(question.name, question.Params)
        values = sum(len(question.recorded(params).counters) for params in runs)
        rows[question.name] = {
            "question": question.question,
            "settings": len(runs),
            "values": values,
        }
    return pd.DataFrame(rows).T


def sides(workload: str, **changes: object) -> object:
    """Recorded runs of the kernel, and twice as many of the model, which may be another one."""
    params = Accuracy(workload=workload, runs=24)
    return agree_accuracy.sides(params.model_copy(update=changes), ACCURACY.recorded(params))


def agreed(both: dict[str, object]) -> pd.DataFrame:
    """Counters of `sides` judged, by program and counter."""
    return pd.concat(
        {of: agree_accuracy.compare_sides(one).set_index("counter") for of, one in both.items()}
    )


def to_table(judged: pd.DataFrame, counters: list[str]) -> pd.DataFrame:
    """Those counters of `agreed`, bytes in MB, four digits."""
    columns = ["kernel", "model", "model/kernel", "low", "high"]
    table = judged.loc[(slice(None), counters), ["runs", "unit", *columns]].sort_index(
        level=0, sort_remaining=False
    )
    table["unit"] = table["unit"].str.removesuffix(" / runs")
    megabytes = table["unit"] == "bytes"
    table.loc[megabytes, columns[:2]] /= 1e6
    table.loc[megabytes, "unit"] = "MB"
    table[columns] = table[columns].map("{:.4f}".format)
    return table


def curves(both: dict[str, object], others: dict[str, object], name: str) -> pd.DataFrame:
    """Cumulative distributions of kernel and model, and of another model called `name`."""
    tables = [agree_accuracy.cumulative(one).assign(program=of) for of, one in both.items()]
    for of, one in others.items():
        other = agree_accuracy.cumulative(one).query("side == 'model'")
        tables.append(other.assign(program=of, side=name))
    return pd.concat(tables)


def distances(
    judged: pd.DataFrame, others: dict[str, object], name: str, counters: list[str]
) -> pd.DataFrame:
    """How far distributions lie from the kernel's: the model's, by chance, the other model's."""
    rows = {}
    for of, other in others.items():
        compared = judged.loc[of].loc[counters]
        rows[of, "model"], rows[of, "by chance"] = compared["distance"], compared["chance"]
        far = agree_accuracy.compare_sides(other).set_index("counter")["distance"]
        rows[of, name] = far[counters]
    return pd.DataFrame(rows).T


def runs_above(more_than: float = 16.5) -> pd.DataFrame:
    """Recorded runs of zigzag, flushed, in which a page of the process' own stands out long.

    Returns
    -------
    DataFrame
        A row for the six runs that fail and one for those that pass; `runs`, and how many of them
        keep `more_than` so many regions in the mean.
    """
    rows = {}
    for params in records.recorded(ACCURACY.name, Accuracy):
        if params.workload == "zigzag-30secs" and not params.tlb:
            means = ACCURACY.recorded(params).counters.query("counter == 'regions_mean'")["value"]
            row = rows.setdefault(f"boots of {params.runs} runs", {"runs": 0, "crowded": 0})
            row["runs"] += len(means)
            row["crowded"] += int((means > more_than).sum())
    return pd.DataFrame(rows).T


def behind_tlb(workload: str, tlb: int, holds: list[int]) -> dict[tuple[str, str], pd.Series]:
    """Means of the kernel's runs, and of six of the model whose TLB holds so many pages."""
    params = Accuracy(workload=workload, runs=6, tlb=tlb)
    kernel_said = ACCURACY.recorded(params).counters
    like = agree_runs.guest_speeds(params, kernel_said)
    rows = {("kernel", "on" if tlb == 0 else "off"): kernel_said}
    for pages in holds:
        each = [params.model_copy(update={"tlb": pages, "seed": seed}) for seed in SEEDS]
        runs = [
            agree_accuracy.model_figures(one, like, agree_runs.simulated(one, like)) for one in each
        ]
        rows["model", f"{pages:,} pages"] = accuracy_counters(runs, params, "model")
    return {key: counters.groupby("counter")["value"].mean() for key, counters in rows.items()}


def without_flush(programs: list[str], counters: list[str]) -> pd.DataFrame:
    """`behind_tlb` with the flush and without, of both programs; bytes in MB."""
    means = {}
    for of in programs:
        runs = behind_tlb(of, 0, [0]) | behind_tlb(of, QEMU_TLB, [QEMU_TLB, 8_192, 65_536])
        means |= {(of, *key): row for key, row in runs.items()}
    table = pd.DataFrame(means).T[counters]
    table[["misplaced", "wss_p50"]] /= 1e6
    return table.rename(columns={"misplaced": "misplaced, MB", "wss_p50": "wss_p50, MB"})


def three_seconds(regions: int, tlb: int, **changes: object) -> Overhead:
    """Parameters of the recorded runs of damon/overhead with so many regions."""
    bounds = {"min_regions": regions, "max_regions": regions}
    return Overhead(seconds=3, tlb=tlb, **bounds, **changes)


def cost(regions: int, tlb: int, **changes: object) -> pd.Series:
    """Counters of one recorded run of three seconds."""
    params = three_seconds(regions, tlb, **changes)
    return OVERHEAD.recorded(params).counters.set_index("counter")["value"]


def turns(regions: int, tlb: int, **changes: object) -> dict[tuple[str, str], float]:
    """Windows a second and share of a CPU of one such run, in kernel and model."""
    params = three_seconds(regions, tlb, **changes)
    values = OVERHEAD.agree(params, OVERHEAD.recorded(params)).table.set_index("counter")
    assert ((values["model/kernel"] - 1).abs() < 0.005).all()
    names = ("windows_per_second", "cpu")
    return {(name, of): values.loc[name, of] for name in names for of in ("kernel", "model")}


def schemes_followed() -> tuple[list[FollowedSchemes], list[FollowedSchemes]]:
    """Parameters of all recorded runs with schemes: free ones, and those driven from outside."""
    runs = records.recorded(schemes_log.NAME, FollowedSchemes)
    driven = [params for params in runs if params.wmark_high or params.goal_percent]
    return [params for params in runs if params not in driven], driven


def _followed(params: FollowedSchemes) -> tuple:
    record = records.load(schemes_log.NAME, params)
    inputs = schemes_log.unpack(record.counters, params)
    assert agree_schemes.compared(params, record)["agrees"].all()
    return record, inputs, agree_schemes.followed(params, inputs)


def schemes_row(params: FollowedSchemes) -> dict[str, object]:
    """One recorded run with schemes against the model."""
    record, inputs, both = _followed(params)
    ended = record.counters.loc[record.counters["window"] > 0, "us"].diff()
    whole = [sum(one[name] for one in inputs.statistics) for name in STATISTICS]
    return {
        "program": params.workload,
        "schemes": params.schemes,
        "quota": f"{params.quota_mib} MiB/{params.quota_ms / 1000:g} s" if params.quota_mib else "",
        "windows": len(both),
        "equal": int(both["equal"].sum()),
        "ms each": round(ended.median() / 1000),
        "tried": whole[0],
        "MiB tried": round(whole[1] / 2**20, 1),
        "applied": whole[2],
        "held back": whole[4],
    }


def watermarks_row(params: FollowedSchemes) -> dict[str, object]:
    """One recorded run with watermarks or a goal against the model."""
    _, inputs, both = _followed(params)
    looks = [rests for window in inputs.looks for _, rests in window]
    marks = [params.wmark_high, params.wmark_mid, params.wmark_low]
    return {
        "marks, below": "/".join(map(str, marks)) if params.wmark_high else "",
        "goal reached, %": params.goal_percent or "",
        "windows": len(both),
        "equal": int(both["equal"].sum()),
        "checks": len(looks) if params.wmark_high else "",
        "inactive": sum(looks) if params.wmark_high else "",
        "times inactive": sum(now > before for before, now in pairwise([False, *looks])),
        "tried": inputs.statistics[0]["nr_tried"],
        "traced": sum(map(len, inputs.tried)),
        "MiB tried": round(inputs.statistics[0]["sz_tried"] / 2**20, 1),
        "held back": inputs.statistics[0]["qt_exceeds"],
    }


def totals(cases: dict[str, dict]) -> pd.DataFrame:
    """What became of memory in the recorded runs of damon/schemes, and in the model's."""
    tables = {}
    for name, changes in cases.items():
        params = Schemes(**changes)
        tables[name] = SCHEMES.agree(params, SCHEMES.recorded(params)).table.set_index("counter")
    return pd.concat(tables)


def in_units(table: pd.DataFrame) -> pd.DataFrame:
    """Those of `totals` that are in `UNITS` and not zero, in their units."""
    rows = table[table.index.get_level_values(1).isin(UNITS)]
    units = rows.index.get_level_values(1).map(UNITS)
    rows = rows[["runs", "least", "most", "model", "agrees"]].astype({"agrees": object})
    rows[["least", "most", "model"]] = (
        rows[["least", "most", "model"]].div(units, axis="index").round(1)
    )
    return rows[rows["most"] + rows["model"] > 0]

"""What the evaluation says of DAMON itself, weighed by the model's rules and by recorded runs."""

import numpy as np
import pandas as pd

from lorelab import threads
from lorelab.claims import ClaimVerdict, Weigh, Weighed
from lorelab.damon.experiments.schemes import parse
from lorelab.damon.model.damos import damos_matches
from lorelab.damon.model.memory import PAGE_SIZE
from lorelab.damon.model.state import REGION
from lorelab.damon.params import Accuracy, Schemes
from lorelab.damon.thread import figures
from lorelab.damon.thread.checks import WRAPPED
from lorelab.damon.thread.figures import figure
from lorelab.experiments import experiment

DEFAULTS = Schemes()
SECOND = 1_000_000 // DEFAULTS.aggr_us
"""Windows."""
BP = 10_000
"""Basis points of a count: what a region keeps of its pseudo moving sum."""
HUGE_PAGES = 512
PROGRAMS = {"zigzag-30secs": 24, "stairs-30secs": 24}
"""Recorded programs of two kinds, and runs: a large set that changes, and small ones in turn."""


def accuracy(workload: str, **changes: int) -> pd.Series:
    """Means of a recorded run of `damon/accuracy`, by counter."""
    params = Accuracy(workload=workload, **changes)
    return experiment("damon/accuracy").recorded(params).counters.groupby("counter")["value"].mean()


def accurate() -> Weighed:
    """Bytes taken for hot or cold that are not, of the hot ones, and the error of the rate."""
    allowed = Accuracy().allowed_percent
    evidence, off = {}, {}
    for workload, runs in PROGRAMS.items():
        for kind, changes in {
            "TLB flushed": {"runs": runs},
            "as x86 has it": {"runs": 6, "tlb": 264},
        }.items():
            found = accuracy(workload, **changes)
            off[workload, kind] = float(100 * found["misplaced"] / found["true_wss_p50"])
            evidence[f"{workload}, {kind}: misplaced, % of the hot bytes"] = round(
                off[workload, kind], 1
            )
            evidence[f"{workload}, {kind}: error of the rate"] = round(
                float(found["rate_error"]), 4
            )
    flushed = [share for (_, kind), share in off.items() if kind == "TLB flushed"]
    if max(off.values()) <= allowed:
        why = f"No recorded program has more than {allowed:.0f} % of its hot bytes misplaced."
        return Weighed(ClaimVerdict.HOLDS, why, evidence)
    worst = max(off, key=off.get)
    if max(flushed) > allowed:
        why = f"{worst[0]} has {off[worst]:.0f} % of its hot bytes misplaced."
        return Weighed(ClaimVerdict.CONTRADICTED, why, evidence)
    return Weighed(
        ClaimVerdict.OTHER_NUMBER,
        f"At most {max(flushed):.1f} % of the hot bytes are misplaced where each cleared bit is "
        f"flushed from the TLB. x86 does not flush, and a set that the TLB holds, {worst[0]}, is "
        f"then missed: {off[worst]:.0f} % are misplaced.",
        evidence,
    )


def checks_per_second() -> float:
    """Checks a second of a recorded kernel at the default settings."""
    return float(accuracy("zigzag-30secs", runs=24)["checks_per_second"])


def continues(configuration: str) -> Weigh:
    """Weigh that the wrapper's memory is in another configuration too: five rows, as with rec."""

    def weigh() -> Weighed:
        size = figures.workloads("memused.avg")
        low, high = figure("wrapper-low"), figure("wrapper-high")
        grown = ((size[configuration] - size["orig"]) / 1024)[WRAPPED]
        recorded = ((size["rec"] - size["orig"]) / 1024)[WRAPPED]
        evidence = {f"{name} MiB": round(mib, 1) for name, mib in grown.items()}
        evidence |= {"in rec, MiB": f"{recorded.min():.1f} to {recorded.max():.1f}"}
        # half an MB either way, and either reading of MB, as for rec
        inside = (grown >= low * 1e6 / 2**20 - 0.5) & (grown <= high + 0.5)
        if inside.all():
            why = f"All five rows grow by what the wrapper takes, {low:.0f} to {high:.0f} MB."
            return Weighed(ClaimVerdict.HOLDS, why, evidence)
        out = ", ".join(inside.index[~inside])
        more = "all five rows grow" if (grown > 0).all() else "not all five rows grow"
        return Weighed(
            ClaimVerdict.OTHER_NUMBER if (grown > 0).all() else ClaimVerdict.CONTRADICTED,
            f"With {configuration} {more}, {out} not by {low:.0f} to {high:.0f} MB.",
            evidence,
        )

    return weigh


def taken(line: str, pages: int, nr_accesses: int, age: int) -> bool:
    """Whether a scheme of one line takes such a region, as `__damos_valid_target()` does.

    Parameters
    ----------
    line : str
        In the thread's notation.
    pages, nr_accesses, age : int
        Size of the region, its count in a window at the default intervals, its age in windows.
    """
    region = np.zeros(1, REGION)
    region["end"], region["nr_accesses_bp"], region["age"] = (
        pages * PAGE_SIZE,
        nr_accesses * BP,
        age,
    )
    return bool(damos_matches(region[0], parse(line, DEFAULTS)[0]))


def bounds(*names: str) -> dict[str, str]:
    """Printed bounds of a scheme in the units that `parse` takes."""
    factors = {"size": ("", {"KiB": 1 << 10, "MiB": 1 << 20}), "age": ("us", {"s": 1_000_000})}
    rows = threads.figures("damon").loc[list(names)]
    found = {}
    for name, row in rows.iterrows():
        suffix, by = factors.get(name.rsplit("-", 1)[1], ("", {"%": 1}))
        found[name] = f"{row['value'] * by[row['unit']]:.0f}{suffix}"
    return found


def ethp_rules() -> Weighed:
    names = ("ethp-hot-size", "ethp-hot-frequency")
    names += ("ethp-cold-size", "ethp-cold-frequency", "ethp-cold-age")
    given = bounds(*names)
    hot = f"{given['ethp-hot-size']} null {given['ethp-hot-frequency']} null null null hugepage"
    cold = f"{given['ethp-cold-size']} null null {given['ethp-cold-frequency']} "
    cold += f"{given['ethp-cold-age']} null nohugepage"
    old = 2 * SECOND
    both = [
        count
        for count in range(DEFAULTS.samples + 1)
        if taken(hot, 2 * HUGE_PAGES, count, old) and taken(cold, 2 * HUGE_PAGES, count, old)
    ]
    return Weighed(
        ClaimVerdict.CONTRADICTED if both else ClaimVerdict.HOLDS,
        "Both ends of a range belong to it, and 5 % is exactly one hit: a region with one hit per "
        "window is one for both lines."
        if both
        else "No region matches both lines.",
        {"checks per window": DEFAULTS.samples, "counts that match both lines": str(both)}
        | {name: figure(name) for name in names},
    )


def prcl_rules() -> Weighed:
    names = ("prcl-size", "prcl-frequency", "prcl-age")
    given = bounds(*names)
    line = "{prcl-size} null null {prcl-frequency} {prcl-age} null pageout".format(**given)
    ages, counts = range(20 * SECOND), range(DEFAULTS.samples + 1)
    least = next((age for age in ages if taken(line, HUGE_PAGES, 0, age)), -1)
    most = max((count for count in counts if taken(line, HUGE_PAGES, count, ages[-1])), default=-1)
    pages = next((n for n in range(1, HUGE_PAGES) if taken(line, n, 0, ages[-1])), -1)
    ends = {
        f"{pages * PAGE_SIZE // 1024} KiB": pages * PAGE_SIZE == figure("prcl-size") * 1024,
        f"{100 * most / DEFAULTS.samples:g} %": 100 * most
        == figure("prcl-frequency") * DEFAULTS.samples,
        f"{least / SECOND:g} s": least == figure("prcl-age") * SECOND,
    }
    included = [end for end, same in ends.items() if same]
    return Weighed(
        ClaimVerdict.CONTRADICTED if included else ClaimVerdict.HOLDS,
        f"Bounds belong to a range: a region of exactly {', '.join(included)} is paged out, too."
        if included
        else "What is paged out lies beyond all three bounds.",
        {"smallest, KiB": int(pages * PAGE_SIZE // 1024), "most hits of 20": most}
        | {"least age, windows": least}
        | {name: figure(name) for name in names},
    )


def matched(line: str) -> set[tuple[int, int]]:
    """Pairs of count and age, up to two seconds, that a scheme of one line takes."""
    counts, ages = range(DEFAULTS.samples + 1), range(2 * SECOND + 1)
    return {(n, age) for n in counts for age in ages if taken(line, HUGE_PAGES, n, age)}

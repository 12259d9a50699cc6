"""What the evaluation says of DAMON itself, weighed by the model's rules and by recorded runs."""

import numpy as np
import pandas as pd

from lorelab.damon import figures
from lorelab.damon.figures import figure
from lorelab.damon.kernel.boot import QEMU_TLB
from lorelab.damon.model.damos import damos_matches
from lorelab.damon.model.memory import PAGE_SIZE
from lorelab.damon.model.state import REGION
from lorelab.damon.params import Accuracy, Schemes
from lorelab.damon.thread.checks import WRAPPED
from lorelab.damon.workload.schemes import parse
from lorelab.experiments import experiment
from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict, Weigh, Weighed

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
            "not flushed, QEMU's TLB": {"runs": 6, "tlb": QEMU_TLB},
        }.items():
            values = accuracy(workload, **changes)
            off[workload, kind] = float(100 * values["misplaced"] / values["true_wss_p50"])
            evidence[f"{workload}, {kind}: misplaced, % of the hot bytes"] = round(
                off[workload, kind], 1
            )
            evidence[f"{workload}, {kind}: error of the rate"] = round(
                float(values["rate_error"]), 4
            )
    flushed = {name: share for name, share in off.items() if name[1] == "TLB flushed"}
    if max(off.values()) <= allowed:
        why = f"No recorded program has more than {allowed:.0f} % of its hot bytes misplaced."
        return Weighed(ClaimVerdict.HOLDS, why, evidence)
    if min(off.values()) > allowed:
        why = f"Every recorded program has more than {allowed:.0f} % of its hot bytes misplaced."
        return Weighed(ClaimVerdict.CONTRADICTED, why, evidence)
    worst = max(off.keys() - flushed.keys(), key=off.get)
    most = max(flushed.values())
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        f"The thread sets no bar for *enough*. On 6.12.117 up to {most:.1f} % of the hot "
        "bytes are misplaced where each cleared bit is flushed from the TLB. Without the flush, as "
        f"on x86, {off[worst]:.0f} % of {worst[0]}'s are misplaced, because QEMU's TLB holds them; "
        "a CPU's TLB is another one, and none was measured.",
        evidence,
    )


def continues(configuration: str) -> Weigh:
    """Weigh that the five rows' overhead continues in another configuration: it has no number."""

    def weigh() -> Weighed:
        size = figures.workloads("memused.avg")
        grown = ((size[configuration] - size["orig"]) / 1024)[WRAPPED]
        recorded = ((size["rec"] - size["orig"]) / 1024)[WRAPPED]
        evidence = {f"{name} MiB": round(mib, 1) for name, mib in grown.items()}
        evidence |= {"in rec, MiB": f"{recorded.min():.1f} to {recorded.max():.1f}"}
        if (grown > 0).all():
            why = (
                f"With {configuration} all five rows grow too, by {grown.min():.1f} to "
                f"{grown.max():.1f} MiB. What causes it, the tables do not show."
            )
            return Weighed(ClaimVerdict.HOLDS, why, evidence)
        out = ", ".join(grown.index[grown <= 0])
        why = f"With {configuration} not all five rows grow: {out}."
        return Weighed(ClaimVerdict.CONTRADICTED, why, evidence)

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
    texts = {}
    for name, row in rows.iterrows():
        suffix, by = factors.get(name.rsplit("-", 1)[1], ("", {"%": 1}))
        texts[name] = f"{row['value'] * by[row['unit']]:.0f}{suffix}"
    return texts


def ethp_rules() -> Weighed:
    names = ("ethp-hot-size", "ethp-hot-frequency")
    names += ("ethp-cold-size", "ethp-cold-frequency", "ethp-cold-age")
    printed = bounds(*names)
    hot = f"{printed['ethp-hot-size']} null {printed['ethp-hot-frequency']} null null null hugepage"
    cold = f"{printed['ethp-cold-size']} null null {printed['ethp-cold-frequency']} "
    cold += f"{printed['ethp-cold-age']} null nohugepage"
    takes = {
        count: [taken(line, 2 * HUGE_PAGES, count, 2 * SECOND) for line in (hot, cold)]
        for count in range(DEFAULTS.samples + 1)
    }
    above = figure("ethp-hot-frequency") * DEFAULTS.samples / 100
    below = figure("ethp-cold-frequency") * DEFAULTS.samples / 100
    right = all(both[0] or count <= above for count, both in takes.items()) and all(
        both[1] or count >= below for count, both in takes.items()
    )
    shared = [count for count, both in takes.items() if all(both)]
    evidence = {"checks per window": DEFAULTS.samples, "counts that match both lines": str(shared)}
    evidence |= {name: figure(name) for name in names}
    if not right or any(count != above or count != below for count in shared):
        why = "Counts above or below the bounds are taken otherwise than the comment says."
        return Weighed(ClaimVerdict.CONTRADICTED, why, evidence)
    note = ""
    if shared:
        note = (
            " Of exactly 5 %, one hit of a window, the comment says nothing; 6.12 counts both "
            "ends of a range in, so a region with one hit matches both lines."
        )
    return Weighed(
        ClaimVerdict.HOLDS, f"Above and below 5 % each line takes what it says.{note}", evidence
    )


def prcl_rules() -> Weighed:
    """The comment says above, below and older; whether a bound itself belongs is the code's."""
    names = ("prcl-size", "prcl-frequency", "prcl-age")
    printed = bounds(*names)
    line = "{prcl-size} null null {prcl-frequency} {prcl-age} null pageout".format(**printed)
    ages, counts = range(20 * SECOND), range(DEFAULTS.samples + 1)
    least = next((age for age in ages if taken(line, HUGE_PAGES, 0, age)), -1)
    most = max((count for count in counts if taken(line, HUGE_PAGES, count, ages[-1])), default=-1)
    pages = next((n for n in range(1, HUGE_PAGES) if taken(line, n, 0, ages[-1])), -1)
    beyond = [
        pages - figure("prcl-size") * 1024 / PAGE_SIZE,
        figure("prcl-frequency") * DEFAULTS.samples / 100 - most,
        least - figure("prcl-age") * SECOND,
    ]
    evidence = {"smallest, KiB": int(pages * PAGE_SIZE // 1024), "most hits of 20": most}
    evidence |= {"least age, windows": least} | {name: figure(name) for name in names}
    if not all(0 <= steps <= 1 for steps in beyond):
        return Weighed(ClaimVerdict.CONTRADICTED, "Other regions are paged out.", evidence)
    ends = (f"{pages * PAGE_SIZE // 1024} KiB", f"{100 * most / DEFAULTS.samples:g} %")
    ends += (f"{least / SECOND:g} s",)
    on = [end for end, steps in zip(ends, beyond, strict=True) if steps == 0]
    note = f" 6.12 also takes a region of exactly {', '.join(on)}." if on else ""
    return Weighed(ClaimVerdict.HOLDS, f"The three bounds are those of the line.{note}", evidence)


def matched(line: str) -> set[tuple[int, int]]:
    """Pairs of count and age, up to two seconds, that a scheme of one line takes."""
    counts, ages = range(DEFAULTS.samples + 1), range(2 * SECOND + 1)
    return {(n, age) for n in counts for age in ages if taken(line, HUGE_PAGES, n, age)}

"""How each claim of the evaluation is weighed: on its own tables, and on 6.12's rules."""

from collections.abc import Callable

import pandas as pd

from lorelab.damon import figures
from lorelab.damon.figures import figure
from lorelab.damon.kernel.boot import QEMU_TLB
from lorelab.damon.params import Overhead
from lorelab.experiments import experiment
from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict, Weigh, Weighed

WRAPPED = [
    "parsec3/streamcluster",
    "parsec3/swaptions",
    "splash2x/raytrace",
    "splash2x/volrend",
    "splash2x/water_nsquared",
]
"""The five workloads whose memory overhead the message puts down to its Python wrapper."""

LIGHTER = "94.242.42"
"""The factor of line 52 as printed."""


def total(metric: str, configuration: str) -> float:
    """Overhead of the printed total over that of `orig`, in per cent."""
    return float(figures.overhead(figures.table(metric)).loc["total", configuration])


def row(metric: str, configuration: str) -> pd.Series:
    """Overhead of each workload, in per cent."""
    return figures.overhead(figures.workloads(metric))[configuration]


def rounds_to(exact: float, printed: float, digits: int) -> bool:
    """Whether `printed` is `exact` at that many decimals."""
    return abs(exact - printed) <= 0.5 * 10**-digits + 1e-9


def follows(id: str, recompute: Callable[[], float], digits: int = 2) -> Weigh:
    """Weigh a figure that the cells give: `recompute` says what, at `digits` decimals."""

    def weigh() -> Weighed:
        exact, printed = recompute(), figure(id)
        evidence = {"printed %": printed, "recomputed %": f"{exact:.{digits + 2}f}"}
        if not rounds_to(exact, printed, digits):
            return Weighed(
                ClaimVerdict.OTHER_NUMBER, "The raw cells give another number.", evidence
            )
        why = "It follows from the printed cells; the runs behind them cannot be repeated here."
        return Weighed(ClaimVerdict.ARITHMETIC, why, evidence)

    return weigh


def total_follows(id: str, metric: str, configuration: str, sign: int, digits: int) -> Weigh:
    """Weigh a printed total: an overhead (`sign` 1), or a saving printed as positive (-1)."""
    return follows(id, lambda: sign * total(metric, configuration), digits)


def extreme(id: str, metric: str, configuration: str, highest: bool) -> Weigh:
    """Weigh a best or a worst case: the figure, and that no other row goes further."""

    def weigh() -> Weighed:
        rows = row(metric, configuration)
        most = rows.idxmax() if highest else rows.idxmin()
        named = threads.figures("damon").loc[id, "workload"]
        good = most == named and rounds_to(abs(rows[most]), abs(figure(id)), 2)
        why = "No other row of the table goes further." if good else "Another row goes further."
        evidence = {"row": most, "%": round(float(rows[most]), 4)}
        return Weighed(
            ClaimVerdict.ARITHMETIC if good else ClaimVerdict.CONTRADICTED, why, evidence
        )

    return weigh


def cells() -> Weighed:
    """One that is cut after two decimals, in place of rounded, is a slip and no other number."""
    table = figures.percentages()
    off = table[~table["agrees"]]
    beyond = off["recomputed"].abs() - off["printed"].abs()
    cut = beyond.between(0, 0.01, inclusive="left").all()
    slip = ", but for those named, which are cut in place of rounded" if len(off) else ""
    why = f"Each overhead follows from its two cells within their last digits{slip}."
    return Weighed(
        ClaimVerdict.ARITHMETIC if cut else ClaimVerdict.OTHER_NUMBER,
        why if cut else "Some overheads do not follow from their two cells.",
        {"overheads": len(table), "off by one in the last digit": ", ".join(off.index) or "none"},
    )


def totals() -> Weighed:
    table = figures.totals()
    gap = (table["printed"] - table["exact"]).abs()
    sums = int((gap <= table["slack"] + 0.0005).sum())
    text = int((table["text"] == table["printed"]).sum())
    evidence = {
        "totals that are the sums of their rows": f"{sums} of {len(table)}",
        "that are sums through awk's text": f"{text} of {len(table)}",
        "that cut digits can make so": f"{int(table['reachable'].sum())} of {len(table)}",
        "farthest from the sum, KiB": float(gap[table["metric"] != "runtime"].max()),
    }
    if sums == len(table):
        return Weighed(ClaimVerdict.ARITHMETIC, "Every total is the sum of its rows.", evidence)
    why = "They are sums that went through six digits of text at each step, as awk prints them."
    if not table["reachable"].all():
        why = "They are not the sums of their rows, nor sums through six digits of text."
    return Weighed(ClaimVerdict.OTHER_NUMBER, why, evidence)


def speedup() -> Weighed:
    """As its author means the word: time saved."""
    times = figures.table("runtime")
    evidence = {}
    for name, workload in (("thp", "total"), ("ethp", "total"), ("thp", "splash2x/ocean_ncp")):
        line = times.loc[workload]
        evidence[f"{name} {workload}, time saved %"] = round(
            100 * (1 - line[name] / line["orig"]), 2
        )
        evidence[f"{name} {workload}, speed gained %"] = round(
            100 * (line["orig"] / line[name] - 1), 2
        )
    saved = evidence["thp splash2x/ocean_ncp, time saved %"]
    meant = rounds_to(saved, figure("thp-speedup-best"), 2)
    return Weighed(
        ClaimVerdict.HOLDS if meant else ClaimVerdict.OTHER_NUMBER,
        "The message means time saved, and so it holds; as speed gained the figures are larger."
        if meant
        else "It is not the time that is saved.",
        evidence,
    )


def counts() -> Weighed:
    suites = figures.workloads("runtime").index.str.split("/").str[0].value_counts()
    good = all(figure(f"{name}-workloads") == count for name, count in suites.items())
    why = "The rows of each suite." if good else "The tables have other rows."
    evidence = {name: int(count) for name, count in suites.items()}
    return Weighed(ClaimVerdict.ARITHMETIC if good else ClaimVerdict.CONTRADICTED, why, evidence)


def appendix() -> Weighed:
    printed = threads.figures("damon")["quantity"]
    spread = int(printed.str.contains(r"stdev|\bmin\b|\bmax\b").sum())
    return Weighed(
        ClaimVerdict.HOLDS if spread else ClaimVerdict.NOT_TESTABLE,
        "Our copy of the message ends without an appendix, so no row has an error bar."
        if not spread
        else "The figures of the appendix are among those of the message.",
        {"spreads printed": spread, "runs averaged": int(figure("repeats"))},
    )


def light() -> Weighed:
    rows = row("runtime", "rec")
    slower = int((rows > 0).sum())
    follows = rounds_to(total("runtime", "rec"), figure("tldr-rec-runtime"), 2)
    return Weighed(
        ClaimVerdict.ARITHMETIC if follows else ClaimVerdict.OTHER_NUMBER,
        f"The figure follows; {slower} of {len(rows)} rows are slower, too many for noise, though "
        "without its spread no row below 1 % says anything by itself.",
        {
            "total %": round(total("runtime", "rec"), 4),
            "geometric mean %": round(figures.unweighted("runtime")["rec"], 2),
            "rows slower": slower,
            "rows below 1 %": int((rows.abs() < 1).sum()),
        },
    )


REPEATED = {
    "tldr-rec-runtime": "overhead-rec-runtime",
    "tldr-rec-memused": "overhead-rec-memused",
    "tldr-ethp-waste": "ethp-waste",
    "tldr-ethp-speedup": "ethp-kept",
    "tldr-prcl-memused": "prcl-memused-best",
    "tldr-prcl-rss": "prcl-rss-best",
    "tldr-prcl-runtime": "prcl-runtime-best",
}
"""Rows of the summary, and those that they repeat."""


def summary() -> Weighed:
    pairs = {again: (figure(again), figure(first)) for again, first in REPEATED.items()}
    off = [again for again, (one, other) in pairs.items() if one != other]
    return Weighed(
        ClaimVerdict.CONTRADICTED if off else ClaimVerdict.ARITHMETIC,
        f"Another figure than below it: {', '.join(off)}."
        if off
        else "Each figure of the summary is printed again below it.",
        {f"{again} %": f"{one:g}, {other:g}" for again, (one, other) in pairs.items()},
    )


def saves_memory() -> Weighed:
    """The total, and beside it what the author sets aside: rows that the wrapper makes grow."""
    exact, printed = total("memused.avg", "rec"), figure("tldr-rec-memused")
    size = figures.workloads("memused.avg")
    change = (size["rec"] - size["orig"]) / 1024
    largest = change.abs().idxmax()
    without = {w: float(figures.without("memused.avg", w)["rec"]) for w in size.index}
    turns = [workload for workload, total in without.items() if total * exact < 0]
    evidence = {
        "printed %": printed,
        "total %": round(exact, 4),
        **{f"without {workload} %": round(without[workload], 2) for workload in turns},
        f"{largest} MiB": round(float(change[largest]), 1),
        "geometric mean, with the wrapper, %": round(
            float(figures.unweighted("memused.avg")["rec"]), 2
        ),
        "rows that grow": f"{int((change > 0).sum())} of {len(change)}",
    }
    if not rounds_to(exact, printed, 2):
        return Weighed(ClaimVerdict.OTHER_NUMBER, "The totals give another number.", evidence)
    sign = f"; without {' or without '.join(turns)} its sign is the other" if turns else ""
    why = f"It follows from the printed totals{sign}. Rows that grow have the wrapper in them."
    return Weighed(ClaimVerdict.ARITHMETIC, why, evidence)


def wrapper() -> Weighed:
    """Growth of a row is no measurement of the wrapper: only whether all five grow can be checked.

    Beside it how many grow by as much, by either reading of MB.
    """
    size = figures.workloads("memused.avg")
    grown = (size["rec"] - size["orig"]) * 1024
    low, high = figure("wrapper-low"), figure("wrapper-high")
    readings = {"MB": grown / 10**6, "MiB": grown / 2**20}
    inside = {u: (low <= g) & (g <= high) for u, g in readings.items()}
    either = (inside["MB"] | inside["MiB"])[WRAPPED]
    mib = readings["MiB"]
    more = mib[mib > 0]
    evidence = {f"{name} MiB": round(float(mib[name]), 1) for name in WRAPPED}
    evidence |= {
        "rows that grow": len(more),
        "by MiB": f"{more.min():.1f} to {more.max():.1f}, median {mib.median():.1f} of all",
    }
    shrunk = mib[WRAPPED][mib[WRAPPED] <= 0]
    if len(shrunk):
        out = ", ".join(shrunk.index)
        return Weighed(ClaimVerdict.CONTRADICTED, f"Not all five grow: {out}.", evidence)
    others = "".join(f", {name} by {mib[name]:.1f} MiB" for name in either.index[~either])
    why = (
        f"{int(either.sum())} of the five rows grow by that{others}. A row's growth is no "
        "measurement of the wrapper: DAMON and chance are in it, and no row has a spread."
    )
    return Weighed(ClaimVerdict.ARITHMETIC, why, evidence)


def wrapper_percent() -> Weighed:
    exact = row("memused.avg", "rec")[WRAPPED]
    printed = {name: figure(f"wrapper-{name.split('/')[1]}") for name in WRAPPED}
    cut = all(int(exact[name]) == value for name, value in printed.items())
    rounded = all(round(exact[name]) == value for name, value in printed.items())
    why = "The percentages of the table, " + ("rounded." if rounded else "cut, not rounded.")
    return Weighed(
        ClaimVerdict.ARITHMETIC if cut or rounded else ClaimVerdict.CONTRADICTED,
        why,
        {f"{name} %": round(value, 2) for name, value in exact.items()},
    )


def footprints() -> Weighed:
    kib = figures.workloads("memused.avg")["orig"]
    mib = {name: kib[name] / 1024 for name in WRAPPED}
    printed = {name: figure(f"footprint-{name.split('/')[1]}") for name in WRAPPED}
    right = all(int(mib[name]) == printed[name] for name in WRAPPED)
    thousand = all(int(kib[name] / 1000) == printed[name] for name in WRAPPED)
    why = "The KiB of the table divided by 1000, not by 1024." if thousand else "Another unit."
    return Weighed(
        ClaimVerdict.ARITHMETIC if right else ClaimVerdict.OTHER_NUMBER,
        "The table's own sizes." if right else why,
        {f"{name} MiB": round(value, 1) for name, value in mib.items()},
    )


def bounded() -> Weighed:
    slower = row("runtime", "rec")
    size = figures.workloads("memused.avg")["orig"]
    rank = slower.rank().corr(size.rank())
    on = experiment("damon/overhead")
    at_most = {"min_regions": 1000, "tlb": QEMU_TLB, "seconds": 3, "touched_mib": 32}
    runs = [on.recorded(Overhead(mib=mib, **at_most)).counters for mib in (1 << 16, 1 << 20)]
    small, large = (run.set_index("counter")["value"] for run in runs)
    growth = large["instructions_per_sample"] / small["instructions_per_sample"]
    same = abs(growth - 1) < 0.01 and large["nr_regions_max"] == small["nr_regions_max"]
    return Weighed(
        ClaimVerdict.HOLDS if same else ClaimVerdict.CONTRADICTED,
        "At most max_nr_regions checks a sample (1,001 of 1,000): a kernel does the same work for "
        "64 GiB as for 1 TiB. Over the rows of the table slowdown does not grow with memory.",
        {
            "instructions a sample, 1 TiB over 64 GiB": round(float(growth), 3),
            "share of a CPU at 1000 regions, 5 ms": round(float(large["cpu"]), 2),
            "rank correlation of slowdown and memory": round(float(rank), 2),
        },
    )


def share(metric: str, workload: str) -> dict[str, float]:
    """Part of thp's change that ethp keeps, %: from the printed percentages, and from the cells."""
    printed = figures.table(metric, "percent").loc[workload]
    cells = figures.table(metric).loc[workload]
    changes = {"percentages": printed, "cells": cells - cells["orig"]}
    return {name: float(100 * line["ethp"] / line["thp"]) for name, line in changes.items()}


def part(id: str, compute: Callable[[], dict[str, float]], digits: int) -> Weigh:
    """Weigh a part of thp's change: both ways to compute it are fair."""

    def weigh() -> Weighed:
        recomputed, printed = compute(), figure(id)
        names = {"percentages": "the printed percentages", "cells": "the cells"}
        exact = [name for name, value in recomputed.items() if rounds_to(value, printed, digits)]
        evidence = {"printed %": printed} | {
            f"from {names[name]} %": f"{value:.{digits + 2}f}" for name, value in recomputed.items()
        }
        if not exact:
            why = "Neither the printed percentages nor the cells give it."
            return Weighed(ClaimVerdict.OTHER_NUMBER, why, evidence)
        why = f"It follows from {' and from '.join(names[name] for name in exact)}."
        return Weighed(ClaimVerdict.ARITHMETIC, why, evidence)

    return weigh


def kept(id: str, workload: str) -> Weigh:
    """Weigh the part of thp's speedup that ethp keeps."""
    return part(id, lambda: share("runtime", workload), 2)


def removed(id: str, workload: str, digits: int = 2) -> Weigh:
    """Weigh the part of thp's memory overhead that ethp removes."""
    metric = "memused.avg"
    return part(id, lambda: {n: 100 - v for n, v in share(metric, workload).items()}, digits)


def waste() -> Weighed:
    in_total = total("memused.avg", "thp")
    rows = row("memused.avg", "thp")
    worst = rows.idxmax()
    rest = figures.without("memused.avg", worst)
    evidence = {"total %": round(in_total, 2)}
    evidence |= {f"without {worst}, {n} %": round(float(rest[n]), 2) for n in ("thp", "ethp")}
    evidence |= {"rows that grow": f"{int((rows > 0).sum())} of {len(rows)}"}
    if in_total <= 0:
        return Weighed(ClaimVerdict.CONTRADICTED, "In total thp takes no more memory.", evidence)
    one_row = f" One row makes it, {worst}, which the thread names." if rest["thp"] <= 0 else ""
    why = f"It follows from the printed totals.{one_row}"
    return Weighed(ClaimVerdict.ARITHMETIC, why, evidence)


BEST = {"memused.avg": "prcl-memused-best", "rss.avg": "prcl-rss-best"}
"""Savings of the best case, printed as positive; its slowdown is `prcl-runtime-best`."""


def best_case() -> Weighed:
    best = threads.figures("damon").loc["prcl-rss-best", "workload"]
    evidence, first = {}, []
    for metric in figures.METRICS:
        ranked = row(metric, "prcl").sort_values()
        place = list(ranked.index).index(best) + 1
        first += [metric] * (place == 1)
        evidence[f"{metric} rank"] = f"{place} of {len(ranked)}, first {ranked.index[0]} " + (
            f"{ranked.iloc[0]:+.2f} %"
        )
    follow = all(rounds_to(-row(m, "prcl")[best], figure(id), 2) for m, id in BEST.items())
    follow &= rounds_to(row("runtime", "prcl")[best], figure("prcl-runtime-best"), 2)
    if not follow:
        return Weighed(ClaimVerdict.OTHER_NUMBER, f"{best} has other numbers.", evidence)
    if not first:
        why = f"Another row goes further than {best} in every table."
        return Weighed(ClaimVerdict.CONTRADICTED, why, evidence)
    why = f"All three figures are those of {best}, which no row passes in {', '.join(first)}."
    return Weighed(ClaimVerdict.ARITHMETIC, why, evidence)


def swapcache() -> Weighed:
    free, rss = (figures.table(m).loc["total"] for m in ("memused.avg", "rss.avg"))
    saved = [(line["orig"] - line["prcl"]) / 2**20 for line in (free, rss)]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "The gap is there; how much of it is swap cache, how much is zram's own pages, "
        "the tables do not say.",
        {"MemFree gains, GiB": round(saved[0], 2), "resident sets lose, GiB": round(saved[1], 2)},
        judgement=True,
    )


def lighter() -> Weighed:
    why = "The factor is garbled: no number has two decimal points."
    return Weighed(ClaimVerdict.NOT_TESTABLE, why, {"printed": f"{LIGHTER}x"}, judgement=True)


def cover_speedup() -> Weighed:
    times = figures.workloads("runtime")
    ratios = times["orig"] / times["ethp"]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "It is of another experiment; in these tables no DAMON-based run comes near it.",
        {
            "printed": figure("cover-speedup"),
            "largest speedup with ethp": f"{ratios.max():.2f}x in {ratios.idxmax()}",
        },
        judgement=True,
    )

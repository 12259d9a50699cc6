"""Pictures of the per-VMA lock chapter, each drawn from a table that an experiment gives."""

import altair as alt
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, Moved, slider, title
from lorelab.vmalock.recording.report import histogram

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY = OKABE_ITO
COLOURS = {
    "mmap-lock": VERMILLION,
    "spf": PURPLE,
    "vma-rwsem": ORANGE,
    "v2": SKY,
    "v6.12": BLUE,
    "v7.3": GREEN,
    "range": GREY,
}
"""One colour a variant, through the chapter."""


def _variant(table: pd.DataFrame) -> alt.Color:
    shown = [name for name in COLOURS if name in set(table["variant"])]
    scale = alt.Scale(domain=shown, range=[COLOURS[name] for name in shown])
    return alt.Color("variant:N", title="a fault takes", scale=scale)


def contended(table: pd.DataFrame) -> alt.Chart:
    """Draw the rates and latencies of runs of `vmalock/contention`, a bar a run."""
    shown = {  # no brackets: Vega reads [us] as a part of what stands before it
        "million faults / s": "datum.fault_rate / 1e6",
        "thousand mprotect() / s": "datum.write_rate / 1e3",
        "fault, 99th percentile (us)": "datum.fault_p99 / 1e3",
        "mprotect(), 99th percentile (us)": "datum.write_p99 / 1e3",
    }
    wide = table.pivot_table(index="variant", columns="counter", values="value", sort=False)
    return (
        alt.Chart(wide.reset_index())
        .transform_calculate(**shown)
        .transform_fold(list(shown), as_=["what", "count"])
        .mark_bar()
        .encode(
            y=alt.Y("variant:N", title=None, sort=None),
            x=alt.X("count:Q", title=None),
            color=_variant(table),
        )
        .properties(width=250, height=alt.Step(22))
        .facet(facet=alt.Facet("what:N", title=None, sort=list(shown)), columns=2)
        .resolve_scale(x="independent")
        .properties(
            title=title(
                "Threads that fault, and change VMAs (model)",
                "The model gives the order in which threads wait, not the time.",
            )
        )
    )


def throughput(table: pd.DataFrame) -> alt.Chart:
    """Draw faults a second over CPUs (`lorelab.vmalock.pages.performance.over_cpus`)."""
    rates = table[table["counter"] == "fault_rate"].assign(value=lambda t: t["value"] / 1e6)
    return (
        alt.Chart(rates)
        .mark_line(point=True)
        .encode(
            x=alt.X("cpus:Q", title="CPUs, threads and VMAs", scale=alt.Scale(type="log", base=2)),
            y=alt.Y("value:Q", title="faults, million/s", scale=alt.Scale(type="log")),
            color=_variant(rates),
        )
        .properties(title=title("Faults while 1 in 100 operations is an mprotect()", "Model."))
    )


def latency(table: pd.DataFrame) -> alt.Chart:
    """Draw median and 99th percentile of a fault's latency over CPUs, as `throughput` takes it."""
    names = {"fault_p50": "median", "fault_p99": "99th percentile"}
    times = table[table["counter"].isin(names)].assign(value=lambda t: t["value"] / 1e3)
    times = times.assign(counter=times["counter"].map(names))
    return (
        alt.Chart(times)
        .mark_line(point=True)
        .encode(
            x=alt.X("cpus:Q", title="CPUs", scale=alt.Scale(type="log", base=2)),
            y=alt.Y("value:Q", title="latency, us", scale=alt.Scale(type="log")),
            color=_variant(times),
        )
        .properties(width=230, height=180)
        .facet(alt.Column("counter:N", sort=list(names.values()), title=None))
        .properties(title=title("How long a fault takes", "Model, the runs of the last figure."))
    )


def times(table: pd.DataFrame, column: str) -> alt.Chart:
    """Draw how often mmap_lock was waited for, or held, for how long.

    Parameters
    ----------
    table : DataFrame
        `lorelab.vmalock.recording.report.waits` or `holds`.
    column : str
        `wait` or `held`.
    """
    parts = [
        histogram(part[column]).assign(kind=kind) for kind, part in table.groupby("kind", sort=True)
    ]
    what = {"wait": "Waits for mmap_lock", "held": "How long mmap_lock is held"}[column]
    kinds = alt.Scale(domain=["read", "write"], range=[BLUE, ORANGE])
    empty = pd.DataFrame({"from": [], "times": [], "kind": []})
    return (
        alt.Chart(pd.concat(parts) if parts else empty)
        .mark_bar()
        .encode(
            x=alt.X("from:O", title="time from there to twice as long, ns"),
            y=alt.Y("times:Q", title="times"),
            color=alt.Color("kind:N", title=None, scale=kinds),
        )
        .properties(title=title(what, "A bar is an octave."))
    )


def lock_time(table: pd.DataFrame) -> alt.Chart:
    """Draw where mmap_lock's time goes (`lorelab.vmalock.pages.views.probed`)."""
    kinds = alt.Scale(domain=["read", "write"], range=[BLUE, ORANGE])
    paths = {"vma": "its VMA's lock first", "mmap": "mmap_lock at once"}
    whats = {"wait": "waited for", "hold": "held"}
    shown = table.assign(path=table["path"].map(paths), what=table["what"].map(whats))
    return (
        alt.Chart(shown)
        .mark_bar()
        .encode(
            x=alt.X("ms:Q", title="time of all threads by the guest's clock, ms"),
            y=alt.Y("path:N", title=None, sort=list(paths.values())),
            color=alt.Color("kind:N", title=None, scale=kinds),
        )
        .properties(width=200, height=70)
        .facet(
            column=alt.Column("what:N", title=None, sort=list(whats.values())),
            row=alt.Row("mode:N", title=None),
        )
        .resolve_scale(x="independent")
        .properties(
            title=title(
                "Where mmap_lock's time goes",
                "By what a fault takes, in areas of the faulters' own or a shared one. Kernel.",
            )
        )
    )


def taken(table: pd.DataFrame) -> alt.Chart:
    """Draw how often mmap_lock is taken for reading (`lorelab.vmalock.pages.views.taken`)."""
    shown = table["reads"].reset_index()
    release = shown["release"].str.partition("+")[0]
    tried = shown["path"].map({"mmap": "mmap_lock at once", "vma": "its VMA's lock first"})
    shown = shown.assign(tries=release + ", " + tried)
    kinds = list(dict.fromkeys(shown["tries"]))
    areas = {"private": "areas of their own", "shared": "one area", "merging": "merging areas"}
    return (
        alt.Chart(shown.assign(mode=shown["mode"].map(areas)))
        .mark_bar()
        .encode(
            x=alt.X("reads:Q", title="times mmap_lock is taken for reading"),
            y=alt.Y("tries:N", title=None, sort=kinds, axis=alt.Axis(labels=False, ticks=False)),
            color=alt.Color(
                "tries:N",
                title="a fault tries",
                scale=alt.Scale(domain=kinds, range=[VERMILLION, BLUE, GREEN]),
            ),
        )
        .properties(width=480, height=alt.Step(18))
        .facet(
            row=alt.Row(
                "mode:N",
                sort=list(areas.values()),
                title=None,
                header=alt.Header(labelOrient="top", labelAnchor="start"),
            )
        )
        .properties(
            title=title(
                "How often mmap_lock is taken for reading",
                "Kernel: two threads fault, another changes the address space. A missing bar is 0.",
            )
        )
    )


DOING = {
    "own work": "#dddddd",
    "handles a fault": BLUE,
    "changes VMAs": ORANGE,
    "waits for mmap_lock": VERMILLION,
    "waits for readers": PURPLE,
}


def unfolding(table: pd.DataFrame, at: int) -> Moved:
    """Draw what each thread does when, as far as time has come; the slider moves it.

    Parameters
    ----------
    table : DataFrame
        `lorelab.vmalock.pages.performance.unfolding`.
    at : int
        The moment shown first [us].
    """
    last = float(table["at"].max())
    doing = alt.Scale(domain=list(DOING), range=list(DOING.values()))
    drawn = (
        alt.Chart(table)
        .mark_bar(height=13)
        .encode(
            x=alt.X(
                "since:Q",
                title="time, us",
                scale=alt.Scale(domain=[0, last], nice=False),
                axis=alt.Axis(tickCount=6),
            ),
            x2="till:Q",
            y=alt.Y("thread:O", title="threads", axis=alt.Axis(labels=False, ticks=False)),
            color=alt.Color(
                "doing:N", title=None, scale=doing, legend=alt.Legend(orient="bottom", columns=3)
            ),
        )
        .properties(width=560, height=150)
        .facet(row=alt.Row("variant:N", sort=["mmap-lock", "v6.12"], title=None))
        .properties(
            title=title("Which thread waits for which", "Model, eight threads on eight CPUs.")
        )
    )
    return slider(drawn, "at", at, "time, us")


def rates(table: pd.DataFrame, column: str, text: str) -> alt.Chart:
    """Draw a rate over threads, a panel for each value of a column.

    Parameters
    ----------
    table : DataFrame
        `lorelab.vmalock.pages.performance.receiving` or `merged`.
    column : str
        `madvise` or `vmas`.
    text : str
        What the chart shows.
    """
    return (
        alt.Chart(table.assign(rate=table["rate"] / 1e6))
        .mark_line(point=True)
        .encode(
            x=alt.X("threads:Q", title="threads and CPUs", scale=alt.Scale(type="log", base=2)),
            y=alt.Y("rate:Q", title="rate, million/s"),
            color=_variant(table),
        )
        .properties(width=230, height=180)
        .facet(alt.Column(f"{column}:N", title=None))
        .properties(title=title(text, "Model."))
    )


def forked(table: pd.DataFrame) -> alt.Chart:
    """Draw how much longer a fork takes (`lorelab.vmalock.pages.performance.forked`)."""
    return (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X("vmas:Q", title="VMAs of the parent", scale=alt.Scale(type="log")),
            y=alt.Y("longer:Q", title="longer than under mmap_lock alone, %"),
            color=_variant(table),
        )
        .properties(title=title("What locking every VMA costs a fork", "Model, pages left out."))
    )

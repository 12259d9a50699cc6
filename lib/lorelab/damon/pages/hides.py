"""A page that is accessed all the time: its TLB entry, its accessed bit, and what kdamond finds."""

from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, title

ROWS = ["TLB entry", "accessed bit", "kdamond finds"]
WAYS = {False: "6.12", True: "with a flush"}


def spans(
    until_us: int, sample_us: int = 5_000, switch_us: int = 12_000, flush: bool = False
) -> pd.DataFrame:
    """Follow the page: each sample checks its bit and clears it, each switch empties the TLB.

    The page is accessed throughout, so a TLB miss, which sets the bit, follows at once when the
    entry has gone.

    Parameters
    ----------
    until_us, sample_us, switch_us : int
        us
    flush : bool
        Flush the page's entry after its bit is cleared.

    Returns
    -------
    DataFrame
        `row`, of `ROWS`; `start` and `end` in ms, equal for kdamond's checks; whether the bit was
        `set`, absent in the others.
    """
    checks = np.arange(0, until_us + 1, sample_us)
    switches = np.arange(switch_us, until_us + 1, switch_us)
    gone = np.union1d(switches, checks) if flush else switches
    misses = np.union1d([0], gone)
    rows = [
        ("TLB entry", *pair, None) for pair in zip(misses, [*misses[1:], until_us], strict=True)
    ]
    for before, check in pairwise(checks):
        # What is cleared at `before` is set again by the first miss after it.
        sets = gone[(gone >= before) & (gone < check)]
        if before == 0 and not flush:
            sets = sets[sets > 0]
        if sets.size:
            rows.append(("accessed bit", sets[0], check, None))
        rows.append(("kdamond finds", check, check, bool(sets.size)))
    table = pd.DataFrame(rows, columns=["row", "start", "end", "set"])
    table[["start", "end"]] /= 1000
    # An entry that begins as the picture ends.
    return table[(table["row"] == "kdamond finds") | (table["start"] < table["end"])]


def timeline(switch_us: int = 12_000, until_us: int = 50_000) -> alt.LayerChart:
    """Draw `spans` of 6.12, below them those with a flush; dashed lines are context switches."""
    tables = [
        spans(until_us, switch_us=switch_us, flush=flush).assign(way=way)
        for flush, way in WAYS.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    table["line"] = table["way"] + ": " + table["row"]
    lines = [f"{way}: {row}" for way in WAYS.values() for row in ROWS]
    x = alt.X("start:Q", title="ms", scale=alt.Scale(domain=[0, until_us / 1000], nice=False))
    y = alt.Y("line:N", title=None, sort=lines, scale=alt.Scale(domain=lines))
    checks = table["row"] == "kdamond finds"
    bits = table[checks].assign(found=table["set"].map({True: "accessed", False: "not accessed"}))
    bars = (
        alt.Chart(table[~checks])
        .mark_bar(height=16, stroke="white", strokeWidth=1.5)
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            color=alt.Color(
                "row:N",
                legend=None,
                scale=alt.Scale(domain=ROWS[:2], range=[OKABE_ITO[7], OKABE_ITO[0]]),
            ),
        )
    )
    # No words: a chart with words does not become as narrow as a telephone.
    domain = ["accessed", "not accessed"]
    answers = (
        alt.Chart(bits)
        .mark_point(size=80, opacity=1, filled=True)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape(
                "found:N",
                title=None,
                legend=alt.Legend(orient="bottom"),
                scale=alt.Scale(domain=domain, range=["circle", "cross"]),
            ),
            color=alt.Color(
                "found:N",
                legend=None,
                scale=alt.Scale(domain=domain, range=[OKABE_ITO[2], OKABE_ITO[1]]),
            ),
        )
    )
    switches = pd.DataFrame({"start": np.arange(switch_us, until_us + 1, switch_us) / 1000})
    dashed = alt.Chart(switches).mark_rule(strokeDash=[4, 4], color="#888888").encode(x=x)
    return (
        alt.layer(
            dashed,
            bars,
            answers,
            title=title(
                "A page that is accessed all the time, checked each 5 ms",
                "An access by way of the TLB does not set the bit. Dashed: a context switch.",
            ),
        )
        .resolve_scale(color="independent")
        .properties(width=560, height=alt.Step(27))
    )

"""A page that is accessed all the time: its TLB entry, its accessed bit, and what kdamond finds."""

from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, title

ROWS = ["TLB entry", "accessed bit", "accessed?"]
WAYS = {False: "as 6.12 clears it", True: "with a flush at each clear"}


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
        rows.append(("accessed?", check, check, bool(sets.size)))
    table = pd.DataFrame(rows, columns=["row", "start", "end", "set"])
    table[["start", "end"]] /= 1000
    # An entry that begins as the picture ends.
    return table[(table["row"] == "accessed?") | (table["start"] < table["end"])]


def timeline(switch_us: int = 12_000, until_us: int = 50_000) -> alt.VConcatChart:
    """Draw `spans` of 6.12, and below it with a flush; dashed lines are context switches."""
    drawn = [
        _line(spans(until_us, switch_us=switch_us, flush=flush), switch_us, until_us, way)
        for flush, way in WAYS.items()
    ]
    return alt.vconcat(
        *drawn,
        spacing=12,
        title=title(
            "A page that is accessed all the time, checked each 5 ms",
            "An access by way of the TLB does not set the bit. Dashed: a context switch.",
        ),
    )


def _line(table: pd.DataFrame, switch_us: int, until_us: int, way: str) -> alt.LayerChart:
    last = way == list(WAYS.values())[-1]
    scale = alt.Scale(domain=[0, until_us / 1000], nice=False)
    x = alt.X("start:Q", title="ms" if last else None, scale=scale)
    y = alt.Y("row:N", title=None, sort=ROWS, scale=alt.Scale(domain=ROWS))
    checks = table["row"] == "accessed?"
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
    answer = table[checks].assign(answer=table["set"].map({True: "yes", False: "no"}))
    answers = (
        alt.Chart(answer)
        .mark_text(fontSize=13, fontWeight="bold")
        .encode(
            x=x,
            y=y,
            text="answer:N",
            color=alt.condition("datum.set", alt.value(OKABE_ITO[0]), alt.value(OKABE_ITO[1])),
        )
    )
    switches = pd.DataFrame({"start": np.arange(switch_us, until_us + 1, switch_us) / 1000})
    lines = alt.Chart(switches).mark_rule(strokeDash=[4, 4], color="#888888").encode(x=x)
    heading = alt.TitleParams(way, fontSize=13, fontWeight="normal", offset=4)
    return alt.layer(lines, bars, answers, title=heading).properties(width=560, height=84)

"""An interleaving as a sequence chart: a lane a thread, a line a step, time downwards."""

import altair as alt
import pandas as pd

from lorelab.charts import OKABE_ITO, title

LANE = 205
"""Pixels a thread."""
ROW = 18
"""Pixels a step."""
STATE = {
    "mm_lock_seq": "mm_lock_seq",
    "mmap_lock": "mmap_lock",
    "vm_lock_seq": "vm_lock_seq",
    "readers": "VMA's count",
}
"""Columns of `interleaving` beside the lanes, and their headings."""


def interleaving(steps: pd.DataFrame, text: str, see: str) -> alt.HConcatChart:
    """Draw the table of `experiments.protocol.interleaving`, and what each step left behind.

    Parameters
    ----------
    steps : DataFrame
    text, see : str
        What the chart shows, and what to see in it.
    """
    flag = steps["exclusive"].map({0: "", 1: " + writer"})
    rows = steps.assign(readers=steps["count"].astype(str) + flag)
    threads = sorted(set(rows["thread"]))
    height = ROW * len(rows)
    every = alt.Scale(domain=rows["step"].tolist())
    y = alt.Y("step:O", title="step", scale=every, axis=alt.Axis(domain=False, ticks=False))
    x = alt.X("thread:N", title=None, sort=threads, axis=alt.Axis(orient="top", labelAngle=0))
    lanes = alt.Chart(pd.DataFrame({"thread": threads})).mark_rule(color="#cccccc").encode(x=x)
    base = alt.Chart(rows).encode(y=y, x=x, color=_lane(threads))
    points = base.mark_point(size=50, filled=True, opacity=1)
    words = base.mark_text(align="left", dx=8, fontSize=11).encode(text="statement:N")
    lane = (lanes + points + words).properties(width=LANE * len(threads), height=height)
    beside = _beside(rows, height, every)
    return alt.hconcat(lane, beside, spacing=70).properties(title=title(text, see))


def _lane(threads: list[str]) -> alt.Color:
    scale = alt.Scale(domain=threads, range=OKABE_ITO[: len(threads)])
    return alt.Color("thread:N", scale=scale, legend=None)


def _beside(rows: pd.DataFrame, height: int, every: alt.Scale) -> alt.Chart:
    """What each step left behind; written where it differs from the line above."""
    told = []
    for field, heading in STATE.items():
        values = rows[field].astype(str)
        fresh = values[values != values.shift()]
        told += [
            {"step": rows.loc[n, "step"], "what": heading, "value": value}
            for n, value in fresh.items()
        ]
    return (
        alt.Chart(pd.DataFrame(told))
        .mark_text(fontSize=11)
        .encode(
            y=alt.Y("step:O", title=None, axis=None, scale=every),
            x=alt.X(
                "what:N",
                title=None,
                sort=list(STATE.values()),
                axis=alt.Axis(orient="top", labelAngle=0),
            ),
            text="value:N",
        )
        .properties(width=95 * len(STATE), height=height)
    )

"""An interleaving as a sequence chart: a lane a thread, a line a step, time downwards."""

from itertools import cycle

import altair as alt
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, Moved, slider, title

LANE, COLUMN, ROW = 190, 95, 18
"""Pixels of a thread's lane, of a column of state, and of a step."""
STATE = ["mm_lock_seq", "mmap_lock", "vm_lock_seq", "VMA's count"]
"""The columns beside the lanes: what each step left behind."""


def places(steps: pd.DataFrame) -> pd.DataFrame:
    """What is drawn once so many steps are taken: a row for each mark, for each value of `at`.

    Parameters
    ----------
    steps : DataFrame
        Of `experiments.protocol.interleaving`.

    Returns
    -------
    DataFrame
        `at`, `x` in pixels, `step` (0 for headings), `text`, `kind` (`lane`, `step`, `state`,
        `heading` or `heading above`) and `thread` (empty for state).
    """
    flag = steps["exclusive"].map({0: "", 1: " + writer"})
    labelled = steps.assign(**{"VMA's count": steps["count"].astype(str) + flag})
    threads = sorted(set(steps["thread"]))
    lanes = {thread: LANE * n for n, thread in enumerate(threads)}
    beside = {name: LANE * len(threads) + 75 + COLUMN * n for n, name in enumerate(STATE)}
    fixed = [(x, 0, name, "lane", name) for name, x in lanes.items()]
    # By turns higher and lower, for on a slide these names are wider than their columns.
    kinds = cycle(("heading", "heading above"))
    fixed += [(x, 0, name, next(kinds), "") for name, x in beside.items()]
    marks = []
    for n, row in enumerate(labelled.to_dict("records")):
        where = lanes[row["thread"]]
        marks.append((where, row["step"], row["statement"], "step", row["thread"]))
        for name, x in beside.items():
            if n == 0 or row[name] != labelled[name].iloc[n - 1]:
                marks.append((x, row["step"], str(row[name]), "state", ""))
    names = ["x", "step", "text", "kind", "thread"]
    drawn = [
        pd.DataFrame([*fixed, *(m for m in marks if m[1] <= at)], columns=names).assign(at=at)
        for at in steps["step"]
    ]
    return pd.concat(drawn, ignore_index=True)


def interleaving(steps: pd.DataFrame, text: str, see: str) -> Moved:
    """Draw an interleaving; the slider takes it step by step.

    Parameters
    ----------
    steps : DataFrame
        Of `experiments.protocol.interleaving`.
    text, see : str
        What the chart shows, and what to see in it.
    """
    rows = places(steps)
    threads = sorted(set(steps["thread"]))
    last = len(steps)
    width = LANE * len(threads) + 75 + COLUMN * (len(STATE) - 1)
    colours = alt.Scale(domain=[*threads, ""], range=[*OKABE_ITO[: len(threads)], "#555555"])
    ticks = alt.Axis(values=list(range(1, last + 1)), grid=False, domain=False, ticks=False)
    base = alt.Chart(rows).encode(
        x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-15, width + 45], nice=False)),
        y=alt.Y("step:Q", title="step", axis=ticks, scale=alt.Scale(domain=[last + 0.5, 0])),
        color=alt.Color("thread:N", scale=colours, legend=None),
    )

    def only(kind: str) -> alt.Chart:
        return base.transform_filter(alt.datum.kind == kind)

    layers = [
        only("lane").mark_rule(opacity=0.3).encode(y2=alt.datum(last + 0.5)),
        only("lane").mark_text(align="left", dx=4, dy=-8, fontSize=12, fontWeight="bold"),
        only("heading").mark_text(dy=-8, fontSize=12),
        only("heading above").mark_text(dy=-24, fontSize=12),
        only("step").mark_point(size=50, filled=True, opacity=1),
        only("step").mark_text(align="left", dx=8, fontSize=11),
        only("state").mark_text(fontSize=11),
    ]
    for n in (1, 2, 3, 5, 6):
        layers[n] = layers[n].encode(text="text:N")
    drawn = alt.layer(*layers, data=rows).properties(
        width=width + 60, height=ROW * (last + 1), title=title(text, see)
    )
    return slider(drawn, "at", last, "steps taken")

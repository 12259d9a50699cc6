"""The cycle that a litmus test's outcome closes: who reads from whom, and what no rule keeps."""

import math

import altair as alt
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, title
from lorelab.vmalock.model.litmus import Kind, Machine, Test, ordered, spelled

LEFT, RIGHT, ROW = 230, 520, 26
"""Pixels where the texts of the first thread end and those of the second begin, and of a line."""
RELATIONS = {"kept": "in order", "not kept": "no order", "rf": "read by", "fr": "not seen by"}
"""What stands at an edge."""


def edges(test: Test) -> pd.DataFrame:
    """The edges of the cycle.

    Parameters
    ----------
    test : Test
        Of two threads; each of two loads that it asks about finds what the other thread stored,
        or what was there before.

    Returns
    -------
    DataFrame
        `of`, `place`, `to`, `to_place` (thread and access where it begins and ends) and `relation`,
        of `RELATIONS`; one that leads from a store to a load is `rf`, one that leads from a load to
        the store that it did not see `fr`, and within a thread they are `kept` or `not kept` on the
        weak machine.
    """
    met = []
    for (thread, register), value in test.exists.items():
        own = enumerate(test.threads[thread])
        load = next(n for n, a in own if a.kind == Kind.LOAD and a.value == register)
        where = test.threads[thread][load].where
        before = test.first.get(where, 0)
        for place, access in enumerate(test.threads[1 - thread]):
            if access.kind == Kind.STORE and access.where == where:
                if value == before:
                    met.append((thread, load, 1 - thread, place, "fr"))
                elif access.value == value:
                    met.append((1 - thread, place, thread, load, "rf"))
    (a, leaves, b, enters, _), (_, other, _, back, _) = met
    within = []
    for thread, first, last in ((b, enters, other), (a, back, leaves)):
        kept = ordered(test.threads[thread], first, last, Machine.WEAK)
        within.append((thread, first, thread, last, "kept" if kept else "not kept"))
    names = ["of", "place", "to", "to_place", "relation"]
    return pd.DataFrame([*met, *within], columns=names)


def cycle(test: Test, text: str, see: str) -> alt.LayerChart:
    """Draw the threads side by side, and between their accesses the cycle.

    Parameters
    ----------
    test : Test
        As `edges` takes it.
    text, see : str
        What the chart shows, and what to see in it.
    """
    lines = [
        {"x": (LEFT, RIGHT)[t], "y": place * ROW, "said": statement, "thread": t}
        for t, thread in enumerate(test.threads)
        for place in range(len(thread))
        for statement in [" ".join(spelled(thread, place).split())]
    ]
    drawn = []
    for of, place, to, to_place, relation in edges(test).itertuples(index=False):
        within = of == to
        x, x2 = ((LEFT, RIGHT)[t] + (1 - 2 * t) * (12 if within else 20) for t in (of, to))
        y, y2 = place * ROW, to_place * ROW
        drawn.append(
            {
                **{"x": x, "y": y, "x2": x2, "y2": y2, "relation": relation},
                # Those that cross are named before they do.
                "mx": (x + x2) / 2 + 46 * (1 - 2 * of) if within else 0.72 * x + 0.28 * x2,
                "my": (y + y2) / 2 if within else 0.72 * y + 0.28 * y2 + 26,
                # A triangle points up; the axis goes down.
                "angle": math.degrees(math.atan2(y2 - y, x2 - x)) + 90,
                "said": RELATIONS[relation],
            }
        )
    height = ROW * max(map(len, test.threads))
    across = alt.Scale(domain=[0, LEFT + RIGHT], nice=False)
    down = alt.Scale(domain=[height - ROW / 2, -ROW], nice=False)
    colours = alt.Scale(
        domain=list(RELATIONS), range=["#666666", OKABE_ITO[1], OKABE_ITO[0], OKABE_ITO[0]]
    )

    def at(chart: alt.Chart, x: str, y: str) -> alt.Chart:
        return chart.encode(
            x=alt.X(f"{x}:Q", axis=None, scale=across), y=alt.Y(f"{y}:Q", axis=None, scale=down)
        )

    edge = alt.Chart(pd.DataFrame(drawn)).encode(
        color=alt.Color("relation:N", scale=colours, legend=None)
    )
    dash = alt.condition(alt.datum.relation == "not kept", alt.value([5, 4]), alt.value([1, 0]))
    code = alt.Chart(pd.DataFrame(lines))
    heads = alt.Chart(
        pd.DataFrame(
            {"x": [LEFT, RIGHT], "y": [-0.7 * ROW] * 2, "said": ["P0", "P1"], "thread": [0, 1]}
        )
    )
    layers = [
        at(edge.mark_rule(strokeWidth=2), "x", "y").encode(x2="x2:Q", y2="y2:Q", strokeDash=dash),
        at(edge.mark_point(shape="triangle", size=70, filled=True, opacity=1), "x2", "y2").encode(
            angle=alt.Angle("angle:Q", scale=None)
        ),
        at(edge.mark_text(fontSize=12, dy=-9), "mx", "my").encode(text="said:N"),
    ]
    for chart, weight in ((code, "normal"), (heads, "bold")):
        for thread, align in ((0, "right"), (1, "left")):
            mark = chart.transform_filter(alt.datum.thread == thread).mark_text(
                align=align, fontSize=13, fontWeight=weight
            )
            layers.append(at(mark, "x", "y").encode(text="said:N"))
    return alt.layer(*layers).properties(
        width=LEFT + RIGHT, height=height + ROW, title=title(text, see)
    )

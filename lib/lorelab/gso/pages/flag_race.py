"""Two CPUs complete one packet: every order of their loads and stores of the flag, as pictures."""

from itertools import combinations

import altair as alt
import pandas as pd

from lorelab.gso.model.flag import access
from lorelab.showing.charts import OKABE_ITO, title

CPUS = ("sent", "copied")
SUCCESS = (1, 0)
"""Of the segment that each completes."""
ACCESSES = 4
"""A load and a store each."""
WIDTH, ROW = 195, 20
"""Pixels of an order, and of an access."""


def orders() -> pd.DataFrame:
    """What each order leaves in the flag, access by access.

    Returns
    -------
    DataFrame
        `order`, from 1 on; `at`, from 1 on; `cpu`; `access`, as text; `flag` after it; and whether
        at the end the copy is `lost`.
    """
    rows = []
    for number, first in enumerate(combinations(range(ACCESSES), 2), 1):
        flag, loaded, step = 1, [0, 0], [0, 0]
        for at in range(ACCESSES):
            cpu = 0 if at in first else 1
            flag, loaded[cpu] = access(step[cpu], flag, loaded[cpu], SUCCESS[cpu])
            what = f"store {flag}" if step[cpu] else f"load {loaded[cpu]}"
            rows.append((number, at + 1, CPUS[cpu], what, flag))
            step[cpu] += 1
    table = pd.DataFrame(rows, columns=["order", "at", "cpu", "access", "flag"])
    return table.assign(lost=table.groupby("order")["flag"].transform("last") == 1)


def race(table: pd.DataFrame) -> alt.FacetChart:
    """Draw `orders`: time runs downwards, a column a CPU, on the right the flag."""
    table = table.assign(
        said=table["lost"].map({True: ": the copy is lost", False: ": copy reported"}),
    )
    table["said"] = "order " + table["order"].astype(str) + table["said"]
    base = alt.Chart().encode(
        y=alt.Y("at:O", title="time", axis=alt.Axis(labels=False, ticks=False))
    )
    colour = alt.Color(
        "lost:N",
        legend=None,
        scale=alt.Scale(domain=[False, True], range=[OKABE_ITO[0], OKABE_ITO[1]]),
    )
    place = alt.X(
        "cpu:N",
        title=None,
        sort=[*CPUS, "flag"],
        scale=alt.Scale(domain=[*CPUS, "flag"]),
        axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False),
    )
    taken = base.mark_text(fontWeight="bold").encode(x=place, text="access:N", color=colour)
    flags = base.transform_calculate(cpu="'flag'").mark_text().encode(x=place, text="flag:Q")
    return (
        alt.layer(taken, flags, data=table)
        .properties(width=WIDTH, height=alt.Step(ROW))
        .facet(
            alt.Facet(
                "said:N",
                title=None,
                header=alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold"),
            ),
            columns=3,
        )
        .properties(
            title=title(
                "One CPU completes a sent segment, another a copied one of the same packet",
                "Model: orders of their loads and stores. The flag begins as 1, not copied.",
            )
        )
    )

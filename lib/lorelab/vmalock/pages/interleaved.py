"""What a search found, drawn from its numbers alone, to which a panel gives others."""

import altair as alt
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, title
from lorelab.vmalock.model.protocol.configurations import PROGRAMS
from lorelab.vmalock.model.protocol.rules import Rule

WRITTEN = 255
"""Of `mmap_lock`: a writer holds it."""
LANE, COLUMN, ROW = 175, 88, 19
"""Pixels of a thread's lane, of a column of state, and of a step."""
LANES = 3
STATE = ("mm_lock_seq", "mmap_lock", "vm_lock_seq", "count")
"""The columns beside the lanes: what each step left behind."""


def chart(found: pd.DataFrame, statements: tuple[str, ...]) -> alt.VConcatChart:
    """Whether all rules hold, and the shortest interleaving that breaks the first one.

    Parameters
    ----------
    found : DataFrame
        Of `lorelab.vmalock.panel.protocol.ways`.
    statements : tuple of str
        By the numbers in it, from 1 on.
    """
    data = found.reset_index()
    rules = {int(rule): rule.name for rule in Rule}
    said = (
        alt.Chart(data)
        .transform_filter("datum.kind == 0")
        .transform_calculate(
            said="datum.broken_rule"
            f" ? 'breaks ' + {rules}[datum.broken_rule] + ' in ' + datum.counterexample + ' steps'"
            " : 'all rules hold in each of ' + datum.states + ' states'"
        )
        .mark_text(align="left", fontSize=12)
        .encode(x=alt.value(0), y=alt.Y("variant:N", title=None), text="said:N")
        .properties(width=LANE * LANES + COLUMN * len(STATE))
    )
    steps = alt.Chart(data).transform_filter("datum.kind > 0")
    x = alt.X(
        "x:Q",
        axis=None,
        scale=alt.Scale(domain=[-10, LANE * LANES + COLUMN * len(STATE)], nice=False),
    )
    y = alt.Y("at:O", axis=None)
    colour = alt.Color(
        "thread:O",
        legend=None,
        scale=alt.Scale(domain=list(range(LANES)), range=list(OKABE_ITO[:LANES])),
    )
    lanes = (
        steps.transform_calculate(x=f"datum.thread * {LANE}")
        .transform_aggregate(program="min(program)", groupby=["variant", "thread", "x"])
        .transform_calculate(
            said=f"'thread ' + datum.thread + ': ' + {list(PROGRAMS)}[datum.program]", at="0"
        )
        .mark_text(align="left", fontWeight="bold", fontSize=12)
        .encode(x=x, y=y, color=colour, text="said:N")
    )
    taken = steps.transform_calculate(
        x=f"datum.thread * {LANE}", said=f"{list(statements)}[datum.statement - 1]"
    ).encode(x=x, y=y, color=colour)
    beside = (
        steps.transform_calculate(
            count="datum.count + (datum.exclusive ? ' + writer' : '')",
            mmap_lock=f"datum.mmap_lock == {WRITTEN} ? 'write'"
            " : datum.mmap_lock ? datum.mmap_lock + ' reading' : 'free'",
        )
        .transform_fold(list(STATE), as_=["name", "value"])
        .transform_window(
            before="lag(value)", groupby=["variant", "name"], sort=[alt.SortField("at")]
        )
        .transform_calculate(
            x=f"{LANE * LANES + COLUMN / 2} + {COLUMN} * indexof({list(STATE)}, datum.name)"
        )
    )
    values = (
        beside.transform_filter("datum.at == 1 || datum.value != datum.before")
        .mark_text(fontSize=11)
        .encode(x=x, y=y, text="value:N")
    )
    names = (
        beside.transform_filter("datum.at == 1")
        .transform_calculate(at="0")
        .mark_text(fontSize=11, fontWeight="bold")
        .encode(x=x, y=y, text="name:N")
    )
    way = (
        alt.layer(
            lanes,
            taken.mark_point(filled=True, size=45, opacity=1),
            taken.mark_text(align="left", dx=7, fontSize=11).encode(text="said:N"),
            names,
            values,
        )
        .properties(width=LANE * LANES + COLUMN * len(STATE), height=alt.Step(ROW))
        .facet(
            row=alt.Row(
                "variant:N", title=None, header=alt.Header(labelOrient="top", labelAnchor="start")
            )
        )
    )
    see = (
        "Time runs downwards; on the right what a step changed of both sequences, of mmap_lock,\n"
        "and of the lock of the VMA that the last step is about."
    )
    return alt.vconcat(said, way).properties(
        title=title("Every interleaving of a configuration", see)
    )

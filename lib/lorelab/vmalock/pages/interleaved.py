"""An interleaving as a sequence chart: a lane a thread, a line a step, time downwards.

A page draws one with a slider (`interleaving`), or what a search found (`chart`), from the numbers
alone, to which a panel's form gives others. Both are `lanes`.
"""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, Moved, slider, title
from lorelab.vmalock.model.protocol.configurations import PROGRAMS
from lorelab.vmalock.model.protocol.rules import Rule

WRITTEN = 255
"""Of `mmap_lock`: a writer holds it."""
LANE, COLUMN, ROW = 175, 88, 19
"""Pixels of a thread's lane, of a column of state, and of a step."""
THREADS = range(3)
"""Of a configuration that a panel knows."""
MOST_STEPS = 41
"""Of the slider of a panel: the longest way of a named configuration with one mutation. At the
slider's end the whole of a longer one is shown, too."""
STATE = ("mm_lock_seq", "mmap_lock", "vm_lock_seq", "count")
"""The columns beside the lanes: what each step left behind."""


def lanes(
    steps: alt.Chart,
    threads: Sequence[int],
    last: int | None = None,
    shown: str | None = None,
) -> alt.LayerChart:
    """Draw an interleaving.

    Parameters
    ----------
    steps : Chart
        A row a step, with its fields, of the data or calculated: `variant`, `at`, the step's number
        from 1 on; `thread`, a number, `program` and `statement`; `STATE`, of the VMA's lock `count`
        as text.
    threads : sequence of int
        Those that have a lane, in this order.
    last : int, optional
        The last step, where not all steps are always there.
    shown : str, optional
        Of which steps something is drawn, as an expression; the others keep their room.
    """
    width = LANE * len(threads) + COLUMN * len(STATE)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-10, width], nice=False))
    # Lines -1 and 0 have the headings: by turns, for on a slide they are wider than their columns.
    fixed = {} if last is None else {"scale": alt.Scale(domain=list(range(-1, last + 1)))}
    axis = alt.Axis(
        domain=False, ticks=False, labelExpr="datum.value > 0 ? datum.label : ''", labelAngle=0
    )
    y = alt.Y("at:O", title="step", axis=axis, **fixed)
    colour = alt.Color(
        "thread:O",
        legend=None,
        scale=alt.Scale(domain=list(threads), range=[OKABE_ITO[n] for n in threads]),
    )
    of_threads = steps.transform_calculate(x=f"{LANE} * indexof({list(threads)}, datum.thread)")
    lane = of_threads.transform_aggregate(
        n="count()", groupby=["variant", "thread", "program", "x"]
    ).transform_calculate(said="'thread ' + datum.thread + ': ' + datum.program", at="0")
    taken = of_threads.encode(x=x, y=y, color=colour)
    beside = (
        steps.transform_fold(list(STATE), as_=["name", "value"])
        .transform_window(
            before="lag(value)", groupby=["variant", "name"], sort=[alt.SortField("at")]
        )
        .transform_calculate(place=f"indexof({list(STATE)}, datum.name)")
        .transform_calculate(x=f"{LANE * len(threads) + COLUMN / 2} + {COLUMN} * datum.place")
    )
    values = beside.transform_filter("datum.at == 1 || datum.value != datum.before")
    visible = {"opacity": alt.condition(shown, alt.value(1), alt.value(0))} if shown else {}
    names = beside.transform_filter("datum.at == 1").transform_calculate(
        at="-(datum.place % 2)", said="datum.name == 'count' ? \"VMA's count\" : datum.name"
    )
    return alt.layer(
        lane.mark_rule(opacity=0.3).encode(x=x, color=colour),
        lane.mark_text(align="left", fontWeight="bold", fontSize=12).encode(
            x=x, y=y, color=colour, text="said:N"
        ),
        taken.mark_point(filled=True, size=45, opacity=1).encode(**visible),
        taken.mark_text(align="left", dx=7, fontSize=11).encode(text="statement:N", **visible),
        names.mark_text(fontSize=11, fontWeight="bold").encode(x=x, y=y, text="said:N"),
        values.mark_text(fontSize=11).encode(x=x, y=y, text="value:N", **visible),
    ).properties(width=width, height=alt.Step(ROW))


def interleaving(steps: pd.DataFrame, text: str, see: str) -> Moved:
    """Draw an interleaving; the slider takes it step by step.

    Parameters
    ----------
    steps : DataFrame
        Of `lorelab.vmalock.pages.searches.interleaving`.
    text, see : str
        What the chart shows, and what to see in it.
    """
    last = len(steps)
    number = steps["thread"].str.split().str[0].astype(int)
    rows = steps.assign(
        variant="",
        at=steps["step"],
        program=steps["thread"].str.split().str[1],
        thread=number,
        count=steps["count"].astype(str) + steps["exclusive"].map({0: "", 1: " + writer"}),
    ).drop(columns=["step", "exclusive"])
    taken = pd.concat(rows.head(n).assign(taken=n) for n in range(1, last + 1))
    drawn = lanes(alt.Chart(taken), sorted(set(number)), last)
    return slider(drawn.properties(title=title(text, see)), "taken", last, "steps taken")


def chart(frame: pd.DataFrame, statements: tuple[str, ...]) -> alt.VConcatChart:
    """Whether all rules hold, and the shortest interleaving that breaks the first one.

    Parameters
    ----------
    frame : DataFrame
        Of `lorelab.vmalock.panel.protocol.ways`. Threads that take a step have a lane; where none
        does, as in a panel whose numbers are still to come, `THREADS` have.
    statements : tuple of str
        By the numbers in it, from 1 on.
    """
    data = frame.reset_index()
    threads = sorted(map(int, set(frame.loc[frame["kind"] > 0, "thread"]))) or THREADS
    rules = {int(rule): rule.name for rule in Rule}
    text = (
        alt.Chart(data)
        .transform_filter("datum.kind == 0")
        .transform_calculate(
            said="datum.broken_rule"
            f" ? 'breaks ' + {rules}[datum.broken_rule] + ' in ' + datum.counterexample + ' steps'"
            " : 'all rules hold in each of ' + datum.states + ' states'"
        )
        .mark_text(align="left", fontSize=12)
        .encode(x=alt.value(0), y=alt.Y("variant:N", title=None), text="said:N")
        .properties(width=LANE * len(threads) + COLUMN * len(STATE))
    )
    # What is a number in the data is a text in the picture.
    steps = (
        alt.Chart(data)
        .transform_filter("datum.kind > 0")
        .transform_calculate(
            program=f"{list(PROGRAMS)}[datum.program]",
            statement=f"{list(statements)}[datum.statement - 1]",
            count="datum.count + (datum.exclusive ? ' + writer' : '')",
            mmap_lock=f"datum.mmap_lock == {WRITTEN} ? 'write'"
            " : datum.mmap_lock ? datum.mmap_lock + ' reading' : 'free'",
        )
    )
    taken = alt.param(
        "taken",
        value=MOST_STEPS,
        bind=alt.binding_range(min=1, max=MOST_STEPS, step=1, name="steps taken "),
    )
    shown = f"datum.at <= taken || taken == {MOST_STEPS}"
    way = lanes(steps, threads, shown=shown).facet(
        row=alt.Row(
            "variant:N", title=None, header=alt.Header(labelOrient="top", labelAnchor="start")
        )
    )
    see = (
        "Time runs downwards; on the right what a step changed of both sequences, of mmap_lock,\n"
        "and of the lock of the VMA that the last step is about. The slider takes step by step."
    )
    return alt.vconcat(text.add_params(taken), way).properties(
        title=title("Every interleaving of a configuration", see)
    )

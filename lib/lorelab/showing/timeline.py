"""What happened when: events as points on a line of years, each with its words."""

from typing import NamedTuple

import altair as alt
import pandas as pd

from lorelab.showing import charts


class Event(NamedTuple):
    """What happened, on which day, and who did it: the `mails` or the `kernel` of that version."""

    day: str
    words: str
    where: str


def timeline(events: list[Event], title: str, see: str) -> alt.LayerChart:
    """A row for each event, in the order in which they happened.

    Examples
    --------
    >>> events = [Event("2014-06-13", "posted", "mails"), Event("2014-08-06", "merged", "kernel")]
    >>> timeline(events, "A patch", "Eight weeks.").to_dict()["title"]
    {'text': 'A patch', 'subtitle': ['Eight weeks.']}
    """
    rows = pd.DataFrame(events).sort_values("day", kind="stable", ignore_index=True)
    rows["row"] = rows.index
    rows["said"] = rows["day"].str.slice(0, 7) + "  " + rows["words"]
    late = pd.to_datetime(rows["day"])
    rows["right"] = late > late.min() + (late.max() - late.min()) * 0.45
    axis = alt.Axis(labels=False, ticks=False, domain=False, grid=False)
    base = alt.Chart(rows).encode(
        x=alt.X("day:T", title=None, axis=alt.Axis(format="%Y", tickCount="year")),
        y=alt.Y("row:O", title=None, axis=axis),
    )
    points = base.mark_point(size=90, filled=True).encode(
        color=alt.Color("where:N", title=None, sort=["mails", "kernel"])
    )
    words = {
        side: base.transform_filter(f"datum.right === {str(side).lower()}")
        .mark_text(align="right" if side else "left", dx=-10 if side else 10, fontSize=12)
        .encode(text="said:N")
        for side in (True, False)
    }
    return alt.layer(points, *words.values(), title=charts.title(title, see)).properties(
        height=alt.Step(24), width=640
    )

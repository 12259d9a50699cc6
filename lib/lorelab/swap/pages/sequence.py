"""One 64 KiB folio on its way out: what happens to it, in order, on each path."""

from collections.abc import Iterator

import altair as alt
import numpy as np
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, title
from lorelab.swap.model.reclaim import COUNTS, Folio, try_to_unmap, unmap_folio
from lorelab.swap.params import Usemem
from lorelab.swap.workload.usemem import whole_folio

PAGES = 16
"""4 KiB pages of the 64 KiB."""
EVENTS = ["slot", "clear a PTE", "wait for the other CPUs", "split", "write"]
COLOURS = dict(zip(EVENTS, [OKABE_ITO[i] for i in (7, 5, 1, 6, 2)], strict=True))


def sequence(paths: dict[str, Usemem]) -> pd.DataFrame:
    """Events of 64 KiB on each path, whose page tables are loaded on another CPU.

    Parameters
    ----------
    paths : dict of Usemem
        By name; folios of 64 KiB, or of one page, of which there are 16 then.

    Returns
    -------
    DataFrame
        `path`; `at`, from 1 on; `event`, of `EVENTS`.
    """
    rows = [
        (path, at, event)
        for path, params in paths.items()
        for at, event in enumerate(_events(whole_folio(params)), 1)
    ]
    return pd.DataFrame(rows, columns=["path", "at", "event"])


def _events(folio: Folio) -> Iterator[str]:
    # As shrink_folio() of lorelab.swap.model.reclaim goes, where the device has room.
    if folio.order and not folio.eager_split:
        yield from _written(folio.order, folio.mapped)
        return
    if folio.order:
        count = np.zeros(1, COUNTS)
        unmap_folio(folio, True, count)
        yield from _unmapped(count[0])
        yield "split"
    for _ in range(PAGES):
        yield from _written(0, 1)


def _written(order: int, mapped: int) -> Iterator[str]:
    count = np.zeros(1, COUNTS)
    try_to_unmap(order, mapped, True, count)
    yield "slot"
    yield from _unmapped(count[0])
    yield "write"


def _unmapped(count: np.void) -> list[str]:
    # Either each entry is waited for, or all of them once.
    clear, wait = EVENTS[1], EVENTS[2]
    if count["flushes"] == count["invalidations"]:
        return [clear, wait] * int(count["flushes"])
    return [clear] * int(count["invalidations"]) + [wait] * int(count["flushes"])


def draw(table: pd.DataFrame) -> alt.Chart:
    """Draw `sequence`: a row a path, a bar an event, from the left."""
    paths = list(table["path"].unique())
    return (
        alt.Chart(table.assign(before=table["at"] - 1))
        .mark_bar(stroke="white", strokeWidth=0.6)
        .encode(
            x=alt.X(
                "before:Q",
                title="events of 64 KiB, in order",
                scale=alt.Scale(domain=[0, int(table["at"].max())], nice=False),
            ),
            x2="at:Q",
            y=alt.Y("path:N", title=None, sort=paths),
            color=alt.Color(
                "event:N",
                title=None,
                sort=EVENTS,
                scale=alt.Scale(domain=EVENTS, range=list(COLOURS.values())),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=["path:N", "at:Q", "event:N"],
        )
        .properties(
            width=600,
            height=alt.Step(34),
            title=title(
                "What 64 KiB go through on each path",
                "Model: order of events, not their length.",
            ),
        )
    )

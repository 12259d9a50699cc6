"""The map of `swap/holes`: clusters with their holes, and where each allocator searches."""

import altair as alt
import pandas as pd

from lorelab.flat import flat
from lorelab.params import label
from lorelab.showing.charts import title
from lorelab.swap.experiments.holes import VARIANT, run
from lorelab.swap.pages.charts import BLACK, HOLDS, OTHER
from lorelab.swap.params_holes import Holes
from lorelab.swap.workload.holes import (
    ALLOCATORS,
    CELL,
    CELL_SLOTS,
    CLUSTER,
    DRAWN,
    GOT,
    LAST,
    LOOK,
    UNITS,
)

WIDTH, ROW = 330, 11
"""Pixels: of the map, which a telephone has room for, and of a cluster at the defaults."""


def rows(params: Holes) -> pd.DataFrame:
    """Run `swap/holes`, and keep what a chart draws.

    Returns
    -------
    DataFrame
        By step, `variant`, the counters and `DRAWN`: a row for each folio that asks, and those that
        are drawn.
    """
    frame = pd.DataFrame(run(flat(params, {})[0]), columns=[*UNITS, *DRAWN])
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="step")
    return frame.assign(variant=VARIANT)


def chart(frame: pd.DataFrame) -> alt.FacetChart:
    """Draw the clusters of each allocator, what the last folio read of them, and what folios got.

    Parameters
    ----------
    frame : DataFrame
        Of `rows`; a panel gives the chart others.
    """
    names = ", ".join(f"'{label(variant)}'" for variant in ALLOCATORS)
    last = {
        f"last_{name}": f"datum.kind == {LAST} ? datum.{name} : 0"
        for name in ("since", "visited", "read")
    }
    at = "'slot ' + datum.last_since"
    base = alt.Chart(frame.reset_index())
    x = alt.X(
        "since:Q",
        title=None,
        scale=alt.Scale(domain=[0, CLUSTER], nice=False),
        axis=alt.Axis(values=[0, 128, 256, 384, 512], grid=False),
    )
    y = alt.Y("cluster:O", title="cluster", axis=alt.Axis(ticks=False, labelOverlap=True))
    colours = HOLDS | OTHER
    orders = [f"order {order}" for order in range(10)]
    fixed = alt.Scale(domain=orders, range=[colours[order] for order in orders])
    cells = (
        base.transform_filter(f"datum.kind == {CELL}")
        .transform_calculate(
            holds="'order ' + datum.order",
            clicked=f"max(1, {CLUSTER} * datum.cluster + datum.since)",
        )
        .mark_rect(aria=False)
        .encode(
            x=x,
            x2="until:Q",
            y=y,
            color=alt.Color("holds:N", scale=fixed, legend=None),
            opacity=alt.Opacity(
                "taken:Q", legend=None, scale=alt.Scale(domain=[0, CELL_SLOTS], range=[0, 0.8])
            ),
        )
    )
    looked = base.transform_filter(f"datum.kind == {LOOK}").encode(x=x, y=y)
    read = looked.mark_rule(strokeWidth=1.5, color=BLACK, aria=False).encode(x2="until:Q")
    began = looked.mark_point(filled=True, size=24, color=BLACK, opacity=1, aria=False)
    got = (
        base.transform_filter(f"datum.kind == {GOT}")
        .mark_rect(filled=False, stroke=BLACK, strokeWidth=2, aria=False)
        .encode(x=x, x2="until:Q", y=y)
    )
    see = (
        "A row is a cluster, a cell 64 KiB; paler is emptier.\n"
        "Orange: single pages; other colours: larger folios.\n"
        "Black lines: what the last folio read. Frames: places found."
    )
    return (
        alt.layer(cells, read, began, got)
        .properties(width=WIDTH, height=alt.Step(ROW), view=alt.ViewConfig(fill=HOLDS["free"]))
        .facet(
            row=alt.Row("of:N", title=None, header=alt.Header(labelOrient="top", labelLimit=0)),
            spacing=4,
        )
        .transform_filter("datum.kind > 0")
        .transform_calculate(**last)
        .transform_joinaggregate(
            last_since="max(last_since)",
            last_visited="max(last_visited)",
            last_read="max(last_read)",
            groupby=["allocator", "variant"],
        )
        .transform_calculate(
            of=f"[{names}][datum.allocator] + ': ' + (datum.last_since ? {at} : 'no place')"
            " + ' after reading ' + datum.last_read + ' slots of ' + datum.last_visited + "
            "(datum.last_visited == 1 ? ' cluster' : ' clusters') + "
            f"(datum.variant == '{VARIANT}' ? '' : ' (' + datum.variant + ')')"
        )
        .properties(title=title("Three allocators search among holes (model)", see))
    )

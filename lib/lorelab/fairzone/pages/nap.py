"""Both zones' free pages, and what starts kswapd, in the middle of the sequential read."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.model import filemap
from lorelab.fairzone.pages.charts import BLACK, GREY, ORANGE, ZONES
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.workload.machine import names, node_of
from lorelab.fairzone.workload.nap import MARKS, MIB, MOMENTS, MOVED, SEEN, copied, trace
from lorelab.fairzone.workload.nap import STARTS as STARTED
from lorelab.params import label
from lorelab.showing.charts import title

STARTS = {"a nap's end": BLACK, "the allocator": ORANGE}
"""What makes kswapd run, and its colour."""
SHOWN = ("Normal", "DMA32")
WIDTH, HEIGHT = 235, 100
"""Pixels of a zone's picture."""


def traced(params: Tiobench, shown: list[Variant]) -> pd.DataFrame:
    """Free pages while the disk moves `SEEN` MiB, from the middle of the second read on.

    Parameters
    ----------
    params : Tiobench
    shown : list of Variant

    Returns
    -------
    DataFrame
        A row a moment, variant and zone of the files: `variant`, `zone`, `mib` that the disk has
        moved, and in MiB too `free`, `kswapd` (its high watermark), `allocator` (low and the zone's
        reserve); `starts` is what starts kswapd before the next moment (`STARTS`, or "").
    """
    tables = []
    for variant in shown:
        of = params.model_copy(update={"variant": variant})
        rows = _half_read(of)
        for z, name in enumerate(names(of)):
            if name in SHOWN:
                first = MARKS + 3 * z
                columns = [rows[:, MOVED], *rows[:, first : first + 3].T]
                frame = dict(zip(("mib", "free", "kswapd", "allocator"), columns, strict=True))
                tables.append(
                    pd.DataFrame(frame).div(MIB).assign(
                        variant=label(variant),
                        zone=name,
                        starts=[("", *STARTS)[n] for n in rows[:, STARTED]],
                    )
                )  # fmt: skip
    # A variant after another, as they were asked for; of each a moment after another.
    table = pd.concat(tables)
    order = [label(variant) for variant in shown]
    return table.sort_values(
        ["variant", "mib"],
        key=lambda column: column.map(order.index) if column.name == "variant" else column,
        kind="stable",
        ignore_index=True,
    )


def _half_read(params: Tiobench) -> np.ndarray:
    """What `trace` sees when half of the files have been read again."""
    setting, (phases, plan) = tiobench.given_of(params), tiobench.PLANS["write-read"]
    node, reads = node_of(params, params.dirty_percent), phases.index("read")
    each = tiobench.pages_each(setting, int(node.zone["managed"].sum()))
    mm = filemap.make(node, each * params.threads, 0, params.balance_reserves)
    mm.kswapd["nap_draws"] = params.seed
    for row in plan[:reads]:
        tiobench.begin(mm, setting, row)
        for n in range(1 if row["scattered"] else params.steps):
            tiobench.window(mm, setting, row, each, n)
        tiobench.end(mm, row)
    tiobench.begin(mm, setting, plan[reads])
    half = params.steps // 2
    for n in range(half):
        tiobench.window(mm, setting, plan[reads], each, n)
    rows = np.zeros((MOMENTS, MARKS + 3 * len(node.zone)), np.int64)
    return rows[: trace(copied(mm), setting, plan[reads], each, half, rows)]


def chart(table: pd.DataFrame, see: str) -> alt.FacetChart:
    """Draw `traced`: a row a variant, a column a zone; a point where kswapd starts.

    Parameters
    ----------
    table : DataFrame
        Of `traced`.
    see : str
        Caption.
    """
    order = list(table["variant"].drop_duplicates())
    return zones_over_time(table, order).properties(
        title=title("kswapd's nap, and the free pages of both zones", see)
    )


def zones_over_time(data: pd.DataFrame, order: list[str] | None = None) -> alt.FacetChart:
    """The same without a title, of rows that a transform of the chart may have made.

    Parameters
    ----------
    data : DataFrame
    order : list of str, optional
        The variants as they stand below each other; by default in the order of their names.
    """
    base = alt.Chart()
    x = alt.X("mib:Q", title="read from the disk, MiB", scale=alt.Scale(domain=[0, SEEN]))
    y = alt.Scale(zero=False)
    free = [
        base.transform_filter(f"datum.zone == '{zone}'")
        .mark_line(strokeWidth=1.5, color=ZONES[zone])
        .encode(x=x, y=alt.Y("free:Q", title="free, MiB", scale=y))
        for zone in SHOWN
    ]
    marks = [
        base.mark_line(strokeDash=dash, color=GREY, strokeWidth=1.5).encode(
            x=x, y=alt.Y(f"{mark}:Q", scale=y)
        )
        for mark, dash in (("kswapd", [6, 3]), ("allocator", [2, 2]))
    ]
    starts = (
        base.transform_filter("datum.starts != ''")
        .mark_point(filled=True, size=30, opacity=1)
        .encode(
            x=x,
            y=alt.Y("free:Q", scale=y),
            color=alt.Color(
                "starts:N",
                title="kswapd is started by",
                legend=alt.Legend(orient="bottom"),
                scale=alt.Scale(domain=list(STARTS), range=list(STARTS.values())),
            ),
        )
    )
    return (
        alt.layer(*marks, *free, starts, data=data)
        .properties(width=WIDTH, height=HEIGHT)
        .facet(
            row=alt.Row("variant:N", title=None, sort=order or alt.Undefined),
            column=alt.Column("zone:N", title=None, sort=list(SHOWN)),
        )
        .resolve_scale(y="independent")
    )

"""Both zones' free pages, and what starts kswapd, in the middle of the sequential read."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.model import filemap
from lorelab.fairzone.pages.charts import BLACK, GREY, ORANGE, ZONES
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.machine import names, node_of
from lorelab.fairzone.workload.nap import MARKS, MOMENTS, MOVED, SEEN, STARTS, copied, trace
from lorelab.params import label
from lorelab.showing.charts import title

STARTED_BY = {"a nap's end": BLACK, "the allocator": ORANGE}
"""What makes kswapd run, in the order of its numbers in `trace`, and its colour."""
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
        reserve); `starts` is what starts kswapd before the next moment (`STARTED_BY`, or "").
        A variant after another, as they were asked for; of each a moment after another.
    """
    of_variants = [_of_zones(params.model_copy(update={"variant": each})) for each in shown]
    return pd.concat(of_variants, ignore_index=True)


def _of_zones(params: Tiobench) -> pd.DataFrame:
    rows, tables = _half_read(params), []
    for z, name in enumerate(names(params)):
        if name in SHOWN:
            first = MARKS + 3 * z
            columns = [rows[:, MOVED], *rows[:, first : first + 3].T]
            frame = dict(zip(("mib", "free", "kswapd", "allocator"), columns, strict=True))
            tables.append(
                pd.DataFrame(frame).div(PAGES_A_MIB).assign(
                    variant=label(params.variant),
                    zone=name,
                    starts=[("", *STARTED_BY)[n] for n in rows[:, STARTS]],
                )
            )  # fmt: skip
    return pd.concat(tables).sort_values("mib", kind="stable")


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
                scale=alt.Scale(domain=list(STARTED_BY), range=list(STARTED_BY.values())),
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

"""Both zones' free pages, and what starts kswapd, in the middle of the sequential read."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.model import filemap
from lorelab.fairzone.model.filemap import Memory
from lorelab.fairzone.model.zones import HIGH_WMARK_HIT_QUICKLY, PAGEOUTRUN
from lorelab.fairzone.pages.charts import BLACK, GREY, ORANGE, ZONES
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.workload.files import FIXED_POINT, sequential
from lorelab.fairzone.workload.machine import names, node_of
from lorelab.numerics import PAGE, U
from lorelab.params import label
from lorelab.showing.charts import title

MIB = 1 << 20
SEEN = 250
"""MiB that the disk moves in the picture."""
POINTS = 250
STARTS = {"a nap's end": BLACK, "the allocator": ORANGE}
"""What makes kswapd run, and its colour."""
WIDTH, HEIGHT = 300, 110
"""Pixels of a zone's picture."""


def _half_read(params: Tiobench) -> tuple[Memory, np.ndarray, int, int]:
    """The memory when half of the files have been read again; and what reads on."""
    machine, (phases, plan) = tiobench.given_of(params), tiobench.PLANS["write-read"]
    node = node_of(params, params.dirty_percent)
    each = tiobench.pages_each(machine, int(node.zone["managed"].sum()))
    mm = filemap.make(node, each * params.threads, 0, params.balance_reserves)
    mm.kswapd["nap_draws"] = params.seed
    for phase, row in zip(phases, plan, strict=True):
        tiobench.begin(mm, machine, row)
        windows = 1 if row["scattered"] else params.steps
        if phase == "read":
            windows //= 2
        for n in range(windows):
            tiobench.window(mm, machine, row, each, n)
        if phase == "read":
            break
        tiobench.end(mm, row)
    return mm, machine, each, each * windows // params.steps // params.readahead * params.readahead


def traced(params: Tiobench, shown: list[Variant]) -> pd.DataFrame:
    """Free pages while the disk moves `SEEN` MiB.

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
    rows = []
    for variant in shown:
        of = params.model_copy(update={"variant": variant})
        mm, _, each, at = _half_read(of)
        rate = np.int64(round(of.kswapd_rate * FIXED_POINT))
        begun, chunk = int(mm.disk[0]), of.readahead
        zones = {name: z for z, name in enumerate(names(of)) if name in ("DMA32", "Normal")}
        node = mm.node
        reserve = node.lowmem_reserve[:, int(node.info["classzone"][0])]
        moved, next_point = 0.0, 0.0
        runs = [int(node.count[n]) for n in (PAGEOUTRUN, HIGH_WMARK_HIT_QUICKLY)]
        while moved < SEEN and at + chunk <= each:
            sequential(
                mm, U(at), U(at + chunk), U(0), U(each), U(of.threads), U(chunk), U(of.burst), rate,
                False,
            )  # fmt: skip
            at += chunk
            moved = (int(mm.disk[0]) - begun) * PAGE / MIB
            if moved < next_point:
                continue
            next_point += SEEN / POINTS
            before, runs = runs, [int(node.count[n]) for n in (PAGEOUTRUN, HIGH_WMARK_HIT_QUICKLY)]
            begun_runs, by_naps = (now - then for now, then in zip(runs, before, strict=True))
            starts = list(STARTS)[0 if by_naps else 1] if begun_runs else ""
            for name, z in zones.items():
                one = node.zone[z]
                marks = one["free"], one["high"], one["low"] + reserve[z]
                rows.append((label(variant), name, moved, *(n * PAGE / MIB for n in marks), starts))
    columns = ["variant", "zone", "mib", "free", "kswapd", "allocator", "starts"]
    table = pd.DataFrame(rows, columns=columns)
    # Seen a moment late: where the zone is at its lowest, not where it has been refilled.
    starts = table.groupby(["variant", "zone"])["starts"].shift(-1, fill_value="")
    return table.assign(starts=starts)


def chart(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw `traced`: a column a variant, a row a zone; a point where kswapd starts.

    Parameters
    ----------
    table : DataFrame
        Of `traced`.
    see : str
        Caption.
    """
    base = alt.Chart()
    x = alt.X("mib:Q", title="read from the disk, MiB", scale=alt.Scale(domain=[0, SEEN]))
    y = alt.Scale(zero=False)
    free = [
        base.transform_filter(f"datum.zone == '{zone}'")
        .mark_line(strokeWidth=1.5, color=ZONES[zone])
        .encode(x=x, y=alt.Y("free:Q", title="free, MiB", scale=y))
        for zone in ("Normal", "DMA32")
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
    order = list(table["variant"].drop_duplicates())
    return (
        alt.layer(*marks, *free, starts, data=table)
        .properties(width=WIDTH, height=HEIGHT)
        .facet(
            row=alt.Row("zone:N", title=None, sort=list(ZONES)),
            column=alt.Column("variant:N", title=None, sort=order),
        )
        .resolve_scale(y="independent")
        .properties(title=title("kswapd's nap, and the free pages of both zones", see))
    )

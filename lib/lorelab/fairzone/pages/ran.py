"""The charts of a run of `tiobench`: kswapd's nap, where its pages come from, what they hit."""

import altair as alt
import pandas as pd

from lorelab.fairzone.pages import nap
from lorelab.fairzone.pages.charts import GREY, ZONES
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.showing.charts import OKABE_ITO, title

WINDOW = ("phase", "at", "windows", "does", "low", "both")
"""What `ran` draws of a window beside its counters: the number of its phase, its own in the phase
and of how many, which of DOES that is, and pages of DMA32, and of DMA32 and Normal."""
DOES = ("write", "read", "random write", "random read")
PART = ("part", "pages", "in_dma", "in_dma32", "in_normal")
"""Of a part of the files: its number, pages of all files, and those cached in each zone."""

NAP = (
    "moved",
    "started",
    *(f"{mark}_{zone}" for zone in ("dma32", "normal") for mark in ("free", "high", "allocator")),
)
"""Of a moment of the read, in pages, as `lorelab.fairzone.workload.nap.trace` has them."""
DRAWN = ("kind", "touched", "hits", "allocated_dma", "allocated_dma32", "allocated_normal")
"""Of the rows' other counters, what is drawn."""


def ran(data: pd.DataFrame) -> alt.VConcatChart:
    """A nap in a run of `tiobench`, what it did by window, and what of its files was cached.

    Parameters
    ----------
    data : DataFrame
        Rows of `lorelab.fairzone.panel.tiobench`. All that is drawn is worked out from its numbers
        by the chart itself, to which a panel gives others.
    """
    rows = data[[*DRAWN, *WINDOW, *PART, *NAP]].astype(int).reset_index()
    windows = (
        alt.Chart(rows)
        .transform_filter("datum.kind == 1")
        .transform_calculate(
            time="datum.phase + (datum.at + 0.5) / datum.windows",
            allocated="datum.allocated_dma + datum.allocated_dma32 + datum.allocated_normal",
            done=f"replace({list(DOES)}[datum.does], ' ', '|')",
        )
    )
    time = alt.X(
        "time:Q",
        title=None,
        axis=alt.Axis(tickMinStep=1, labels=False, ticks=False),
        scale=alt.Scale(zero=True, nice=False),
    )
    variant = alt.Color("variant:N", title=None, scale=alt.Scale(range=OKABE_ITO[:6]))
    per_cent = alt.Scale(domain=[0, 100])
    phases = windows.transform_filter("datum.at == 0").transform_calculate(
        middle="datum.phase + 0.5", end="datum.phase + 1"
    )
    # Two short lines, for which a telephone has room; as names they let a chart scroll there.
    named = phases.mark_text(fontSize=11, baseline="bottom", y=-14, lineBreak="|").encode(
        x="middle:Q", text="done:O"
    )
    ends = phases.mark_rule(opacity=0).encode(x="end:Q")

    def shown(when: str, share: str, named: str) -> alt.Chart:
        """A share of each window, in per cent, a line a variant and phase."""
        return (
            windows.transform_filter(when)
            .transform_calculate(share=share)
            .mark_line(point=True, clip=True)
            .encode(
                x=time,
                y=alt.Y("share:Q", title=named, scale=per_cent),
                color=variant,
                detail="phase:N",
            )
        )

    shares = shown(
        "datum.allocated > 0",
        "100 * datum.allocated_dma32 / datum.allocated",
        "DMA32 of allocations, %",
    )
    size = (
        windows.transform_calculate(size="100 * datum.low / datum.both")
        .mark_rule(strokeDash=[4, 4], color=GREY)
        .encode(y=alt.Y("mean(size):Q"))
    )
    hits = shown(
        "datum.does % 2 == 1 && datum.touched > 0",
        "100 * datum.hits / datum.touched",
        "hits of reads, %",
    ).encode(color=variant.legend(None))
    cached = (
        alt.Chart(rows)
        .transform_filter("datum.kind == 2")
        .transform_calculate(
            offset="2 * datum.part",
            end="2 * datum.part + 2",
            Normal="datum.in_normal",
            DMA32="datum.in_dma32",
            DMA="datum.in_dma",
        )
        .transform_fold(list(ZONES), as_=["zone", "held"])
        .transform_calculate(cached="100 * 50 * datum.held / datum.pages")
        .mark_bar(binSpacing=0)
        .encode(
            x=alt.X("offset:Q", title="offset in the files, %", scale=alt.Scale(domain=[0, 100])),
            x2="end:Q",
            y=alt.Y("sum(cached):Q", title="cached, %", stack=True, scale=per_cent),
            color=alt.Color(
                "zone:N",
                title=None,
                scale=alt.Scale(domain=list(ZONES), range=list(ZONES.values())),
            ),
        )
        .properties(width=500, height=80)
        .facet(row=alt.Row("variant:N", title=None))
        .properties(title=title("Cached as the reads begin, or the first is over", ""))
    )
    over_time = (shares + size + named + ends).properties(
        width=500,
        height=130,
        title=title(
            "Where pages come from, and what is read from the cache",
            "Dashed: DMA32's part of DMA32 and Normal.",
        ),
    )
    return (
        alt.vconcat(_nap(rows), over_time, (hits + ends).properties(width=500, height=90), cached)
        .resolve_scale(color="independent")
        .properties(title=title("Zones over time, and what is read from the cache (model)", ""))
    )


def _nap(rows: pd.DataFrame) -> alt.FacetChart:
    """Free pages of both zones in the middle of the read."""
    drawn = {"free": "free", "kswapd": "high", "allocator": "allocator"}
    of_both = {"zone": f"{list(nap.SHOWN)}"} | {
        name: f"[datum.{pages}_normal / {PAGES_A_MIB}, datum.{pages}_dma32 / {PAGES_A_MIB}]"
        for name, pages in drawn.items()
    }
    return (
        nap.zones_over_time(rows)
        .transform_filter("datum.kind == 3")
        .transform_calculate(
            mib=f"datum.moved / {PAGES_A_MIB}",
            starts=f"{['', *nap.STARTED_BY]}[datum.started]",
            **of_both,
        )
        .transform_flatten(list(of_both))
        .properties(
            title=title(
                "kswapd's nap: free pages in the middle of the read",
                "Dashed: high. Dotted: low and the zone's reserve, the allocator's mark.",
            )
        )
    )

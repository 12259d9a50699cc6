"""Charts of the page `answers`: one curve a side, over what its question asks for."""

import altair as alt
import pandas as pd

from lorelab.showing import charts

NOMINAL = 6
"""MiB that a TLB of 1,536 entries reaches, in pages of 4 KiB."""
NEVER = 1001
"""Windows that a search which found nothing counts as."""


def tlb(stale: pd.DataFrame) -> alt.LayerChart:
    """Mean count against the size of a set that is always accessed.

    Parameters
    ----------
    stale : DataFrame
        By size in MiB, a column for each time between context switches.
    """
    rows = stale.rename_axis(index="mib").reset_index().melt("mib", None, "switch", "count")
    drawn = (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=60, filled=True))
        .encode(
            x=_log("mib", "set that is always accessed, MiB", list(stale.index)),
            y=alt.Y("count:Q", title="mean count of 20"),
            color=_sides("switch", "a context switch each", list(stale.columns)),
        )
    )
    reach = alt.Chart(pd.DataFrame({"mib": [NOMINAL]})).encode(x="mib:Q")
    return alt.layer(
        reach.mark_rule(strokeDash=[4, 4], color="#888888"),
        reach.mark_text(text="reach of the TLB", align="left", dx=4, fontSize=12, y=8),
        drawn,
        title=charts.title(
            "How often DAMON sees a set that is always accessed",
            "Hits of 20 samples, by how often the CPU switches contexts.",
        ),
    )


def ages(exact: pd.DataFrame, seen: pd.DataFrame) -> alt.Chart:
    """Mean age of a region against the rate at which its pages are accessed.

    Parameters
    ----------
    exact, seen : DataFrame
        By rate, with a column `mean age`: by the formula, and of the model.
    """
    sides = {"1/q - 1": exact, "DAMON, model": seen}
    rows = pd.concat(
        [
            pd.DataFrame({"rate": table.index, "age": table["mean age"].to_numpy(), "side": side})
            for side, table in sides.items()
        ]
    )
    return (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=60, filled=True))
        .encode(
            x=alt.X("rate:Q", title="share of the samples in which a page is accessed"),
            y=alt.Y("age:Q", title="mean age, windows", scale=alt.Scale(type="log")),
            color=_sides("side", None, list(sides)),
        )
        .properties(
            title=charts.title(
                "Age against rate",
                "Mean age of a region by the share of samples that hit it.",
            )
        )
    )


def searches(medians: pd.DataFrame) -> alt.Chart:
    """Median wait against the size of the hot range.

    Parameters
    ----------
    medians : DataFrame
        By size in KiB; columns (who, model or chain), windows at the median.
    """
    rows = pd.concat(
        [
            pd.DataFrame({"kib": medians.index, "who": who, "by": by, "windows": median.to_numpy()})
            for (who, by), median in medians.items()
        ]
    )
    who = list(rows["who"].unique())
    return (
        alt.Chart(rows)
        .mark_line(point=alt.OverlayMarkDef(size=60, filled=True))
        .encode(
            x=_log("kib", "hot range in 1 GiB, KiB", list(medians.index)),
            y=_log("windows", f"windows at the median ({NEVER:,}: never)", [1, 10, 100, 1000], "y"),
            color=_sides("who", "pieces of a split, and what else is hot", who),
            strokeDash=alt.StrokeDash("by:N", title=None, sort=["model", "chain"]),
        )
        .properties(
            title=charts.title(
                "Wait against size",
                "Windows at the median, by pieces of a split and what else is hot.",
            )
        )
    )


def periods(fast: pd.DataFrame) -> alt.LayerChart:
    """Counts of one half against the time for which a half is touched.

    Parameters
    ----------
    fast : DataFrame
        By time in ms; quantiles 0.1, 0.5 and 0.9 over windows, and `expected`.
    """
    rows = fast.rename(columns=str).rename_axis(index="ms", columns=None).reset_index()
    x = _log("ms", "T, ms", list(fast.index))
    y = alt.Y("0\\.1:Q", title="count of 20")
    band = alt.Chart(rows).mark_area(opacity=0.25).encode(x=x, y=y, y2="0\\.9")
    lines = rows.melt("ms", ["0.5", "expected"], "side", "count")
    lines["side"] = lines["side"].map({"0.5": "median of the windows", "expected": "formula"})
    names = ["median of the windows", "formula"]
    curves = (
        alt.Chart(lines)
        .mark_line(point=alt.OverlayMarkDef(size=60, filled=True))
        .encode(
            x=x,
            y="count:Q",
            color=_sides("side", None, names),
        )
    )
    return alt.layer(
        band,
        curves,
        title=charts.title(
            "Count against period",
            "The band has eight of ten windows, the line is their median.",
        ),
    )


def _log(field: str, name: str, values: list[int], channel: str = "x") -> alt.X | alt.Y:
    drawn = alt.X if channel == "x" else alt.Y
    axis = alt.Axis(values=values, format=",d")
    return drawn(f"{field}:Q", title=name, scale=alt.Scale(type="log", nice=False), axis=axis)


def _sides(field: str, name: str | None, order: list[str]) -> dict:
    return {"field": field, "type": "nominal", "title": name, "sort": order}

"""The mm's sequence as a dial, and on it the number that a VMA has kept for a whole wrap."""

import altair as alt
import numpy as np
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, title
from lorelab.vmalock.pages.wraps import BITS

MOMENTS = {
    "late comparison with mm_lock_seq": "the fault goes in",
    "mm_lock_seqcount_begin": "munmap() counts up",
    "__is_vma_write_locked": "equal: no wait",
    "vm_area_free in munmap": "the VMA is freed",
}
"""Statements of the interleaving that have a dial, and what happens there."""
SIDE = 172
"""Pixels of a dial."""


def dials(steps: pd.DataFrame) -> pd.DataFrame:
    """The numbers at `MOMENTS`.

    Parameters
    ----------
    steps : DataFrame
        Of `lorelab.vmalock.pages.searches.interleaving`.

    Returns
    -------
    DataFrame
        A row a moment, in order: `step`, `said`, `mm_lock_seq`, `vm_lock_seq`.
    """
    rows = steps[steps["statement"].isin(MOMENTS)]
    text = "Step " + rows["step"].astype(str) + ": " + rows["statement"].map(MOMENTS)
    return rows.assign(said=text)[["step", "said", "mm_lock_seq", "vm_lock_seq"]]


def dial(table: pd.DataFrame) -> alt.FacetChart:
    """Draw `dials`: the hand is mm_lock_seq, the ring around a number vm_lock_seq."""
    marks = table.merge(pd.DataFrame({"number": range(1 << BITS)}), how="cross")
    turn = 2 * np.pi * marks["number"] / (1 << BITS)
    marks = marks.assign(x=np.sin(turn), y=np.cos(turn))
    marks = marks.assign(inner_x=0.7 * marks["x"], inner_y=0.7 * marks["y"], zero=0.0)
    scale = alt.Scale(domain=[-1.3, 1.3])
    place = {"x": alt.X("x:Q", axis=None, scale=scale), "y": alt.Y("y:Q", axis=None, scale=scale)}
    base = alt.Chart()
    hand = (
        base.transform_filter("datum.number == datum.mm_lock_seq")
        .mark_rule(strokeWidth=3, color=OKABE_ITO[0])
        .encode(
            x=alt.X("zero:Q", axis=None, scale=scale),
            y=alt.Y("zero:Q", axis=None, scale=scale),
            x2="inner_x:Q",
            y2="inner_y:Q",
        )
    )
    ring = (
        base.transform_filter("datum.number == datum.vm_lock_seq")
        .mark_point(filled=False, size=500, strokeWidth=2, color=OKABE_ITO[1])
        .encode(**place)
    )
    numbers = base.mark_text(fontSize=13).encode(**place, text="number:Q")
    header = alt.Header(labelOrient="top", labelFontSize=12, labelFontWeight="bold")
    return (
        alt.layer(ring, hand, numbers, data=marks)
        .properties(width=SIDE, height=SIDE)
        .facet(column=alt.Column("said:N", title=None, sort=list(table["said"]), header=header))
        .properties(
            title=title(
                "A number that is a whole wrap old",
                f"Model of 6.12 with {BITS} bits. Hand: mm_lock_seq. Ring: the VMA's vm_lock_seq.",
            )
        )
    )

"""The picture of the example: which fault maps which page-table entries."""

import altair as alt
import pandas as pd

from lorelab.experiments import experiment
from lorelab.faultaround.params import Faults
from lorelab.showing import charts


def windows(firsts: list[int], see: str, entries: int = 48) -> alt.LayerChart:
    """Faults of a sequential read at order 4, of mappings that begin at these entries (model)."""
    rows = []
    for first in firsts:
        run = experiment("faultaround/faults").simulate(Faults(pages=entries - first, first=first))
        for fault in run.pivot_table(index="step", columns="counter", values="value").itertuples():
            start = first + fault.page
            rows.append(
                {
                    "mapping": f"begins at entry {first}",
                    "fault": str(fault.Index),
                    "start": start,
                    "end": start + fault.mapped,
                    "label": f"{fault.mapped:.0f} in {fault.lines:.0f}",
                }
            )
    x = alt.X(
        "start:Q",
        title="entry of the page table; cache lines begin at the grid",
        scale=alt.Scale(domain=[0, entries], nice=False),
        axis=alt.Axis(values=list(range(0, entries + 1, 8)), gridColor="#888888"),
    )
    y = alt.Y("mapping:N", title=None)
    base = alt.Chart(pd.DataFrame(rows))
    bars = base.mark_bar(height=28, aria=False).encode(
        x=x, x2="end", y=y, color=alt.Color("fault:N", title="fault")
    )
    text = base.mark_text(fontSize=11, color="white").encode(
        x=alt.X("middle:Q"), y=y, text="label:N"
    )
    text = text.transform_calculate(middle="(datum.start + datum.end) / 2")
    return (bars + text).properties(
        title=charts.title("What each fault of a sequential read maps", see),
        width=620,
        height=45 * len(firsts),
    )

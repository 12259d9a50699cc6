"""The picture of the example: which fault maps which page-table entries."""

import altair as alt
import pandas as pd

from lorelab.experiments import experiment
from lorelab.faultaround.params import Faults
from lorelab.showing import charts


def windows(firsts: list[int], see: str, entries: int = 48) -> alt.LayerChart:
    """Faults of a sequential read at order 4, of mappings that begin at these entries (model)."""
    runs = []
    for first in firsts:
        run = experiment("faultaround/faults").simulate(Faults(pages=entries - first, first=first))
        wide = run.pivot_table(index="step", columns="counter", values="value")
        new = {"start": first + wide["page"], "end": first + wide["page"] + wide["mapped"]}
        runs.append(wide.assign(mapping=f"begins at entry {first}", **new).reset_index())
    x = alt.X(
        "start:Q",
        title="entry of the page table; cache lines begin at the grid",
        scale=alt.Scale(domain=[0, entries], nice=False),
        axis=alt.Axis(values=list(range(0, entries + 1, 8)), gridColor="#888888"),
    )
    base = alt.Chart(pd.concat(runs)).encode(y=alt.Y("mapping:N", title=None))
    fault = alt.Color("step:N", title="fault")
    bars = base.mark_bar(height=28, aria=False).encode(x=x, x2="end", color=fault)
    middle, label = "(datum.start + datum.end) / 2", "datum.mapped + ' in ' + datum.lines"
    named = base.transform_calculate(middle=middle, label=label)
    text = named.mark_text(fontSize=11, color="white").encode(x="middle:Q", text="label:N")
    title = charts.title("What each fault of a sequential read maps", see)
    return (bars + text).properties(title=title, width=620, height=45 * len(firsts))

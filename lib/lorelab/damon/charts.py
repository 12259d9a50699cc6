"""Charts of the DAMON chapter."""

import altair as alt
import pandas as pd

from lorelab import charts  # noqa: F401  (the theme)
from lorelab.damon.recording import Recording
from lorelab.damon.report import HeatMap, windows

MIB = 2**20
POINTS = 500
"""Points of a line at most."""


def heat(map: HeatMap, title: str) -> alt.Chart:
    """Heat map, time to the right and addresses upwards; white where nothing was monitored."""
    rows, columns = map.heat.shape
    time_unit = (map.times[1] - map.times[0]) / 1e9 if rows > 1 else 1.0
    size = float(map.addresses[1] - map.addresses[0]) / MIB if columns > 1 else 1.0
    cells = pd.DataFrame(
        {
            "time": (map.times - map.times[0]).repeat(columns) / 1e9,
            "address": list((map.addresses - map.addresses[0]) / MIB) * rows,
            "heat": map.heat.ravel(),
        }
    ).dropna()
    cells = cells.assign(until=cells["time"] + time_unit, top=cells["address"] + size).round(6)
    return (
        alt.Chart(cells, title=title)
        .mark_rect()
        .encode(
            x=alt.X("time:Q", title="time, s", scale=alt.Scale(nice=False)),
            x2="until",
            y=alt.Y(
                "address:Q",
                title=f"MiB above {int(map.addresses[0]):#x}",
                scale=alt.Scale(nice=False),
            ),
            y2="top",
            color=alt.Color("heat:Q", title=f"accesses, {map.unit}"),
        )
    )


def over_time(recording: Recording, title: str) -> alt.VConcatChart:
    """Working set and number of regions over time; means of snapshots if they are many."""
    rows = windows(recording)
    rows = rows.groupby(rows["snapshot"] * POINTS // max(POINTS, len(rows))).mean()
    rows = rows.assign(working_set=rows["working_set"] / MIB)
    base = alt.Chart(rows).mark_line(interpolate="step-before").properties(height=140)
    time = alt.X("time:Q", title="time, s", scale=alt.Scale(nice=False))
    return alt.vconcat(
        base.encode(x=time, y=alt.Y("working_set:Q", title="working set, MiB")),
        base.encode(x=time, y=alt.Y("regions:Q", title="regions")),
        title=title,
    )


def overheads(rows: pd.DataFrame, title: str) -> alt.Chart:
    """Overhead of each workload by configuration, one dot each.

    Parameters
    ----------
    rows : DataFrame
        Columns workload, configuration, overhead (%).
    """
    return (
        alt.Chart(rows, title=title)
        .mark_point()
        .encode(
            x=alt.X("overhead:Q", title="overhead over orig, %"),
            y=alt.Y("workload:N", title=None, sort=list(dict.fromkeys(rows["workload"]))),
            color=alt.Color(
                "configuration:N", title=None, sort=list(dict.fromkeys(rows["configuration"]))
            ),
        )
        .properties(height=440)
    )

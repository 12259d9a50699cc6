"""Charts of the DAMON chapter."""

import altair as alt
import pandas as pd

from lorelab.damon.recording.recording import Recording
from lorelab.damon.recording.report import HeatMap, windows
from lorelab.showing.charts import OKABE_ITO, Moved, sizes, slider

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
                title=f"above {int(map.addresses[0]):#x}, MiB",
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


def spread(rows: pd.DataFrame, title: str) -> alt.FacetChart:
    """A tick for each workload, by configuration, a panel a metric.

    Parameters
    ----------
    rows : DataFrame
        `metric`, `configuration` and `overhead` (%), the metrics in the order of the panels.
    """
    order = ["rec", "thp", "ethp", "prcl"]
    dots = (
        alt.Chart(rows)
        .mark_tick(thickness=2)
        .encode(
            x=alt.X("overhead", title="overhead over orig, %"),
            y=alt.Y("configuration", title=None, sort=order),
            color=alt.Color("configuration", legend=None, sort=order),
        )
        .properties(width=260, height=150)
    )
    panels = dots.facet(alt.Column("metric", title=None, sort=[rows["metric"].iloc[0]]))
    return panels.properties(title=title).resolve_scale(x="independent")


def _title(text: str, see: str) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=see.splitlines())


def side_by_side(cells: pd.DataFrame, title: str, see: str) -> alt.FacetChart:
    """Heat maps beside each other, time to the right and addresses upwards.

    Parameters
    ----------
    cells : DataFrame
        As `lorelab.damon.pages.views.heats` gives it; one panel for each `what`.
    """
    tenths = [round(tenth / 10, 1) for tenth in range(1, 11)]
    panels = cells["what"].unique().tolist()
    return (
        alt.Chart(cells)
        .mark_rect(aria=False)
        .encode(
            x=alt.X("time:Q", title="time, s", scale=alt.Scale(nice=False)),
            x2="until",
            y=alt.Y("address:Q", title="MiB", scale=alt.Scale(nice=False)),
            y2="top",
            color=alt.Color(
                "rate:O",
                title="share of samples",
                scale=alt.Scale(domain=tenths, scheme="viridis"),
            ),
        )
        .properties(
            width=min(300, 600 // len(panels)), height=200, view=alt.ViewConfig(fill="#f2f2f2")
        )
        .facet(column=alt.Column("what:N", title=None, sort=panels))
        .properties(title=_title(title, see))
    )


def region_map(rows: pd.DataFrame, title: str, see: str) -> alt.LayerChart:
    """Regions over time: filled by what was reported, white lines where pieces were cut.

    Parameters
    ----------
    rows : DataFrame
        As `lorelab.damon.pages.views.history` gives it, the range of addresses that is to be drawn.
    """
    base = int(rows["low"].min())
    # Floats hold these addresses exactly only after the base is taken off.
    low = ((rows["low"] - base) / MIB).astype(float).round(4)
    high = ((rows["high"] - base) / MIB).astype(float).round(4)
    drawn = rows[["begin", "end", "nr_accesses", "stage"]].round(3).assign(low=low, high=high)
    shared = {
        "x": alt.X("begin:Q", title="time, s", scale=alt.Scale(nice=False, zero=False)),
        "x2": "end",
        "y": alt.Y("low:Q", title=f"above {base:#x}, MiB", scale=alt.Scale(nice=False)),
    }
    reported = drawn[drawn["stage"] == "reported"].drop(columns="stage")
    cuts = drawn.loc[drawn["stage"] == "sampled", ["begin", "end", "low"]]
    colour = alt.Color("nr_accesses:Q", title="nr_accesses", scale=alt.Scale(domain=[0, 20]))
    return alt.layer(
        alt.Chart(reported).mark_rect(aria=False).encode(**shared, y2="high", color=colour),
        alt.Chart(cuts).mark_rule(aria=False, color="white").encode(**shared),
    ).properties(title=_title(title, see))


def cycle(rows: pd.DataFrame, at: int) -> Moved:
    """Regions before the merge, after it, and after the split; the slider moves over windows.

    Parameters
    ----------
    rows : DataFrame
        As `lorelab.damon.pages.cycle.around_change` gives it.
    at : int
        The window that is drawn where nothing moves.
    """
    drawn = rows.round({"low": 3, "high": 3})
    near = [float(drawn["low"].min()), float(drawn["high"].max())]
    most = int(max(drawn["count"].max(), 1))
    stages = drawn["stage"].unique().tolist()
    across = {
        "x": alt.X(
            "low:Q",
            title="above the border of the program's two regions, MiB",
            scale=alt.Scale(domain=near, nice=False),
            axis=alt.Axis(grid=False, tickCount=5),
        ),
        "x2": "high:Q",
    }
    upto = alt.Y(
        "count:Q",
        title=None,
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(values=[0, most // 2, most], grid=False),
    )
    see = "Dashed: the true border. A region across it is neither hot nor cold, and is split again."
    base = alt.Chart()
    pale = alt.condition("datum.stage === 'split'", alt.value(0.4), alt.value(1))
    bars = base.mark_rect(aria=False).encode(**across, y=upto, y2=alt.datum(0), opacity=pale)
    boxes = base.mark_rect(aria=False, filled=False, stroke="#888888", strokeWidth=1).encode(
        **across, y=alt.datum(0), y2=alt.datum(most)
    )
    border = base.mark_rule(color=OKABE_ITO[1], strokeDash=[6, 4], strokeWidth=2).encode(
        x=alt.datum(0)
    )
    panels = (
        alt.layer(bars, boxes, border, data=drawn)
        .properties(width=560, height=75)
        .facet(row=alt.Row("stage:N", title="count", sort=stages), spacing=12)
        .properties(title=_title("A window of kdamond: count, merge, split", see))
    )
    return slider(panels, "window", at, "window")


def hot_range(frame: pd.DataFrame) -> alt.VConcatChart:
    """Regions against the hot range, window by window; below them error and checks.

    Parameters
    ----------
    found : DataFrame
        Of `lorelab.damon.pages.simulated.hot_range`; a panel gives the chart others.
    """
    base = alt.Chart(frame.reset_index())
    wide = 480
    whole = {"scale": alt.Scale(nice=False, zero=True), "axis": alt.Axis(tickMinStep=1)}
    span = {
        "x": alt.X("since:Q", title=None, **whole),
        "x2": "until:Q",
        "y": alt.Y("low:Q", title="memory, MiB", scale=alt.Scale(nice=False)),
        "y2": "high:Q",
    }
    regions = (
        base.transform_filter("datum.kind == 1")
        .mark_rect(aria=False, stroke="white", strokeWidth=0.4)
        .encode(
            **span,
            color=alt.Color(
                "rate:Q",
                title="share of samples",
                scale=alt.Scale(domain=[0, 1]),
                legend=alt.Legend(orient="top", direction="horizontal", gradientLength=160),
            ),
        )
    )
    hot = (
        base.transform_filter("datum.kind == 2")
        .mark_rect(aria=False, filled=False, stroke=OKABE_ITO[1], strokeWidth=2.5)
        .encode(**span)
    )
    map_ = (
        alt.layer(regions, hot)
        .properties(width=wide, height=230)
        .facet(row=alt.Row("variant:N", title=None, header=alt.Header(labelOrient="top")))
    )
    steps = base.transform_filter("datum.kind == 0").transform_calculate(
        percent="100 * datum.rate_error", null="100 * datum.rate_error_cold"
    )
    line = steps.mark_line(interpolate="step-before", aria=False)
    step = alt.X("step:Q", title=None, **whole)
    colour = alt.Color("variant:N", title=None, legend=None)
    null = line.mark_line(color="#888888", strokeDash=[5, 4], interpolate="step-before").encode(
        x=step, y="null:Q", detail="variant:N"
    )
    error = null + line.encode(x=step, y=alt.Y("percent:Q", title="error, %"), color=colour)
    last = alt.X("step:Q", title="window", **whole)
    runs = alt.Legend(orient="bottom", labelLimit=400, columns=1)
    checks = line.encode(
        x=last,
        y=alt.Y("checks:Q", title="checks"),
        color=alt.Color("variant:N", title=None, legend=runs),
    )
    error, checks = (part.properties(width=wide, height=90) for part in (error, checks))
    see = (
        "Rectangles: regions. Orange: the hot range, in truth.\n"
        "Dashed: error of a monitor that calls all memory cold."
    )
    return alt.vconcat(map_, error, checks).properties(
        title=_title("Regions against a hot range (model)", see)
    )


def pareto(rows: pd.DataFrame, title: str, see: str) -> alt.LayerChart:
    """Error against overhead, the settings that no other one betters joined by a line.

    Parameters
    ----------
    rows : DataFrame
        Columns setting, checks (a second), error (share), front (bool), kind (colour).
    """
    # By domain: of a sorted field Vega-Lite draws two legends.
    kinds = alt.Scale(domain=rows["kind"].unique().tolist())
    base = alt.Chart(rows.round({"checks": 1, "error": 6})).encode(
        x=alt.X("checks:Q", title="checks per second", scale=alt.Scale(type="log")),
        y=alt.Y("error:Q", title="rate error, share of bytes", scale=alt.Scale(type="log")),
    )
    front = base.transform_filter("datum.front").mark_line(color="#888888", strokeWidth=1)
    points = base.mark_point(opacity=1).encode(
        color=alt.Color("kind:N", title="regions", scale=kinds),
        shape=alt.Shape("kind:N", title="regions", scale=kinds),
        tooltip=["setting", "checks", "error"],
    )
    return alt.layer(front, points).properties(title=_title(title, see))


def by_size(rows: pd.DataFrame, value: str, axis: str, title: str, see: str) -> alt.Chart:
    """One line a `kind` over the size of memory, both axes logarithmic.

    Parameters
    ----------
    rows : DataFrame
        Columns mib, kind, and `value`.
    """
    kinds = alt.Scale(domain=rows["kind"].unique().tolist())
    return (
        alt.Chart(rows, title=_title(title, see))
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "mib:Q",
                title="address space",
                scale=alt.Scale(type="log", base=2),
                axis=sizes(rows["mib"]),
            ),
            y=alt.Y(f"{value}:Q", title=axis, scale=alt.Scale(type="log")),
            color=alt.Color("kind:N", title="monitor", scale=kinds),
            shape=alt.Shape("kind:N", title="monitor", scale=kinds),
        )
    )


def distributions(rows: pd.DataFrame, title: str, see: str) -> alt.ConcatChart:
    """Cumulative distributions, a line a side: a panel each `of` and `program`, these in columns.

    The first side's line is wide, so that it shows behind others that are the same.

    Parameters
    ----------
    rows : DataFrame
        Columns program, of, value, side, and share (of all that is up to the value).
    """
    sides = rows["side"].unique().tolist()
    programs = rows["program"].unique().tolist()
    panels = [
        _distribution(
            rows[(rows["of"] == of) & (rows["program"] == program)], f"{program}: {of}", sides
        )
        for of in rows["of"].unique()
        for program in programs
    ]
    return alt.concat(*panels, columns=len(programs)).properties(title=_title(title, see))


def _distribution(rows: pd.DataFrame, title: str, sides: list[str]) -> alt.Chart:
    width = alt.Scale(type="ordinal", domain=sides, range=[5] + [1.5] * (len(sides) - 1))
    scale = alt.Scale(type="symlog" if rows["value"].max() > 100 else "linear", zero=False)
    return (
        alt.Chart(rows[["value", "side", "share"]].round(4), title=title)
        .mark_line(interpolate="step-after", aria=False)
        .encode(
            x=alt.X("value:Q", title=None, scale=scale),
            y=alt.Y("share:Q", title=None),
            color=alt.Color("side:N", title=None, sort=sides, legend=alt.Legend(orient="top")),
            size=alt.Size("side:N", scale=width, legend=None),
        )
        .properties(width=310, height=120)
    )


def untouched(release: str, idle: pd.DataFrame) -> alt.Chart:
    """Idle pages by how often they were seen, of `mainline.untouched`."""
    pages = idle.sum().rename_axis("seen").reset_index(name="pages")
    title = _title(
        f"Idle pages of one run, by how many of a window's samples found them accessed; {release}",
        "DAMON mistakes those of the last bar for hot; the program touches other pages.",
    )
    return (
        alt.Chart(pages, title=title)
        .mark_bar()
        .encode(
            alt.X("pages", title="pages"),
            alt.Y("seen", sort=["never", "in some", "in all"], title=None),
        )
        .properties(height=90)
    )


def kdamonds(shares: pd.DataFrame) -> alt.Chart:
    """A tick a run, of `mainline.split_in_three`."""
    title = _title(
        "Windows that split regions three ways, alone and as one of two",
        "A tick is a run; 6.12.117, 12 runs each.",
    )
    return (
        alt.Chart(shares, title=title)
        .mark_tick(thickness=2)
        .encode(
            alt.X("share", title="share of windows, %", scale=alt.Scale(domain=[0, 100])),
            alt.Y("kdamonds:N", title="kdamonds"),
        )
        .properties(height=80)
    )

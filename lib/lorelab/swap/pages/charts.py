"""Pictures of the swap chapter, each drawn from a table that an experiment gives."""

import altair as alt
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, sizes, title
from lorelab.swap.params import order_weights

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY = OKABE_ITO
HOLDS = {
    "free": "#f2f2f2",
    "order 0": VERMILLION,
    "order 2": SKY,
    "order 4": BLUE,
    "order 9": GREEN,
    "set aside": BLACK,
}
"""Colours of a cluster map in the book's own mix of orders; `OTHER` has the rest."""
OTHER = {"order 1": PURPLE, "order 3": ORANGE} | {f"order {n}": GREY for n in (5, 6, 7, 8)}


DASHES = ([1, 0], [6, 3], [2, 2])


def cluster_map(
    cells: pd.DataFrame,
    row: str | None = None,
    column: str | None = None,
    see: str = "One row is a cluster of 512 slots, one cell an aligned 64 KiB. Paler is emptier.",
    height: int = 140,
) -> alt.Chart:
    """Draw a swap area cluster by cluster.

    Parameters
    ----------
    cells : DataFrame
        `lorelab.swap.pages.views.cluster_map`, of one or several areas.
    row, column : str, optional
        Columns of `cells` whose values go side by side.
    see : str
        Caption, one or more lines.
    height : int
        Of one area, in pixels.
    """
    colours = {k: v for k, v in (HOLDS | OTHER).items() if k in {"free", *cells["holds"]}}
    # What is free is the background: most of the rows, and of the page's bytes, saved.
    shown = [name for name in (row, column) if name]
    kept = ["cluster", "slot", "slots", "holds", "taken", *shown]
    drawn = cells.loc[cells["holds"] != "free", kept]
    clusters = int(cells["cluster"].max()) + 1
    chart = area(drawn, colours, clusters, height, height).transform_calculate(
        end="datum.slot + datum.slots", below="datum.cluster + 1"
    )
    facets = {}
    if row:
        facets["row"] = alt.Row(f"{row}:N", sort=_order(cells, row), title=None)
    if column:
        facets["column"] = alt.Column(f"{column}:N", sort=_order(cells, column), title=None)
    if facets:
        chart = chart.facet(**facets, spacing=8)
    return chart.properties(title=title("What the swap device holds", see))


def area(
    cells: pd.DataFrame, colours: dict[str, str], clusters: int, width: int, height: int
) -> alt.Chart:
    """Draw the cells of one swap area: a row is a cluster, and what is free is the background.

    Parameters
    ----------
    cells : DataFrame
        `slot` and `end`, `cluster` and `below` of each cell, what it `holds`, and per cent `taken`.
    colours : dict
        Of `holds`, in the order of the legend.
    clusters : int
        Of the area.
    width, height : int
        In pixels.
    """
    axis = alt.Axis(grid=False, ticks=False, domain=False, labels=False)
    return (
        alt.Chart(cells)
        .mark_rect(aria=False)
        .encode(
            x=alt.X("slot:Q", title=None, axis=axis, scale=alt.Scale(domain=[0, 512], nice=False)),
            x2="end:Q",
            y=alt.Y(
                "cluster:Q",
                title=None,
                axis=axis,
                scale=alt.Scale(domain=[clusters, 0], nice=False),
            ),
            y2="below:Q",
            color=alt.Color(
                "holds:N",
                title="held by",
                scale=alt.Scale(domain=list(colours), range=list(colours.values())),
                legend=alt.Legend(orient="bottom", direction="horizontal"),
            ),
            opacity=alt.Opacity(
                "taken:Q", legend=None, scale=alt.Scale(domain=[0, 100], range=[0, 1])
            ),
        )
        .properties(width=width, height=height, view=alt.ViewConfig(fill=HOLDS["free"]))
    )


def _order(table: pd.DataFrame, column: str) -> list:
    return table[column].drop_duplicates().tolist()


def fallback_rate(table: pd.DataFrame) -> pd.DataFrame:
    """Fallback of each step from the counters `swpout` and `swpout_fallback`, as `value` [%]."""
    wide = _wide(table)
    rate = 100 * wide["swpout_fallback"] / (wide["swpout"] + wide["swpout_fallback"])
    return rate.rename("value").reset_index()


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    keys = [name for name in table.columns if name not in ("counter", "unit", "value")]
    return table.pivot_table(index=keys, columns="counter", values="value", sort=False)


def fallback(
    table: pd.DataFrame, facet: str | None = None, columns: int = 2, see: str = ""
) -> alt.Chart:
    """Draw the fallback of each iteration: a line for the model, points for the kernel.

    Parameters
    ----------
    table : DataFrame
        Counters of `swap/allocator-test`, of either source or both.
    facet : str, optional
        Column whose values go side by side.
    columns : int
        Panels in a row.
    see : str
        Caption; by default what the marks are.
    """
    # The chart has the counters, not their ratio, so that a panel need only give it other counters.
    rates = _wide(table).reset_index()
    variants = _order(rates, "variant")
    see = see or "Each iteration of the test: line = model, points = kernel."
    whole = "datum.swpout + datum.swpout_fallback"
    base = alt.Chart(rates).transform_calculate(value=f"100 * datum.swpout_fallback / ({whole})")
    base = base.encode(
        x=alt.X("step:Q", title="iteration"),
        y=alt.Y("value:Q", title="fallback, %", scale=alt.Scale(domain=[0, 100])),
        color=alt.Color("variant:N", sort=variants, title="allocator"),
    )
    line = base.transform_filter("datum.source == 'model'").mark_line(strokeWidth=1.5)
    points = base.transform_filter("datum.source == 'kernel'").mark_point(
        aria=False, filled=False, size=18, strokeWidth=0.8
    )
    points = points.encode(color=alt.value(BLACK))
    if not facet:
        return (line + points).properties(title=title("Folios that were split", see))
    return (
        (line + points)
        .properties(width=300, height=150)
        .facet(
            facet=alt.Facet(f"{facet}:N", sort=_order(rates, facet), title=None), columns=columns
        )
        .properties(title=title("Folios that were split", see))
    )


def kernels(table: pd.DataFrame) -> alt.Chart:
    """Draw the fallback of each iteration on several kernels, a panel for each set of options.

    Parameters
    ----------
    table : DataFrame
        Kernel counters of `swap/allocator-test` with the columns `kernel` and `options`.
    """
    rates = fallback_rate(table)
    rates["options"] = rates["options"].replace("", "no options")
    see = "Each iteration of the test, each kernel a line. The scales of the panels differ."
    return (
        alt.Chart(rates)
        .mark_line(strokeWidth=1.5)
        .encode(
            x=alt.X("step:Q", title="iteration"),
            y=alt.Y("value:Q", title="fallback, %"),
            color=alt.Color(
                "kernel:N", sort=_order(rates, "kernel"), scale=alt.Scale(range=OKABE_ITO)
            ),
        )
        .properties(width=210, height=150)
        .facet(facet=alt.Facet("options:N", sort=_order(rates, "options"), title=None), columns=3)
        .resolve_scale(y="independent")
        .properties(title=title("Folios that were split, kernel beside kernel", see))
    )


def releases(table: pd.DataFrame) -> alt.Chart:
    """Draw the fallback of each iteration, a line a release (`recorded.releases`)."""
    rates = fallback_rate(table)
    names = _order(rates, "variant")
    see = "64 KiB folios of thp_swap_allocator_test, no option. 6.10: model. The others: recorded."
    return (
        alt.Chart(rates)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("step:Q", title="iteration"),
            y=alt.Y("value:Q", title="fallback, %", scale=alt.Scale(domain=[0, 100])),
            color=alt.Color("variant:N", sort=names, title="release"),
        )
        .properties(title=title("Folios that were split", see))
    )


def invalidations(table: pd.DataFrame, order: int = 4) -> alt.Chart:
    """Draw where the swap-out of a folio spends its invalidations, and its waits for them.

    Parameters
    ----------
    table : DataFrame
        Counters of `swap/usemem`, one run a path, with the column `path`.
    order : int
        Of the folios that were split.
    """
    wide = table.pivot_table(index="path", columns="counter", values="value", sort=False)
    folios = wide["swapped"] / 16
    per_split = 1 if order == 9 else 1 << order
    split = wide["splits"] * per_split / folios
    written = wide["slot_allocations"] / folios
    parts = [
        ("entries invalidated", "to freeze the folio for its split", split),
        ("entries invalidated", "to unmap what is written", wide["invalidations"] / folios - split),
        (
            "waits for the other CPUs",
            "to freeze the folio for its split",
            wide["flushes"] / folios - written,
        ),
        ("waits for the other CPUs", "to unmap what is written", written),
    ]
    rows = pd.concat(
        pd.DataFrame({"path": wide.index, "what": what, "purpose": purpose, "value": value.array})
        for what, purpose, value in parts
    )
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title="for each 64 KiB"),
            y=alt.Y("path:N", sort=_order(rows, "path"), title=None),
            color=alt.Color(
                "purpose:N",
                title=None,
                sort=["to freeze the folio for its split", "to unmap what is written"],
                scale=alt.Scale(range=[VERMILLION, BLUE]),
                legend=alt.Legend(orient="bottom", labelLimit=0),
            ),
            order=alt.Order("purpose:N"),
        )
        .properties(width=280, height=alt.Step(30))
        .facet(column=alt.Column("what:N", title=None, sort=_order(rows, "what")))
        .properties(
            title=title(
                "Where 64 KiB of swap-out spends its invalidations",
                "Entries per 64 KiB, by what they are invalidated for.",
            )
        )
    )


def by_purpose(counts: pd.DataFrame) -> alt.Chart:
    """Draw what each path invalidates entries for.

    Parameters
    ----------
    counts : DataFrame
        `lorelab.swap.pages.simulated.per_64k`.
    """
    kinds = pd.DataFrame({"aging": counts["aged"], "split": 16 * counts["splits"]})
    kinds["unmapping"] = counts["invalidations"] - kinds["split"]
    long = kinds.rename_axis("path").reset_index().melt("path", var_name="for", value_name="n")
    chart = alt.Chart(long, title="Invalidations of 64 KiB swapped out, arm64").mark_bar()
    return chart.encode(
        x=alt.X("sum(n)", title="invalidations per 64 KiB"),
        y=alt.Y("path", title=None, sort=list(counts.index)),
        color=alt.Color("for", sort=["aging", "split", "unmapping"]),
        order=alt.Order("for"),
    ).properties(height=190)


def fits(nearest: pd.DataFrame) -> alt.Chart:
    """Draw printed costs and those fitted to them (`lorelab.swap.thread.cost.nearest`)."""
    points = (
        alt.Chart(nearest)
        .mark_point(size=70, filled=False)
        .encode(
            x=alt.X("cost", title="cost, 4K before = 1"),
            y=alt.Y("kind", title=None, sort=_order(nearest, "kind")),
            color="cost is",
            shape="cost is",
        )
    )
    facets = points.properties(width=170, height=120).facet(
        column="table", row=alt.Row("reading", title=None)
    )
    return facets.properties(title="Cost of swapping out, and the nearest that event costs come")


def scan_length(table: pd.DataFrame, order: int | None = None, see: str = "") -> alt.Chart:
    """Draw slots scanned per allocation against the size of the device.

    Parameters
    ----------
    table : DataFrame
        Counters of `swap/mixed` with the column `device_mib`; the last step of each run counts.
    order : int, optional
        Allocations of this order alone.
    see : str
        Caption, besides what the axes are.
    """
    counter = "scanned" if order is None else f"scanned_order{order}"
    rows = table[(table["counter"] == counter) & (table["step"] == table["step"].max())]
    what = "a swap-out" if order is None else f"a folio of order {order}"
    return _by_variant(
        rows,
        alt.X(
            "device_mib:Q",
            title="device",
            scale=alt.Scale(type="log", base=2),
            axis=sizes(rows["device_mib"]),
        ),
        alt.Y(
            "value:Q",
            title="slots read per allocation",
            scale=alt.Scale(type="symlog"),  # some variants refuse an order without a look
            axis=alt.Axis(values=[0, *(10**n for n in range(9))]),
        ),
    ).properties(
        title=title(
            f"What it takes to find room for {what}",
            f"{see}\nMean per allocation; both axes are logarithmic.".lstrip(),
        )
    )


def capacity(table: pd.DataFrame, columns: int = 3) -> alt.Chart:
    """Draw what is free, and can't be had, when a 4 KiB page first gets no slot.

    Parameters
    ----------
    table : DataFrame
        Counters of `swap/mixed` (`until_full`) with the columns `cpus`, `orders` and `stealing`.
    columns : int
        Panels in a row; one panel for each mix of orders.
    """
    rows = table[table["counter"] == "free_at_first_failure"]
    steals = rows["stealing"].map({True: "", False: ", no stealing"})
    rows = rows.assign(
        mib=rows["value"] / 256,
        variant=rows["variant"] + steals,
        mix=[f"orders {', '.join(map(str, order_weights(text)))}" for text in rows["orders"]],
    )
    chart = _by_variant(
        rows,
        alt.X("cpus:Q", title="CPUs", scale=alt.Scale(type="log", base=2)),
        alt.Y("mib:Q", title="free at the first failure, MiB"),
    )
    return (
        chart.properties(width=200, height=200)
        .facet(alt.Facet("mix:N", sort=_order(rows, "mix"), title=None), columns=columns)
        .properties(
            title=title(
                "Free slots that a 4 KiB page cannot have",
                "Left on the device when order 0 first fails, by mix of orders.",
            )
        )
    )


def _by_variant(rows: pd.DataFrame, x: alt.X, y: alt.Y) -> alt.Chart:
    # So many variants are too many for colours alone: dashes tell equal colours apart.
    variants = _order(rows, "variant")
    colours = [OKABE_ITO[n % 5] for n in range(len(variants))]
    dashes = [DASHES[n // 5] for n in range(len(variants))]
    legend = alt.Legend(symbolType="stroke", symbolSize=300)
    return (
        alt.Chart(rows)
        .mark_line(point=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "variant:N",
                title="allocator",
                scale=alt.Scale(domain=variants, range=colours),
                legend=legend,
            ),
            strokeDash=alt.StrokeDash(
                "variant:N",
                title="allocator",
                scale=alt.Scale(domain=variants, range=dashes),
                legend=legend,
            ),
        )
    )


def histogram(table: pd.DataFrame, counter: str, of: str, see: str) -> alt.Chart:
    """Draw a histogram in powers of two, one row an order.

    Parameters
    ----------
    table : DataFrame
        Counters of `swap/probed` from one source.
    counter : str
        `read` or `swapouts`.
    of : str
        What the buckets are of, with its unit: the title of the axis.
    see : str
        Caption, one or more lines.
    """
    rows = table[table["counter"].str.startswith(f"{counter}_")].copy()
    rows["order"] = "order " + rows["counter"].str.rpartition("_")[2]
    rows["share"] = 100 * rows["value"] / rows.groupby("order")["value"].transform("sum")
    lows = sorted(rows["step"].unique())
    names = {low: f"{low} to {2 * low - 1}" if low > 1 else str(low) for low in lows}
    rows["bucket"] = rows["step"].map(names)
    unit = rows["unit"].iloc[0]
    bars = alt.Chart(rows[["order", "bucket", "share", "value"]]).mark_bar(color=BLUE)
    return bars.encode(
        alt.X("bucket:N", sort=list(names.values()), title=of, axis=alt.Axis(labelAngle=-40)),
        alt.Y("share:Q", title=f"{unit}, %"),
        alt.Row("order:N", title=None),
        tooltip=["order", "bucket", "value"],
    ).properties(height=120, title=title(of.capitalize(), see))

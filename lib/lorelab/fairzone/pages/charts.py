"""Pictures of the fair-zone chapter, each drawn from a table that an experiment gives."""

import altair as alt
import pandas as pd

from lorelab.showing.charts import OKABE_ITO, title

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY = OKABE_ITO
ZONES = {"Normal": BLUE, "DMA32": VERMILLION, "DMA": GREEN}
"""Colours of the zones, through the whole chapter."""
POLICIES = {"off": BLACK, "v1": VERMILLION, "baseline": BLUE, "merged": GREEN, "june-18": PURPLE}
"""Colours of the variants; all others are grey."""
CONTENTS = {
    "1st quarter": "#4a1486",
    "2nd quarter": "#7a5ab5",
    "3rd quarter": "#a992d6",
    "4th quarter": "#d8cbf0",
    "free": "#b8b8b8",
}
"""What a zone holds: quarters of the file, darker the longer ago they were written."""
UNUSED = "DMA32, free to the end"
"""Of `layouts`."""
KERNELS = {
    "baseline": BLUE,
    "v1": VERMILLION,
    "3.0": BLACK,
    "18 June": PURPLE,
    "managed/4": ORANGE,
    "kswapd without reserves": GREEN,
    "v4r8, class zone kept": SKY,
}
"""Colours of what the threads' kernels are called, where the model is put beside them."""
KIN = dict.fromkeys(
    ("checklow-v2r14", "v2", "v3", "v4", "v4r5", "v4r8"), "kswapd without reserves"
) | dict.fromkeys(("laptop", "desktop"), "18 June")
"""Kernels that are drawn as one."""


def offset_map(parts: pd.DataFrame, slider: bool = False, see: str = "") -> alt.Chart:
    """Draw which part of the file is cached, and in which zone, a row a variant.

    Parameters
    ----------
    parts : DataFrame
        `offset` in per cent of the file, `zone`, `cached` in per cent of that part of the file,
        `variant`, and `moment`, a whole number that the slider moves over.
    slider : bool
        Let the reader move through the moments; the picture that stands shows `moment` 0.
    see : str
        Caption.
    """
    step = float(parts["offset"].drop_duplicates().sort_values().diff().median())
    used = [zone for zone in ZONES if zone in set(parts["zone"])]
    chart = (
        alt.Chart(parts)
        .mark_rect(aria=False)
        .transform_calculate(end=f"datum.offset + {step}")
        .encode(
            x=alt.X("offset:Q", title="offset in the file, %", scale=alt.Scale(domain=[0, 100])),
            x2="end:Q",
            y=alt.Y(
                "sum(cached):Q", title="cached, %", stack=True, scale=alt.Scale(domain=[0, 100])
            ),
            color=alt.Color(
                "zone:N",
                title="zone",
                scale=alt.Scale(domain=used, range=[ZONES[zone] for zone in used]),
            ),
        )
    )
    chart = chart.mark_bar(aria=False, binSpacing=0).properties(width=520, height=90)
    if slider:
        moments = parts["moment"]
        knob = alt.param(
            name="moment",
            value=0,
            bind=alt.binding_range(
                min=int(moments.min()), max=int(moments.max()), step=1, name="moment "
            ),
        )
        chart = chart.add_params(knob).transform_filter("datum.moment == moment")
    order = list(parts["variant"].drop_duplicates())
    return chart.facet(row=alt.Row("variant:N", title=None, sort=order)).properties(
        title=title("What of the file is cached", see)
    )


def filling(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw what each zone holds, a row a variant; a slider moves over the moments.

    Parameters
    ----------
    table : DataFrame
        `variant`, `zone`, `mib`, `holds` (a key of `CONTENTS`), and `moment`, a whole number; the
        picture that stands shows moment 0.
    see : str
        Caption.
    """
    moments = table["moment"]
    bind = alt.binding_range(min=int(moments.min()), max=int(moments.max()), step=1, name="moment ")
    knob = alt.param(name="instant", value=0, bind=bind)
    rank = {name: place for place, name in enumerate(CONTENTS)}
    most = float(table.groupby(["variant", "moment", "zone"])["mib"].sum().max())
    return (
        alt.Chart(table.assign(rank=table["holds"].map(rank)))
        .mark_bar()
        .encode(
            x=alt.X("sum(mib):Q", title="MiB", scale=alt.Scale(domain=[0, most])),
            y=alt.Y("zone:N", title=None, sort=list(ZONES)),
            color=alt.Color(
                "holds:N",
                title="holds of the file",
                scale=alt.Scale(domain=list(CONTENTS), range=list(CONTENTS.values())),
            ),
            order="rank:Q",
        )
        .properties(width=520, height={"step": 26})
        .add_params(knob)
        .transform_filter("datum.moment == instant")
        .facet(row=alt.Row("variant:N", title=None, sort=list(table["variant"].unique())))
        .properties(title=title("What each zone holds", see))
    )


def cached(parts: pd.DataFrame, see: str) -> alt.Chart:
    """Draw which part of the data is cached, a row a run.

    Parameters
    ----------
    parts : DataFrame
        `offset` in per cent of the data, `cached` in per cent of that part, `run`.
    see : str
        Caption.
    """
    step = float(parts["offset"].drop_duplicates().sort_values().diff().median())
    bars = (
        alt.Chart(parts)
        .transform_calculate(end=f"datum.offset + {step}")
        .mark_rect(aria=False, color=BLUE)
        .encode(
            x=alt.X("offset:Q", title="offset in the data, %", scale=alt.Scale(domain=[0, 100])),
            x2="end:Q",
            y=alt.Y(
                "cached:Q",
                title=None,
                scale=alt.Scale(domain=[0, 100]),
                axis=alt.Axis(values=[0, 100]),
            ),
            y2=alt.datum(0),
        )
        .properties(width=480, height=40)
    )
    order = list(parts["run"].drop_duplicates())
    named = alt.Header(labelAngle=0, labelAlign="left", labelFontSize=12)
    return bars.facet(row=alt.Row("run:N", title=None, sort=order, header=named)).properties(
        title=title("What is cached when the read begins, per cent of each part", see)
    )


def shares(table: pd.DataFrame, size: float, see: str) -> alt.LayerChart:
    """Draw DMA32's share of the allocations over the rate of kswapd, a line a variant.

    Parameters
    ----------
    table : DataFrame
        `rate` in pages, `share` in per cent, `variant`.
    size : float
        DMA32's share of the pages, in per cent.
    see : str
        Caption.
    """
    drawn = [name for name in POLICIES if name in set(table["variant"])]
    lines = (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "rate:Q",
                title="pages that kswapd scans while the disk moves one",
                scale=alt.Scale(type="log"),
            ),
            y=alt.Y("share:Q", title="DMA32's share of allocations, %"),
            color=alt.Color(
                "variant:N",
                title="variant",
                scale=alt.Scale(domain=drawn, range=[POLICIES[name] for name in drawn]),
            ),
        )
    )
    rule = (
        alt.Chart(pd.DataFrame({"share": [size]}))
        .mark_rule(strokeDash=[4, 4], color=GREY)
        .encode(y="share:Q")
    )
    return (rule + lines).properties(title=title("Share of allocations, over kswapd's pace", see))


def walks(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw passes and zone tests an allocation, a row a variant.

    Parameters
    ----------
    table : DataFrame
        `variant`, `kind` (passes or zones tested), `each`, how many an allocation.
    see : str
        Caption.
    """
    return (
        alt.Chart(table)
        .mark_bar()
        .encode(
            x=alt.X("each:Q", title="passes, and zones tested, per allocation"),
            y=alt.Y("variant:N", title=None, sort=None),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(range=[BLUE, ORANGE])),
            yOffset=alt.YOffset("kind:N"),
        )
        .properties(title=title("Walks over the zonelist", see), height={"step": 11})
    )


def naps(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw the hits of a read over how much the disk moves in a nap.

    Parameters
    ----------
    table : DataFrame
        `lorelab.fairzone.pages.views.naps`.
    see : str
        Caption.
    """
    return (
        alt.Chart(table)
        .mark_point(size=60, filled=True, opacity=0.8)
        .encode(
            x=alt.X(
                "part:Q",
                title="pages moved in a nap / pages between low and high",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(values=[0.1, 0.2, 0.5, 1, 2, 5]),
            ),
            y=alt.Y("hits:Q", title="reads that hit, %"),
            color=alt.Color(
                "zone_dma:N",
                title=None,
                scale=alt.Scale(domain=["with ZONE_DMA", "without"], range=[VERMILLION, BLUE]),
                legend=alt.Legend(orient="bottom"),
            ),
        )
        .properties(width=460, height=220, title=title("Hits under v1, point by point", see))
    )


def layouts(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw what lies below and above 4 GiB, and the hits of a read under v1.

    Parameters
    ----------
    table : DataFrame
        `lorelab.fairzone.pages.answers.memories`.
    see : str
        Caption.
    """
    rows = table.reset_index()
    dma32 = rows["below 4 GiB"] / 1024
    below = rows["below 4 GiB"].map("{:,}".format)
    layout = rows["GiB"].astype(str) + " GiB (" + below + " MiB)"
    parts = {
        "Normal": dma32 * (100 / rows["size"] - 1),
        "DMA32": dma32 - rows["free"],
        UNUSED: rows["free"],
    }
    wide = pd.DataFrame(parts).assign(layout=layout, hits=rows["hits"].round(1).astype(str))
    long = wide.melt(["layout", "hits"], var_name="zone", value_name="gib")
    rank = long["zone"].map({zone: place for place, zone in enumerate((UNUSED, "DMA32", "Normal"))})
    y = alt.Y("layout:N", title=None, sort=list(layout))
    bars = (
        alt.Chart(long.assign(rank=rank))
        .mark_bar()
        .encode(
            x=alt.X("sum(gib):Q", title="managed memory, GiB", scale=alt.Scale(domain=[0, 36])),
            y=y,
            color=alt.Color(
                "zone:N",
                title=None,
                scale=alt.Scale(domain=list(parts), range=[BLUE, VERMILLION, CONTENTS["free"]]),
                legend=alt.Legend(orient="bottom"),
            ),
            order="rank:Q",
        )
    )
    labels = (
        alt.Chart(wide.assign(gib=sum(parts.values())))
        .transform_calculate(said="datum.hits + ' % hit'")
        .mark_text(align="left", dx=4)
        .encode(x="gib:Q", y=y, text="said:N")
    )
    return (bars + labels).properties(
        width=460, height={"step": 20}, title=title("Where v1 reads what was just written", see)
    )


def gains(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw the gain of sequential reads over the number of threads, printed and modelled.

    Parameters
    ----------
    table : DataFrame
        `threads`, `gain` in per cent, `source`.
    see : str
        Caption.
    """
    return (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X("threads:O", title="threads"),
            y=alt.Y("gain:Q", title="gain of sequential reads, %", scale=alt.Scale(zero=True)),
            color=alt.Color(
                "source:N",
                title=None,
                scale=alt.Scale(range=[VERMILLION, BLACK]),
                legend=alt.Legend(orient="bottom", labelLimit=260),
            ),
        )
        .properties(
            title=title("The gain, and the cache hits that would make it", see),
            width=420,
            height=200,
        )
    )


def beside_print(table: pd.DataFrame, factor: float, see: str) -> alt.LayerChart:
    """Draw each number: printed to the right, model upwards; the band is up to `factor`.

    Parameters
    ----------
    table : DataFrame
        `lorelab.fairzone.thread.against.against()`.
    factor : float
        Between model and print, at which the band ends.
    see : str
        Caption.
    """
    end = 46
    band = pd.DataFrame({"printed": [0, end / factor, end]})
    band = band.assign(
        low=band["printed"] / factor, high=(band["printed"] * factor).clip(upper=end)
    )
    x = alt.X("printed:Q", title="printed in the thread, %", scale=alt.Scale(domain=[0, end]))
    y = alt.Y("model:Q", title="model, %", scale=alt.Scale(domain=[0, end]))
    area = (
        alt.Chart(band)
        .mark_area(opacity=0.15, color="#808080", aria=False)
        .encode(x=x, y=alt.Y("low:Q", title="model, %"), y2="high:Q")
    )
    kernel = table["kernel"].replace(KIN)
    assert set(kernel) <= set(KERNELS), "every kernel has a colour"
    used = [name for name in KERNELS if name in set(kernel)]
    points = (
        alt.Chart(
            table.assign(
                kernel=kernel,
                kind=table["of"].map(lambda of: of if of == "gain" else "share"),
                printed=table["printed"].round(2),
                model=table["model"].round(2),
            )
        )
        .mark_point(filled=True, size=70, aria=False, clip=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "kernel:N",
                title="kernel",
                scale=alt.Scale(domain=used, range=[KERNELS[name] for name in used]),
            ),
            shape=alt.Shape("kind:N", title="number"),
        )
    )
    return (area + points).properties(
        width=480, height=330, title=title("The model beside the threads' numbers", see)
    )

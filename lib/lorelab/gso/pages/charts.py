"""Charts of the zero-copy chapter."""

import altair as alt
import pandas as pd

from lorelab.gso.experiments.layout import fields
from lorelab.gso.model.invariants import INVARIANTS
from lorelab.gso.model.layout import place
from lorelab.gso.model.lifetimes import STEPS
from lorelab.gso.model.states import ABSENT, BYTES, PLACES, SENDER, THINGS
from lorelab.gso.pages import layout
from lorelab.gso.pages.orders import DONE
from lorelab.gso.pages.simulated import closed_form
from lorelab.gso.params import Layout
from lorelab.showing.charts import OKABE_ITO, Moved, slider, title

STATES = {
    "waits": "#999999",
    "a count": "#f4f4f4",
    "told": OKABE_ITO[2],
    "writes again": OKABE_ITO[4],
    "in the head": "#cccccc",
    "lent pages": OKABE_ITO[0],
    "a copy": OKABE_ITO[5],
    "wrong bytes": OKABE_ITO[1],
    "gone": "#eeeeee",
}
"""Colours of `life`, one meaning each."""
WIDE = 500
"""Pixels of `ways`."""
KINDS = {
    "field": OKABE_ITO[5],
    "pointer": OKABE_ITO[1],
    "fragment": OKABE_ITO[2],
    "hole": "#dddddd",
}


def _kind(name: str) -> str:
    if name in ("pointer", "hole"):
        return name
    return "fragment" if name.startswith("frags") else "field"


def struct(kernel: str = "2014", at: int = 9) -> Moved:
    """The shared info on its first two cache lines; the slider moves the pointer.

    Parameters
    ----------
    kernel : str
        Whose declaration, as `Layout` has it.
    at : int
        The place shown first: 0 is nowhere, then in front of each field in order, then the end.
    """
    frames = []
    for number, row in enumerate(layout.positions(kernel).itertuples()):
        cells = layout.cells(place(fields(Layout(kernel=kernel, pointer=row.before))))
        cells = cells[cells["line"] < 2].assign(
            place=number,
            kind=lambda rows: rows["field"].map(_kind),
            named="line " + cells["line"].astype(str),
            short=cells["field"].where(cells["end"] - cells["start"] > 7, ""),
            middle=(cells["start"] + cells["end"]) / 2,
        )
        frames.append(cells)
    base = alt.Chart(pd.concat(frames)).encode(
        y=alt.Y("named:N", title=None, sort=["line 0", "line 1"]),
        tooltip=["field", "start", "end"],
    )
    boxes = base.mark_rect(stroke="white").encode(
        x=alt.X("start:Q", title="byte of the cache line", scale=alt.Scale(domain=[0, 64])),
        x2="end:Q",
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
            legend=alt.Legend(orient="bottom"),
        ),
    )
    words = base.mark_text(fontSize=10).encode(x="middle:Q", text="short:N")
    last = len(frames) - 1
    see = (
        "Without the pointer (0) the first fragment ends the first cache line.\n"
        f"1 to {last - 1}: in front of each field, in order; {last}: behind all."
    )
    if kernel == "2014":
        see += " As posted it is 9."
    release = {"2014": "3.15"}.get(kernel, kernel)
    named = f"skb_shared_info of {release}, where the pointer stands"
    chart = (boxes + words).properties(width=560, height=110, title=title(named, see))
    return slider(chart, "place", at, "place of the pointer")


def truesizes(before: int = 320, after: int = 336) -> alt.Chart:
    """Memory charged for a packet by its linear size, with the struct before and after."""
    sizes = layout.packets(range(32, 2049, 8), before, after)
    names = {"before": f"{before} bytes", "after": f"{after} bytes"}
    long = sizes.melt("size", list(names), "info", "truesize").replace({"info": names})
    see = "Equal but for sizes whose shared info no longer fits in the bucket: those double."
    return (
        alt.Chart(long)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("size:Q", title="linear size asked of __alloc_skb(), bytes"),
            y=alt.Y("truesize:Q", title="truesize, bytes"),
            color=alt.Color("info:N", title="skb_shared_info", sort=list(names.values())),
            strokeDash=alt.StrokeDash("info:N", legend=None, sort=list(names.values())),
        )
        .properties(height=240, title=title("What eight bytes cost a packet", see))
    )


def life(frames: pd.DataFrame) -> Moved:
    """`orders.watch`: sender, counts and segments by variant, moved step by step."""
    things = list(frames["thing"].unique())
    base = alt.Chart(frames).encode(
        x=alt.X("thing:N", title=None, sort=things, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("variant:N", title=None, sort=list(frames["variant"].unique())),
    )
    boxes = base.mark_rect(stroke="white", strokeWidth=2).encode(
        color=alt.Color(
            "state:N",
            scale=alt.Scale(domain=list(STATES), range=list(STATES.values())),
            legend=None,
        )
    )
    words = base.mark_text(fontSize=11).encode(text="words:N")
    see = (
        "Columns ubuf_info and head: how many hold them. The last segment overtakes. Where the\n"
        "sender writes again while a segment has its pages, that segment carries the wrong bytes."
    )
    chart = (boxes + words).properties(
        width=560, height=290, title=title("One packet of three segments", see)
    )
    return slider(chart, "step", 4, "step")


def ways(frame: pd.DataFrame) -> alt.VConcatChart:
    """Which invariants of `lifetimes` hold, and the shortest way to one that breaks, step by step.

    Parameters
    ----------
    frame : DataFrame
        Of `lorelab.gso.panel.lifetimes.ways`. All that is drawn is worked out from its numbers by
        the chart itself, to which a panel gives others.
    """
    data, numbers = frame.reset_index(), list(INVARIANTS)
    cells = (
        alt.Chart(data)
        .transform_filter("datum.kind == 0")
        .transform_fold([f"broken_i{number}" for number in numbers], as_=["broken", "steps"])
        .transform_calculate(
            invariant="'I' + slice(datum.broken, 8)",
            said="datum.steps ? datum.steps + ' steps' : 'holds'",
        )
        .encode(
            x=alt.X("invariant:N", title=None, axis=alt.Axis(labelAngle=0, orient="top")),
            y=alt.Y("variant:N", title=None),
        )
    )
    colour = alt.condition(
        "datum.steps > 0", alt.value(STATES["wrong bytes"]), alt.value(STATES["a count"])
    )
    strip = (
        cells.mark_rect(stroke="white", strokeWidth=2).encode(color=colour)
        + cells.mark_text(fontSize=10.5).encode(text="said:N")
    ).properties(width=WIDE)
    words = {kind: DONE[kind] for kind in STEPS}
    who = "['segment 1', 'segment 2', 'segment 3', 'segment 4', 'clone', 'head', 'sender', 'part']"
    cpu = f"indexof(['store', 'put'], {list(words)}[floor(datum.taken / 8)]) >= 0"
    chosen = alt.param(
        "invariant",
        value=0,
        bind=alt.binding_select(
            options=[0, *numbers],
            labels=["the first that breaks", *(f"I{number}" for number in numbers)],
            name="shortest way to break ",
        ),
    )
    steps = (
        alt.Chart(data)
        .transform_filter("datum.kind > 0")
        .transform_joinaggregate(smallest="min(kind)", groupby=["variant"])
        .transform_filter("datum.kind == (invariant || datum.smallest)")
        .transform_calculate(
            said=f"datum.at == 0 ? 'at first' : datum.at + '  ' + ({cpu}"
            f" ? 'CPU ' + datum.taken % 8 : {who}[datum.taken % 8])"
            f" + ': ' + {list(words.values())}[floor(datum.taken / 8)]"
        )
        .transform_fold(list(THINGS), as_=["thing", "code"])
        .transform_filter(f"datum.code != {ABSENT}")
        .transform_calculate(
            state=f"datum.thing == 'sender' ? {list(SENDER)}[datum.code]"
            " : indexof(['ubuf_info', 'head'], datum.thing) >= 0 ? 'a count'"
            " : floor(datum.code / 4) == 5 || floor(datum.code / 4) == 0 ? 'gone'"
            f" : {list(BYTES)}[datum.code % 4]",
            words="datum.thing == 'sender' ? datum.state"
            " : datum.state == 'a count' ? '' + datum.code"
            f" : {list(PLACES)}[floor(datum.code / 4)]",
        )
        .encode(
            x=alt.X(
                "thing:N",
                title=None,
                sort=list(THINGS),
                axis=alt.Axis(labelAngle=0, orient="top", labelOverlap=False),
            ),
            y=alt.Y("at:O", title=None, axis=None),
        )
    )
    cells = steps.mark_rect(stroke="white", strokeWidth=2, yOffset=9, height={"band": 0.5}).encode(
        color=alt.Color(
            "state:N",
            scale=alt.Scale(domain=list(STATES), range=list(STATES.values())),
            legend=None,
        )
    )
    inside = steps.mark_text(fontSize=10.5, dy=9).encode(text="words:N")
    taken = (
        steps.transform_filter("datum.thing == 'sender'")
        .mark_text(align="left", dy=-8, fontSize=11)
        .encode(x=alt.value(0), text="said:N")
    )
    way = (
        alt.layer(cells, inside, taken)
        .properties(width=WIDE, height=alt.Step(36))
        .facet(
            row=alt.Row(
                "variant:N", title=None, header=alt.Header(labelOrient="top", labelAnchor="start")
            )
        )
        .resolve_axis(x="independent")
    )
    see = (
        "Steps of the shortest way that breaks an invariant, and below one of these ways: where\n"
        "each packet is, blue with the sender's pages, orange where these were rewritten since,\n"
        "light blue with a copy; and how many hold ubuf_info and head."
    )
    return alt.vconcat(strip.add_params(chosen), way).properties(
        title=title("Every order of one send", see)
    )


COSTS = {
    "bytes copied": "datum.copied_bytes + datum.copied_by_send",
    "atomic operations": "datum.atomics",
    "lines of shared infos": "datum.lines",
}
COUNTED = ["copied_bytes", "copied_by_send", "atomics", "lines", "sends"]
"""What these are computed of."""


def costs(table: pd.DataFrame) -> alt.Chart:
    """Draw what a send takes, by variant.

    Parameters
    ----------
    table : DataFrame
        Index `variant`; of a send, or of as many as `sends` says: `copied_bytes`, and beside them
        `copied_by_send` where that is there, `atomics` and `lines`.
    """
    heading = "Cost of a send of 56,000 bytes in 40 segments"
    return _costs(table, COUNTED, {}, heading, "per send")


def costs_and_wrong(table: pd.DataFrame) -> alt.Chart:
    """The same beside the share of the packets `sent` that are `wrong`."""
    wrong = {"wrong packets, %": "100 * datum.wrong / max(1, datum.sent)"}
    heading = "Cost of a send, and packets with wrong bytes (model)"
    return _costs(table, [*COUNTED, "wrong", "sent"], wrong, heading, None)


def _costs(
    table: pd.DataFrame, counted: list[str], first: dict[str, str], heading: str, axis: str | None
) -> alt.Chart:
    # The chart has the counters, not what one send takes: a panel need only give it others.
    each = first | {what: f"({number}) / datum.sends" for what, number in COSTS.items()}
    rows = pd.DataFrame({"copied_by_send": 0, "sends": 1} | dict(table.items()))
    see = (
        "Left: packets whose bytes the sender changed while they waited. The others are per send:\n"
        "bytes copied, atomic operations, and cache lines of the segments' skb_shared_info."
        if wrong
        else "Copying costs bytes, counting two atomic operations a segment, and the pointer\n"
        "in the shared info a cache line where a segment has one fragment."
    )
    return (
        alt.Chart(rows[counted].reset_index())
        .transform_calculate(**each)
        .transform_fold(list(each), as_=["what", "count"])
        .mark_bar()
        .encode(
            y=alt.Y("variant:N", title=None, sort=list(table.index)),
            x=alt.X("count:Q", title=axis),
        )
        .properties(width=130, height=190)
        .facet(
            facet=alt.Facet("what:N", title=None, sort=list(each)),
            columns=len(each),
            title=title(heading, see),
        )
        .resolve_scale(x="independent")
    )


def instructions(table: pd.DataFrame) -> alt.Chart:
    """Draw `views.instructions` of four ways, per byte.

    Parameters
    ----------
    table : DataFrame
        By `length` [bytes]: instructions of a send, a column a way.
    """
    shown = ["copy", "orphan", "parent", "shared-count"]
    a_byte = table[shown].div(table.index, axis=0).reset_index()
    return (
        alt.Chart(a_byte.melt("length", shown, "way", "instructions"))
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "length:Q",
                title="payload of a send, bytes",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(values=[64, 256, 1024, 4096, 16384, 65536]),
            ),
            y=alt.Y("instructions:Q", title="instructions per byte", scale=alt.Scale(type="log")),
            color=alt.Color("way:N", title=None, sort=shown),
        )
        .properties(
            height=240,
            title=title(
                "Instructions of a send over a device that does not segment",
                "Emulated: each byte that is copied counts as one instruction.",
            ),
        )
    )


def wrong(table: pd.DataFrame) -> alt.Chart:
    """Segments sent with the wrong bytes, model and kernel side by side.

    Parameters
    ----------
    table : DataFrame
        Columns `variant`, `source` and `wrong` [segments].
    """
    return (
        alt.Chart(table)
        .mark_bar()
        .encode(
            y=alt.Y("variant:N", title=None, sort="-x"),
            yOffset=alt.YOffset("source:N"),
            x=alt.X("wrong:Q", title="segments with what the sender wrote later"),
            color=alt.Color("source:N", title=None),
        )
        .properties(
            height=220,
            title=title(
                "Wrong bytes on the wire, of 1,600 segments",
                "5 % dropped, 10 % reordered. The model's number is a lower bound.",
            ),
        )
    )


def lastsegment(table: pd.DataFrame) -> alt.LayerChart:
    """`simulated.shares` on its closed form."""
    line = pd.DataFrame({"segments": range(1, int(table["segments"].max()) + 1)})
    line["expected"] = line["segments"].map(closed_form)
    curve = alt.Chart(line).mark_line()
    points = alt.Chart(table).mark_point(color=OKABE_ITO[1])
    x = alt.X("segments:Q", title="segments of a packet")
    return (
        curve.encode(x=x, y=alt.Y("expected:Q", title="share notified too early"))
        + points.encode(x=x, y="drawn:Q")
    ).properties(
        height=220,
        title=title(
            "How often the last segment is not the last to go",
            "Points: drawn orders; line: 1 - 1/k.",
        ),
    )


def told(table: pd.DataFrame, patched: pd.DataFrame) -> alt.Chart:
    """Sends that were copied and sends whose notification says so, by kernel.

    Parameters
    ----------
    table, patched : DataFrame
        `views.told`, and `views.patched`, of which the runs with the fix are shown.
    """
    fixed = patched[patched["patch"] == "with"]
    table = pd.concat([table, fixed.assign(kernel=fixed["kernel"] + ", patched")])
    default = table[table["run"] == "default"]
    sends = default.melt("kernel", ["copied", "told_copied"], "sends", "number")
    sends["sends"] = sends["sends"].map({"copied": "copied", "told_copied": "reported as copied"})
    heading = title(
        "Eight sends on one socket, the error queue read after the last",
        "The first send is not copied, the second is, and so on in turn.",
    )
    whole = alt.X(
        "number:Q", title="sends", scale=alt.Scale(domain=[0, 8]), axis=alt.Axis(tickMinStep=1)
    )
    return (
        alt.Chart(sends, title=heading)
        .mark_bar()
        .encode(
            whole,
            alt.Y("kernel", title=None, axis=alt.Axis(labelLimit=0)),
            alt.YOffset("sends"),
            alt.Color("sends", title=None),
        )
        .properties(height=55 * default["kernel"].nunique())
    )

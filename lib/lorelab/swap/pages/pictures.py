"""Pictures of the swap chapter that the reader moves: lists of clusters, a device that ages."""

import altair as alt
import pandas as pd

from lorelab.numerics import U
from lorelab.showing.charts import Moved, slider, title
from lorelab.swap.model import swap_slots
from lorelab.swap.model.state import SWAPFILE_CLUSTER, swapon
from lorelab.swap.pages.charts import HOLDS, OTHER, area
from lorelab.swap.pages.views import lists, maps
from lorelab.swap.params import Mixed, Variant

LISTS = ["free", "nonfull[0]", "nonfull[2]", "nonfull[4]"]
DONE = ["made", "64 KiB goes out", "16 KiB", "4 KiB", "the 64 KiB come back"]


def frames() -> pd.DataFrame:
    """The lists of a device of four clusters while three folios go out and the first comes back.

    Returns
    -------
    DataFrame
        `step` (of `DONE`), `list` (kernel name), `place` on it from its head, `cluster`, `slots`
        that are taken in it.
    """
    si = swapon(4 * int(SWAPFILE_CLUSTER), Variant.V6_12)
    rows = _listed(si, 0)
    taken = []
    for step, order in enumerate((4, 2, 0), start=1):
        taken.append(swap_slots.folio_alloc_swap(si, U(0), U(order)))
        rows += _listed(si, step)
    swap_slots.swap_entry_range_free(si, taken[0], U(16))
    return pd.DataFrame(rows + _listed(si, 4))


def _listed(si, step: int) -> list[dict]:
    rows = []
    for row in lists(si).itertuples():
        counts = row.slots.split()
        for place, cluster in enumerate(row.clusters.split()):
            slots = int(counts[place])
            rows.append(
                {"step": step, "list": row.list, "place": place, "cluster": cluster, "slots": slots}
            )
    return rows


def cluster_lists(rows: pd.DataFrame) -> Moved:
    """Draw `frames`: a row a list, a box a cluster, moved step by step."""
    drawn = rows.assign(
        end=rows["place"] + 0.94,
        words="cluster " + rows["cluster"],
        held=rows["slots"].astype(str) + " of 512",
    )
    base = alt.Chart(drawn).encode(
        y=alt.Y("list:N", title=None, sort=LISTS, scale=alt.Scale(domain=LISTS, paddingInner=0.15))
    )
    axis = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
    x = alt.X(
        "place:Q", title="from the head of the list", axis=axis, scale=alt.Scale(domain=[0, 4])
    )
    boxes = base.mark_rect(stroke="#888888").encode(
        x=x,
        x2="end:Q",
        color=alt.condition("datum.slots > 0", alt.value("#b3d4e8"), alt.value("#f2f2f2")),
    )
    text = base.encode(x=x)
    names = text.mark_text(align="left", dx=8, dy=-8, fontSize=13).encode(text="words:N")
    counts = text.mark_text(align="left", dx=8, dy=10, fontSize=12).encode(text="held:N")
    steps = ", ".join(f"{step} = {done}" for step, done in enumerate(DONE))
    see = f"The first folio that takes slots of a cluster gives it its order.\nSteps: {steps}."
    chart = (boxes + names + counts).properties(
        height=200, title=title("The lists of a device of four clusters", see)
    )
    return slider(chart, "step", 3, "step")


def aging(
    variants: list[Variant],
    see: str = "A row is a cluster of 512 slots, a cell an aligned 64 KiB. Paler is emptier.",
    device_mib: int = 64,
    turnovers: int = 4,
) -> Moved:
    """A device that ages under `swap/mixed`, allocator beside allocator, moved by turnovers.

    Parameters
    ----------
    variants : list of Variant
    see : str
        Caption, one or more lines.
    device_mib : int
    turnovers : int
        How often the device is written over, at the end.
    """
    cells = maps(Mixed(device_mib=device_mib), variants, list(range(turnovers + 1)))
    ages = {when: age for age, when in enumerate(cells["when"].unique())}
    cells = cells.assign(age=cells["when"].map(ages))
    colours = {k: v for k, v in (HOLDS | OTHER).items() if k in set(cells["holds"]) - {"free"}}
    kept = ["age", "variant", "cluster", "slot", "slots", "holds", "taken"]
    drawn = cells.loc[cells["holds"] != "free", kept]
    drawn = drawn.assign(
        end=drawn["slot"] + drawn["slots"], below=drawn["cluster"] + 1, taken=drawn["taken"].round()
    ).drop(columns="slots")
    clusters = int(cells["cluster"].max()) + 1
    chart = area(drawn, colours, clusters, 140, 200).facet(
        column=alt.Column("variant:N", title=None, sort=list(cells["variant"].unique())), spacing=8
    )
    chart = chart.properties(title=title("What the swap device holds as it ages", see))
    return slider(chart, "age", turnovers, "turnovers")

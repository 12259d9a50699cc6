"""What a read finds cached of what was just written, on two nodes: every boot beside the others.

`kernel_views.written_nodes()` has the newest of each policy.
"""

from collections.abc import Iterator

import altair as alt
import pandas as pd

from lorelab.experiments import experiment
from lorelab.fairzone.pages.charts import BLACK, BLUE
from lorelab.fairzone.pages.kernel_views import found_cached, recorded, written
from lorelab.fairzone.params import Nodes
from lorelab.lab.records import Record
from lorelab.showing.charts import title

NAME = "fairzone/nodes"
READERS = ("DMA and DMA32", "DMA32 alone")
"""Zones of the reader's node, by `Nodes.cpu_node`."""
UNPATCHED, PATCHED = "unmodified", "with the policies as switches"
COLOURS = {UNPATCHED: BLACK, PATCHED: BLUE}


def boots() -> Iterator[tuple[Nodes, int, Record]]:
    """Every boot that wrote and read, with its number among those of the same parameters."""
    for params, newest in recorded(NAME):
        if params.workload != "write-read":
            continue
        all_: list[Record] = []
        record: Record | None = newest
        while record is not None:
            all_.insert(0, record)
            record = experiment(NAME).recorded(params, before=record.provenance.date)
        yield from ((params, number, each) for number, each in enumerate(all_, start=1))


def unpatched() -> pd.DataFrame:
    """Every boot of the kernel without the patch.

    Returns
    -------
    DataFrame
        A row a boot, by the zones of the `reader`'s node, the disk (`MB/s`) and min_free_kbytes
        (`KiB kept`): `runs`, and the columns of `kernel_views.written_nodes`.
    """
    rows = {
        (READERS[params.cpu_node], params.disk_mb_s, params.min_free_kib, boot): {
            "runs": params.repeats
        }
        | written(params, record)
        for params, boot, record in boots()
        if params.mode == "unpatched"
    }
    by = ["reader", "MB/s", "KiB kept", "boot"]
    table = pd.DataFrame(rows).T.rename_axis(by).sort_index()
    return table.astype({"runs": int}).round(1)


def hits() -> pd.DataFrame:
    """What the read found cached, a row a run.

    Returns
    -------
    DataFrame
        `reader` as in `unpatched`, `kernel`, `run`: the disk, how much memory min_free_kbytes keeps
        free, and the kernel's policy or boot; `hits`, in per cent of the pages read.
    """
    parts = []
    for params, boot, record in boots():
        plain = params.mode == "unpatched"
        kept = f"{params.min_free_kib / 1024:.0f} MiB kept"
        of = {
            "reader": READERS[params.cpu_node],
            "kernel": UNPATCHED if plain else PATCHED,
            "run": f"{params.disk_mb_s} MB/s, {kept}, {f'boot {boot}' if plain else params.mode}",
        }
        hits = 100 * found_cached(params, record)
        parts.append(hits.to_frame("hits").assign(**of))
    return pd.concat(parts).sort_values(["reader", "run", "hits"], ignore_index=True)


def drawn(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw `hits()`: a dot a run, a panel for each node that the reader was on.

    Parameters
    ----------
    table : DataFrame
        `hits()`.
    see : str
        Caption.
    """
    on = "reader on {}".format
    rows = table.assign(hits=table["hits"].round(1), on=table["reader"].map(on))
    dots = (
        alt.Chart(rows)
        .mark_point(filled=True, size=60, opacity=0.7, aria=False)
        .encode(
            x=alt.X(
                "hits:Q",
                title="read from the cache, %",
                scale=alt.Scale(domainMin=0, nice=True),
                axis=alt.Axis(tickCount=4),
            ),
            y=alt.Y("run:N", title=None, axis=alt.Axis(labelLimit=0)),
            color=alt.Color(
                "kernel:N",
                legend=None,
                scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
            ),
        )
    )
    above = alt.Header(labelOrient="top", labelAnchor="start", labelAngle=0)
    return (
        dots.properties(width=420, height={"step": 20})
        .facet(
            row=alt.Row("on:N", title=None, header=above, sort=[on(each) for each in READERS[::-1]])
        )
        .resolve_scale(y="independent")
        .properties(title=title("Written, then read back: twice the memory, two nodes", see))
    )

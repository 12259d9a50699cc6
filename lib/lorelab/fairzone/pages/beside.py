"""Recorded runs of `fairzone/nodes`, and beside each what the model makes of the same zones.

The model gets the zones of the guest as they were when a run began: their marks, what they keep
from the class, and what is free. Which node gives a page, and when which kswapd runs, follow.
"""

from collections.abc import Iterator
from itertools import product

import altair as alt
import numpy as np
import pandas as pd

from lorelab.fairzone.model import nodes
from lorelab.fairzone.pages.charts import BLACK, BLUE, GREY, VERMILLION
from lorelab.fairzone.pages.kernel_views import recorded
from lorelab.fairzone.params import Nodes, Paced
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.files import FIXED_POINT
from lorelab.fairzone.workload.machine import nap_pages
from lorelab.numerics import U
from lorelab.showing.charts import title

ZONES = ("0_dma", "0_dma32", "1_dma32")
ZONELIST = [1, 0, 2]
LAYOUTS = ((ZONES, ZONELIST), (("0_dma32", "1_dma", "1_dma32"), [0, 2, 1]))
"""Zones and zonelist by `Nodes.cpu_node`: the guest's node 0 is the one that has the CPUs."""
BURST = 32
"""Pages of a readahead window."""
RATE = Paced.model_fields["kswapd_rate"].default
RULES = {"6.12: one zone above high": False, "3.15: every zone above high": True}


def zones_of(first: pd.Series, names: tuple[str, ...] = ZONES) -> np.ndarray:
    """The guest's zones as a run began.

    Parameters
    ----------
    first : Series
        The run's counters by name.
    names : tuple of str
        Of the zones, `NODE_ZONE`, in the order of the model.
    """
    rows = np.zeros(len(names), nodes.ZONE)
    rows["node"] = [int(name[0]) for name in names]
    for what in ("free", "min", "low", "high", "reserve"):
        rows[what] = [int(first[f"zone_{zone}_{what}"]) for zone in names]
    return rows


def play(
    params: Nodes,
    first: pd.Series,
    every_zone: bool = False,
    spread: int = 0,
    rate: float = RATE,
    uneven: bool = False,
) -> pd.Series:
    """The model's run on the zones of one of the kernel's.

    Parameters
    ----------
    params : Nodes
    first : Series
        Counters of the kernel's run by name.
    every_zone : bool
        See `nodes.make`.
    spread : int
        How much more or less the disk moves in a nap, in per cent.
    rate : float
        Pages that kswapd looks at while the disk moves one.
    uneven : bool
        See `nodes.make`.

    Returns
    -------
    Series
        Of the reading of what no longer fits: `share`, the part of the pages that node 1 gives, as
        the guest numbers the nodes, in per cent;
        `runs` of both kswapds; `by naps`, those begun at a nap's end, in per cent.
    """
    pause = nap_pages(params.disk_mb_s)
    varies = pause * spread // 100
    names, zonelist = LAYOUTS[params.cpu_node]
    zones = zones_of(first, names)
    mm = nodes.make(zones, zonelist, pause, every_zone, varies, uneven=uneven)
    memory = params.mib * PAGES_A_MIB
    pace = U(BURST), round(rate * FIXED_POINT)
    nodes.read(mm, U(memory), *pace)
    before = mm.zone["allocated"].copy(), mm.kswapd.copy()
    nodes.read(mm, U(params.turnovers * memory), *pace)
    taken = (mm.zone["allocated"] - before[0]).astype(float)
    naps, woken = (
        int((mm.kswapd[name] - before[1][name]).sum())
        for name in ("high_wmark_hit_quickly", "woken")
    )
    return pd.Series(
        {
            "share": 100 * taken[zones["node"] == 1].sum() / taken.sum(),
            "runs": naps + woken,
            "by naps": 100 * naps / max(1, naps + woken),
        }
    )


RATES = (2, 5, 30, 100)
SPREADS = (0, 25, 50)
PACES = {132: (2, 3, 4, 5, 30), 20: (26.4,)}
"""By the speed of the disk. 26.4 is the pace of 4 beside a disk of 20 MB/s in place of 132."""
FITTED = {132: (4,), 20: (26.4,)}
"""Of these the pace at which the model meets the kernel beside the fast disk, and the same pace."""
KERNEL = "kernel, 6.12.117"


def beside() -> pd.DataFrame:
    """Node 1's part of the pages and the runs of kswapd, on the kernel and in the model.

    The model runs on the zones of each repeat of the kernel, with each rule, at each of `RATES` of
    kswapd, and with each of `SPREADS` of the disk, in per cent: neither is known of the guest.

    Returns
    -------
    DataFrame
        A row a run: `MB/s`, `source`, `size`, node 1's part of the pages free at the start, in per
        cent, and what `play` gives.
    """
    parts = []
    for params, first in _read_once():
        of = {"MB/s": params.disk_mb_s, "size": _size(first)}
        parts.append(of | {"source": KERNEL} | _kernel(first))
        for name, rate, spread in product(RULES, RATES, SPREADS):
            shares = play(params, first, RULES[name], spread, rate).to_dict()
            parts.append(of | {"source": f"model, {name}"} | shares)
    return pd.DataFrame(parts)


def _read_once(cpu_node: int = 0) -> Iterator[tuple[Nodes, pd.Series]]:
    # Each repeat of the kernel without the patch.
    for params, record in recorded("fairzone/nodes"):
        of = params.mode, params.workload, params.cpu_node
        if of == ("unpatched", "read-once", cpu_node):
            wide = record.counters.pivot_table(index="step", columns="counter", values="value")
            yield from ((params, first) for _, first in wide.iterrows())


def paces(cpu_node: int = 0, rates: dict[int, tuple[float, ...]] = PACES) -> pd.DataFrame:
    """Node 1's part of the pages, by kswapd's pace, where its turns come after uneven readings.

    Parameters
    ----------
    cpu_node : int
        See `Nodes`; the guest's node 0 is the reader's.
    rates : dict
        Paces of kswapd by the speed of the disk.

    Returns
    -------
    DataFrame
        For each disk a row of the kernel, and one for each rule and pace, over
        `SPREADS`; the least and the most of `share`, in per cent, and of `runs`, those of both
        kswapds.
    """
    parts = []
    for params, first in _read_once(cpu_node):
        of = {"MB/s": params.disk_mb_s}
        parts.append(of | {"source": KERNEL} | _kernel(first))
        for name, rate, spread in product(RULES, rates[params.disk_mb_s], SPREADS):
            shares = play(params, first, RULES[name], spread, rate, uneven=True).to_dict()
            parts.append(of | {"source": f"model, {name}, pace {rate}"} | shares)
    groups = pd.DataFrame(parts).groupby(["MB/s", "source"], sort=False)[["share", "runs"]]
    return groups.agg(["min", "max"]).round(1)


def crossed(cpu_node: int) -> pd.DataFrame:
    """The model with the zones of each recorded run, beside either disk: which of the two decides.

    A recorded run beside another disk has another min_free_kbytes, too; here each has both disks.

    Parameters
    ----------
    cpu_node : int
        See `Nodes`; the guest's node 0 is the reader's.

    Returns
    -------
    DataFrame
        A row a `min_free_kbytes` and a disk (`MB/s`), over the repeats and `SPREADS`, at the pace
        of kswapd of `FITTED`, with the rule of 6.12: the least and the most of `share` and `by
        naps`, in per cent.
    """
    parts = []
    for params, first in _read_once(cpu_node):
        for (disk, [pace]), spread in product(FITTED.items(), SPREADS):
            beside_it = params.model_copy(update={"disk_mb_s": disk})
            shares = play(beside_it, first, False, spread, pace, uneven=True).to_dict()
            parts.append({"min_free_kbytes": params.min_free_kib, "MB/s": disk} | shares)
    groups = pd.DataFrame(parts).groupby(["min_free_kbytes", "MB/s"])[["share", "by naps"]]
    return groups.agg(["min", "max"]).round(1)


def common(counter: str, mb_s: int) -> int:
    """A counter of a zone that every recorded run without the patch has the same, beside a disk.

    Parameters
    ----------
    counter : str
        `zone_0_dma_high`, for example.
    mb_s : int
        The speed of the disk; each had its own min_free_kbytes, and so its own watermarks.
    """
    [pages] = {int(first[counter]) for params, first in _read_once() if params.disk_mb_s == mb_s}
    return pages


def _size(first: pd.Series) -> float:
    free = [first.filter(regex=f"^zone_{node}_.*_free$").sum() for node in (0, 1)]
    return 100 * free[1] / sum(free)


def _kernel(first: pd.Series) -> dict[str, float]:
    taken = [first[f"read_pages_of_node{node}"] for node in (0, 1)]
    runs, naps = first["read_pageoutrun"], first["read_kswapd_high_wmark_hit_quickly"]
    return {"share": 100 * taken[1] / sum(taken), "runs": runs, "by naps": 100 * naps / runs}


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """Least, median and most of `beside()`, a row a disk and a source."""
    groups = table.groupby(["MB/s", "source"])[["share", "by naps"]]
    return groups.agg(["min", "median", "max"]).round(1)


def drawn(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw node 1's part of the pages, a dot a run of `beside()`; the rule is its part of memory.

    Parameters
    ----------
    table : DataFrame
        `beside()`.
    see : str
        Caption.
    """
    rows = table.assign(
        share=table["share"].round(1),
        size=table["size"].mean().round(1),
        disk=table["MB/s"].map(lambda speed: f"disk of {speed} MB/s"),
    )
    x = alt.X("share:Q", title="node 1's part of the pages, %", scale=alt.Scale(domain=[0, 60]))
    dots = (
        alt.Chart()
        .mark_point(filled=True, size=50, opacity=0.6, aria=False)
        .encode(
            x=x,
            y=alt.Y("source:N", title=None, sort=[KERNEL], axis=alt.Axis(labelLimit=0)),
            color=alt.Color(
                "source:N",
                legend=None,
                scale=alt.Scale(
                    domain=[KERNEL, *(f"model, {name}" for name in RULES)],
                    range=[BLACK, BLUE, VERMILLION],
                ),
            ),
        )
    )
    rule = alt.Chart().mark_rule(strokeDash=[4, 4], color=GREY).encode(x="mean(size):Q")
    above = alt.Header(labelOrient="top", labelAnchor="start", labelAngle=0)
    return (
        alt.layer(rule, dots, data=rows)
        .properties(width=420, height={"step": 26})
        .facet(row=alt.Row("disk:N", title=None, header=above))
        .properties(title=title("Two nodes, read once", see))
    )

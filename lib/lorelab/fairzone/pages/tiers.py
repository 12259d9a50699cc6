"""Recorded runs of `fairzone/tiers`, and beside those of 6.12 what the model makes of them.

The model gets the zones of the guest as a run began, reads as many pages, and has the run's mean
number of pages in a nap. How fast kswapd is compared with the disk, and how even the disk, is not
known of the guest; see `beside`.
"""

from itertools import product

import altair as alt
import numpy as np
import pandas as pd

from lorelab.fairzone.kernel.tiers import run
from lorelab.fairzone.model import nodes
from lorelab.fairzone.pages.beside import BURST, RATES, SPREADS, ZONELIST, zones_of
from lorelab.fairzone.pages.charts import BLACK, BLUE, VERMILLION
from lorelab.fairzone.params import Tiers
from lorelab.fairzone.workload import PAGES_A_MIB
from lorelab.fairzone.workload.files import FIXED_POINT
from lorelab.fairzone.workload.tiers import NAME, PARTS
from lorelab.lab import records
from lorelab.numerics import U
from lorelab.showing.charts import title

ZONES = ("0_dma", "0_dma32", "1_normal")
MODEL = "model"
MODELLED = "6.12.117"
"""The kernel that reads ahead page by page, as the model does."""
PGALLOC = ("dma", "dma32", "normal")
"""Zones, by the names that /proc/vmstat counts their pages under."""
BLOCK = 2 * PAGES_A_MIB
"""Pages of the largest folio that x86-64 has in the page cache, 2 MiB."""
NAP_MS = 100
"""kswapd's nap, HZ/10."""
SETTINGS = {
    "plain": {},
    "demotion": {"demotion": True},
    "demotion, promo mark": {"demotion": True, "promo_mark": True},
    "weighted interleave": {"interleave": True},
    "MGLRU": {"mglru": True},
    "MGLRU, demotion": {"mglru": True, "demotion": True},
}
"""What a page calls the settings of a run, in its order."""
FEW = 3
"""Up to so many runs have no median."""
SHARES = ("size", "far", "demoted", "stale", "by naps", "direct", "MB/s")


def setting(params: Tiers) -> str:
    """What a page calls it."""
    values = params.model_dump(include=("demotion", "promo_mark", "interleave", "mglru"))
    turned = {name: value for name, value in values.items() if value}
    return next(name for name, switches in SETTINGS.items() if switches == turned)


def measured() -> list[tuple[str, Tiers, pd.DataFrame]]:
    """Release, parameters, and counters of every recorded run: a row a repeat."""
    runs = []
    for release, params in records.others(NAME, Tiers):
        record = records.load(NAME, params, release=release)
        wide = record.counters.pivot_table(index="step", columns="counter", values="value")
        runs.append((release.partition("+")[0], params, wide))
    return runs


def kernel_shares(params: Tiers, counted: pd.Series) -> dict[str, float]:
    """What a run on a kernel came to once memory was full, in per cent but for `MB/s`.

    Returns
    -------
    dict
        `size`, the far node's part of the pages free at the start; `far`, its part of the pages as
        they are read; `demoted`, of the pages that the near node gave; `stale`, see `stale`; `by
        naps`, runs of kswapd begun at a nap's end; `direct`, of the pages reclaimed, those that a
        reader had to reclaim itself; `MB/s`, what was read in a second, where the record says it.
    """
    near, far = (counted.filter(regex=f"^zone_{node}_.*_free$").sum() for node in (0, 1))
    demoted = counted["read_pgdemote_kswapd"] + counted["read_pgdemote_direct"]
    into_far = counted["read_pgalloc_normal"] - demoted
    into_near = counted["read_pgalloc_dma"] + counted["read_pgalloc_dma32"]
    direct, all_ = (counted[f"read_pgsteal_{who}"] for who in ("direct", "kswapd"))
    return {
        "size": 100 * far / (near + far),
        "far": 100 * into_far / (into_far + into_near),
        "demoted": 100 * demoted / into_near,
        "stale": stale(counted.filter(like="read_cached_").sort_index().to_numpy(), params),
        "by naps": 100 * counted["read_kswapd_high_wmark_hit_quickly"] / counted["read_pageoutrun"],
        "direct": 100 * direct / (direct + all_),
    } | _pace(params, counted)


def _pace(params: Tiers, counted: pd.Series) -> dict[str, float]:
    # Not more than disk_mb_s, and less where the emulator is slower. Older records do not say.
    if "read_ms" not in counted:
        return {}
    mib = params.turnovers * (params.near_mib + params.far_mib)
    return {"MB/s": (mib << 20) / 1000 / counted["read_ms"]}


def beyond_blocks() -> pd.DataFrame:
    """Pages that each zone gave beyond a multiple of 2 MiB, in the runs without demotion.

    Returns
    -------
    DataFrame
        A row a run, by its release; a column a zone.
    """
    rows = [
        {"source": release}
        | {zone: int(counted[f"read_pgalloc_{zone}"]) % BLOCK for zone in PGALLOC}
        for release, params, wide in measured()
        if not params.demotion
        for _, counted in wide.iterrows()
    ]
    return pd.DataFrame(rows).set_index("source")


def dma() -> pd.DataFrame:
    """What `ZONE_DMA` gave in each recorded run, and the oldest part of the disk that is cached.

    Returns
    -------
    DataFrame
        A row a run, by `setting` and `source`; `filled` and `read`, pages that the zone gave as
        memory filled and as the disk was read on; `of node`, the latter in per cent of what node 0
        gave; `oldest`, cached pages of the first part with more than one, and `cached`, of all.
    """
    rows = []
    for release, params, wide in measured():
        for _, counted in wide.iterrows():
            parts = counted.filter(like="read_cached_").sort_index()
            read = counted["read_pgalloc_dma"]
            near = read + counted["read_pgalloc_dma32"]
            rows.append(
                {"setting": setting(params), "source": release}
                | {
                    "filled": counted["fill_pgalloc_dma"],
                    "read": read,
                    "of node": 100 * read / near,
                }
                | {"oldest": parts[parts > 1].iloc[0], "cached": parts.sum()}
            )
    return pd.DataFrame(rows).set_index(["setting", "source"])


def stale(cached: np.ndarray, params: Tiers) -> float:
    """Cached pages that one LRU of the same size would no longer hold, in per cent.

    Parameters
    ----------
    cached : (PARTS,) array
        Cached pages of each part, in the order in which they were read.
    params : Tiers
    """
    each = (1 + params.turnovers) * (params.near_mib + params.far_mib) * PAGES_A_MIB / PARTS
    total = cached.sum()
    # What the newest `total` pages of the disk have of each part.
    newest = np.clip(total - each * np.arange(PARTS)[::-1], 0, each)
    return float(100 * (1 - np.minimum(cached, newest).sum() / total))


def play(params: Tiers, first: pd.Series, spread: int, rate: float) -> tuple[dict, np.ndarray]:
    """The model's run on the zones of one of the kernel's: its shares, and what is cached of it."""
    zones = zones_of(first, ZONES)
    if params.promo_mark:
        zones["high"] += zones["high"] - zones["low"]
    request = run(params)
    fill, read = (phase["reads"][1] for phase in request["phases"])
    pause = round(NAP_MS * read / first["read_ms"])
    mm = nodes.make(
        zones,
        ZONELIST,
        pause,
        spread=pause * spread // 100,
        demotion=params.demotion,
        weights=tuple(request["weights"]) or (0, 0),
    )
    pace = U(BURST), round(rate * FIXED_POINT)
    nodes.read(mm, U(fill), *pace)
    before = mm.zone["allocated"].copy(), mm.kswapd.copy(), mm.info.copy()
    nodes.read(mm, U(read), *pace)
    near0, near1, far = (mm.zone["allocated"] - before[0]).astype(float)
    demoted = float(mm.info[nodes.DEMOTED] - before[2][nodes.DEMOTED])
    naps, woken = (
        int((mm.kswapd[name] - before[1][name]).sum())
        for name in ("high_wmark_hit_quickly", "woken")
    )
    cached = _cached(mm, fill + read)
    return {
        "far": 100 * far / (near0 + near1 + far),
        "demoted": 100 * demoted / (near0 + near1),
        "stale": stale(cached, params),
        "by naps": 100 * naps / max(1, naps + woken),
    }, cached


def _cached(mm: nodes.Nodes, pages: int) -> np.ndarray:
    size = mm.lru.shape[1]
    cached = [
        mm.number[node, (int(begins) + np.arange(int(many))) % size]
        for node, (begins, many) in enumerate(mm.ring)
    ]
    return np.histogram(np.concatenate(cached), PARTS, (0, pages))[0]


def table() -> pd.DataFrame:
    """Least and most of every recorded setting, and of the model's runs on the same zones.

    Returns
    -------
    DataFrame
        A row a `setting` and `source`; `runs`, and columns of `kernel_shares`, as text such as
        `12-15`, of more than `FEW` runs with their median; empty where it does not say.
    """
    rows = []
    for release, params, wide in measured():
        of = {"setting": setting(params)}
        for _, counted in wide.iterrows():
            rows.append(of | {"source": release} | kernel_shares(params, counted))
            if params.mglru or release != MODELLED:
                continue
            for rate, spread in product(RATES, SPREADS):
                shares, _ = play(params, counted, spread, rate)
                rows.append(of | {"source": MODEL} | shares)
    counted = pd.DataFrame(rows, columns=["setting", "source", *SHARES])
    runs = counted.groupby(["setting", "source"])[list(SHARES)]
    table = runs.agg(_range)
    table.insert(0, "runs", runs.size().astype(str))
    return table.reindex(SETTINGS, level="setting")


def _range(share: pd.Series) -> str:
    """Least and most of a group's runs; empty where these do not say."""
    if share.isna().all():
        return ""
    least, median, most = share.quantile([0, 0.5, 1]).round()
    if least == most:
        return f"{least:.0f}"
    return f"{least:.0f}-{most:.0f}" + (f", median {median:.0f}" if len(share) > FEW else "")


def ages() -> pd.DataFrame:
    """What is cached at the end, by how long ago it was read.

    Returns
    -------
    DataFrame
        `setting`, `source` (a release), `ago`, the middle of a part, in sizes of the memory,
        `cached`, in per cent of the part, the mean over the repeats.
    """
    parts = []
    for release, params, wide in measured():
        each = (1 + params.turnovers) * (params.near_mib + params.far_mib) * PAGES_A_MIB / PARTS
        ago = (1 + params.turnovers) * (PARTS - 0.5 - np.arange(PARTS)) / PARTS
        parts += [
            pd.DataFrame({"ago": ago, "cached": 100 * cached.to_numpy(float) / each}).assign(
                setting=setting(params), source=release
            )
            for _, cached in wide.filter(like="read_cached_").sort_index(axis=1).iterrows()
        ]
    by = ["setting", "source", "ago"]
    mean = pd.concat(parts).groupby(by, sort=False, as_index=False)["cached"].mean()
    return mean.assign(cached=mean["cached"].clip(upper=100).round(1))


def drawn(table: pd.DataFrame, settings: tuple[str, ...], see: str) -> alt.Chart:
    """Draw `ages()` of some settings, a panel each, a line a kernel."""
    rows = table[table["setting"].isin(settings)]
    used = sorted(rows["source"].unique())
    colours = (BLUE, VERMILLION, BLACK)[: len(used)]
    above = alt.Header(labelOrient="top", labelAnchor="start", labelAngle=0)
    return (
        alt.Chart(rows)
        .mark_line(interpolate="step", aria=False)
        .encode(
            x=alt.X("ago:Q", title="read so many memory sizes ago", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("cached:Q", title="still cached, %", scale=alt.Scale(domain=[0, 100])),
            color=alt.Color(
                "source:N", title="kernel", scale=alt.Scale(domain=used, range=list(colours))
            ),
        )
        .properties(width=460, height=80)
        .facet(row=alt.Row("setting:N", title=None, sort=list(settings), header=above))
        .properties(title=title("What is cached, by age", see))
    )

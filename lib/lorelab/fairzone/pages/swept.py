"""Hits of v1's reads over the speed of the disk and the size of memory, at points that are kept."""

import altair as alt
import pandas as pd

from lorelab.fairzone.pages.charts import BLACK, BLUE, ORANGE, PURPLE, VERMILLION
from lorelab.running.sweep import sensitivity
from lorelab.showing.charts import title

HITS = "200.0 * hits / touched"
"""Per cent of the reads that hit: `touched` counts writes and reads."""
SPEEDS = {"68.91": BLUE, "100.81": ORANGE, "120.95": VERMILLION, "132": BLACK}
"""Disks [MB/s]: 16, 2 and 1 threads of the thread's baseline, and the reviewer's cold read."""


def paces() -> pd.DataFrame:
    """Hits on disks of 50 to 180 MB/s, with 1 and 16 threads, and a spread of 1 % in each nap.

    Returns
    -------
    DataFrame
        A row a run: `disk_mb_s`, `threads`, `seed` (of the spread), `hits` in per cent.
    """
    ranges = ("variant=v1", "disk_mb_s=50:180", "threads=1,16", "nap_spread=1", "seed=1,2")
    return _sampled(ranges, 128, "disk")[["disk_mb_s", "threads", "seed", "hits"]]


def memories() -> pd.DataFrame:
    """Hits on 4.7 to 12 GiB with the layout of June 2014, on four disks.

    Returns
    -------
    DataFrame
        A row a run: `gib`, `disk` (in MB/s, as a name), `hits` in per cent.
    """
    ranges = (
        *("variant=v1", "below_4g_mib=2967", "mib=4800:12288"),
        f"disk_mb_s={','.join(SPEEDS)}",
    )
    points = _sampled(ranges, 64, "memory")
    disk = points["disk_mb_s"].map("{:g}".format)
    return pd.DataFrame({"gib": points["mib"] / 1024, "disk": disk, "hits": points["hits"]})


def _sampled(ranges: tuple[str, ...], number: int, name: str) -> pd.DataFrame:
    points = sensitivity.sampled(
        "fairzone/tiobench",
        (*ranges, "random_ops=0", "steps=1"),
        HITS,
        number,
        sensitivity.STORED / name,
    )
    return points.rename(columns={"result": "hits"})


def paces_chart(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw `paces`: a point a run."""
    threads = table["threads"].map({1: "1 thread", 16: "16 threads"})
    return (
        alt.Chart(table.assign(threads=threads).round(3))
        .mark_point(filled=True, size=45, opacity=0.8)
        .encode(
            x=alt.X("disk_mb_s:Q", title="disk, MB/s", scale=alt.Scale(domain=[50, 180])),
            y=alt.Y("hits:Q", title="reads that hit, %"),
            color=alt.Color(
                "threads:N",
                title=None,
                scale=alt.Scale(domain=["1 thread", "16 threads"], range=[VERMILLION, PURPLE]),
            ),
            shape=alt.Shape("seed:N", title="seed of the spread"),
        )
        .properties(width=480, height=220, title=title("Hits under v1, by the disk", see))
    )


def memories_chart(table: pd.DataFrame, see: str) -> alt.Chart:
    """Draw `memories`: a line a disk, a point a run."""
    return (
        alt.Chart(table.round(3))
        .mark_line(point=True)
        .encode(
            x=alt.X("gib:Q", title="managed memory, GiB", scale=alt.Scale(domain=[4.5, 12])),
            y=alt.Y("hits:Q", title="reads that hit, %"),
            color=alt.Color(
                "disk:N",
                title="disk, MB/s",
                scale=alt.Scale(domain=list(SPEEDS), range=list(SPEEDS.values())),
            ),
        )
        .properties(width=480, height=220, title=title("Hits under v1, by memory and disk", see))
    )

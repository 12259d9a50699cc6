"""Tables that the pages of the chapter show: several variants side by side."""

import pandas as pd

from lorelab.fairzone.experiments import inversion, tiobench
from lorelab.fairzone.figures import THREADS, speedup
from lorelab.fairzone.figures import tiobench as printed
from lorelab.fairzone.model import zones
from lorelab.fairzone.pages import simulated
from lorelab.fairzone.params import Inversion, Tiobench, Variant
from lorelab.fairzone.workload import machine
from lorelab.numerics import PAGE
from lorelab.params import label

QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")
"""Of the file, in `filling()`."""


def variants(params: Tiobench) -> pd.DataFrame:
    """Every variant on the same workload, one row each.

    Returns
    -------
    DataFrame
        Indexed by the variant's label: `size` and, for writes and reads, `share` of DMA32, in
        per cent; `hits` in per cent of the sequential reads; `passes` and `tests` an allocation of
        the reads; `resets` of the whole run.
    """
    rows = {}
    for variant in Variant:
        done = tiobench.run(params.model_copy(update={"variant": variant, "steps": 1}))
        phases = simulated.summary(done).set_index("phase")
        resets = done.count[:, tiobench.COUNTS.index("resets")].sum()
        rows[label(variant)] = {
            "size": 100 * phases.loc["read", "size"],
            "share, write": 100 * phases.loc["write", "share"],
            "share, read": 100 * phases.loc["read", "share"],
            "hits": 100 * phases.loc["read", "hits"],
            "passes": phases.loc["read", "passes"],
            "tests": phases.loc["read", "tests"],
            "resets": int(resets),
        }
    return pd.DataFrame(rows).T.rename_axis("variant")


def walks(table: pd.DataFrame) -> pd.DataFrame:
    """Passes and zone tests of `variants()`, a row each, as `charts.walks` takes them."""
    kinds = {"passes": "passes", "tests": "zones tested"}
    parts = [
        pd.DataFrame({"variant": table.index, "kind": kind, "each": table[column].round(3)})
        for column, kind in kinds.items()
    ]
    return pd.concat(parts, ignore_index=True)


def offsets(params: Tiobench, shown: list[Variant]) -> pd.DataFrame:
    """What of the file is cached where, at the end of each window of writes and of reads.

    Returns
    -------
    DataFrame
        As `charts.offset_map` takes it; `moment` 0 is when the read begins.
    """
    parts = []
    for variant in shown:
        done = tiobench.run(params.model_copy(update={"variant": variant}), maps=True)
        windows = done.windows
        windows = windows[(windows["pages"] > 0) & (windows["zone"] != "DMA")]
        reads = windows["phase"] == "read"
        moment = windows["window"].where(reads, windows["window"] - params.steps)
        whole = float(done.touched[0]) / tiobench.BUCKETS
        parts.append(
            pd.DataFrame(
                {
                    "variant": label(variant),
                    "moment": moment,
                    "offset": (100 / tiobench.BUCKETS * windows["offset"]).round(3),
                    "zone": windows["zone"],
                    "cached": (100 * windows["pages"] / whole).round(0),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    return table[table["cached"] > 0].reset_index(drop=True)


def filling(params: Tiobench, shown: list[Variant]) -> pd.DataFrame:
    """What each zone holds at the end of each window of writes and of reads.

    Returns
    -------
    DataFrame
        As `charts.filling` takes it: `variant`; `moment`, 0 when the read begins; `zone`; `holds`,
        a quarter of the file or `free`; `mib`.
    """
    parts = []
    for variant in shown:
        done = tiobench.run(params.model_copy(update={"variant": variant}), maps=True)
        windows = done.windows
        reads = windows["phase"] == "read"
        moment = windows["window"].where(reads, windows["window"] - params.steps)
        quarter = windows["offset"] * len(QUARTERS) // tiobench.BUCKETS
        contents = windows.assign(moment=moment, holds=quarter.map(dict(enumerate(QUARTERS))))
        contents = contents.groupby(["moment", "zone", "holds"], as_index=False)["pages"].sum()
        cached = contents.groupby(["moment", "zone"])["pages"].sum()
        managed = pd.Series(done.managed, done.zones)
        free = (cached.index.get_level_values("zone").map(managed) - cached).rename("pages")
        both = pd.concat([contents, free.reset_index().assign(holds="free")])
        parts.append(both.assign(variant=label(variant)))
    table = pd.concat(parts, ignore_index=True)
    table["mib"] = (table.pop("pages") * PAGE / 2**20).round()
    return table[(table["zone"] != "DMA") & (table["mib"] > 0)].reset_index(drop=True)


def rates(params: Inversion, shown: list[Variant]) -> pd.DataFrame:
    """DMA32's share of the allocations over the rate of kswapd, for several variants."""
    parts = []
    for variant in shown:
        counters = inversion.simulate(params.model_copy(update={"variant": variant}))
        wide = counters.pivot_table(index="step", columns="counter", values="value")
        taken = wide.filter(like="allocated_").sum(axis=1)
        parts.append(
            pd.DataFrame(
                {
                    "variant": label(variant),
                    "rate": wide["rate"].round(2),
                    "share": (100 * wide["allocated_dma32"] / taken).round(2),
                    "residency": (wide["residency_dma32"] / wide["residency_normal"]).round(2),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def naps(points: pd.DataFrame) -> pd.DataFrame:
    """How much the disk moves in a nap of kswapd, over what lies between low and high.

    Parameters
    ----------
    points : DataFrame
        Columns `disk_mb_s`, `mib`, `min_free_kib`, `zone_dma` (true or false), `result` (hits).

    Returns
    -------
    DataFrame
        A row a point: `part` (pages of a nap over the sum of high - low of all zones), `hits` in
        per cent, `zone_dma`.
    """
    parts = []
    for point in points.itertuples():
        managed = zones.managed_pages(point.mib, point.zone_dma)
        marks = zones.watermarks(managed, point.min_free_kib)
        between = sum(high - low for _, low, high in marks)
        parts.append(machine.nap_pages(point.disk_mb_s) / between)
    dma = points["zone_dma"].map({True: "with ZONE_DMA", False: "without"})
    table = pd.DataFrame({"part": parts, "hits": points["result"], "zone_dma": dma})
    return table.round(4).reset_index(drop=True)


def gains(params: Tiobench) -> pd.DataFrame:
    """Gain of v1's sequential reads by number of threads: printed, and from the model's hits.

    The disk is as fast as the thread has it for the baseline: for reads and for writes, with that
    number of threads.
    """
    table = printed().query("operation == 'seqread'").set_index("threads")
    speeds = printed().set_index(["operation", "threads"])["baseline"]
    rows = []
    for threads in THREADS:
        changes = {"variant": Variant.V1, "threads": threads, "steps": 1}
        changes |= {
            "disk_mb_s": speeds["seqread", threads],
            "write_mb_s": speeds["seqwrite", threads],
        }
        done = tiobench.run(params.model_copy(update=changes))
        hits = simulated.summary(done).set_index("phase").loc["read", "hits"]
        rows.append((threads, table.loc[threads, "percent"], "printed, 29 May 2014"))
        rows.append((threads, round(speedup(hits), 2), "the model's hits, at no cost"))
    return pd.DataFrame(rows, columns=["threads", "gain", "source"])

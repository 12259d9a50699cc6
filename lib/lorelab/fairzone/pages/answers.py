"""Tables of the page of answers, one function a question; the numbers are those of the page."""

from functools import cache
from itertools import product

import pandas as pd

from lorelab.experiments import experiment
from lorelab.fairzone import figures
from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.model import zones
from lorelab.fairzone.pages import simulated
from lorelab.fairzone.params import Batches, Boundary, Inversion, Tiobench, Variant
from lorelab.fairzone.workload import stream
from lorelab.fairzone.workload.machine import node_of
from lorelab.numerics import PAGE
from lorelab.params import label


def phases(params: Tiobench, **update: object) -> pd.DataFrame:
    """`simulated.summary()` by phase, of these parameters and what is different."""
    return simulated.summary(ran(params.model_copy(update=update))).set_index("phase")


def ran(params: Tiobench) -> tiobench.Run:
    """The run of these parameters, in windows of a phase each; made once."""
    return _ran(params.model_copy(update={"steps": 1}))


_ran = cache(tiobench.run)


def shared(params: Tiobench) -> pd.DataFrame:
    """1: DMA32's part of each phase's allocations and of memory, in per cent, a row a variant."""
    shown = (Variant.OFF, Variant.BASELINE, Variant.V1, Variant.JUNE_18, Variant.MERGED)
    tables = {label(v): phases(params, variant=v).loc[["write", "read"]] for v in shown}
    table = pd.DataFrame({name: 100 * rows["share"] for name, rows in tables.items()}).T
    return table.assign(size=100 * tables["v1"]["size"].iloc[0])


def fitting(params: Tiobench) -> pd.DataFrame:
    """1: the same for data that fits into memory, as posted on 18 June and in the model."""
    rows = {}
    for v, row in ((Variant.BASELINE, "vanilla"), (Variant.JUNE_18, "fairzone")):
        done = ran(params.model_copy(update={"variant": v, "data_percent": 80}))
        taken = dict(zip(done.zones, done.allocated.sum(axis=0), strict=True))
        low, high = (figures.figure(f"june18-{zone}-allocs-{row}") for zone in ("dma32", "normal"))
        model = taken["DMA32"] / (taken["DMA32"] + taken["Normal"])
        rows[label(v)] = {"posted": 100 * low / (low + high), "model": 100 * model}
    return pd.DataFrame(rows).T


def drift(cpus: int = 64) -> pd.DataFrame:
    """2: failed passes by cause, resets and DMA32's share [%], with counters a CPU and exact."""
    simulate = experiment("fairzone/batches").simulate
    columns = {}
    for exact in (False, True):
        params = Batches(cpus=cpus, threads=cpus, turn=1, exact=exact)
        counted = simulate(params).set_index("counter")["value"].astype(float)
        taken = counted[["allocated_dma32", "allocated_normal"]]
        counted["DMA32's share, %"] = 100 * taken["allocated_dma32"] / taken.sum()
        columns["exact" if exact else "per CPU"] = counted
    causes = ["failed_by_batch", "failed_by_watermark", "failed_by_both", "resets", "deferred"]
    return pd.DataFrame(columns).loc[[*causes, "DMA32's share, %"]].T


def drift_walks(cpus: int = 64) -> pd.DataFrame:
    """2: what drift costs each variant, with counters a CPU and with exact ones.

    `counted` says what: resets, second walks of the zonelist, or failures by the watermark alone.
    """
    counted = {
        "baseline": (Variant.BASELINE, "resets"),
        "v1-reachable": (Variant.V1_REACHABLE, "rescans"),
        "v3.13": (Variant.V3_13, "resets"),
        "merged": (Variant.MERGED, "failed_by_watermark"),
    }
    simulate = experiment("fairzone/batches").simulate
    rows = {}
    for name, (variant, counter) in counted.items():
        row = {"counted": counter}
        for exact in (False, True):
            params = Batches(variant=variant, cpus=cpus, threads=cpus, turn=1, exact=exact)
            values = simulate(params).set_index("counter")["value"]
            row["exact" if exact else "per CPU"] = int(values[counter])
        rows[name] = row
    return pd.DataFrame(rows).T


def read_back(params: Tiobench) -> pd.DataFrame:
    """3: hits of the reads in per cent: as posted, caches dropped, and data that fits."""
    cases = {
        "as posted": {},
        "caches dropped": {"workload": "drop-caches"},
        "80 % of memory": {"data_percent": 80},
    }
    pair = (Variant.BASELINE, Variant.V1)
    hits = {
        name: {label(v): 100 * phases(params, variant=v, **case).loc["read", "hits"] for v in pair}
        for name, case in cases.items()
    }
    return pd.DataFrame(hits).T


def repairs(params: Tiobench) -> pd.DataFrame:
    """4: off, v1 and its repairs side by side: shares, hits and walks of the reads."""
    cases = {
        "off": {"variant": Variant.OFF},
        "v1": {"variant": Variant.V1},
        "v1, asks local zones": {"variant": Variant.V1_LOCAL},
        "v1, asks reachable zones": {"variant": Variant.V1_REACHABLE},
        "v1, no ZONE_DMA": {"variant": Variant.V1, "zone_dma": False},
    }
    columns = ["share", "hits", "passes", "tests", "resets"]
    reads = {name: phases(params, **case).loc["read", columns] for name, case in cases.items()}
    return pd.DataFrame(reads).T.astype(float)


def resets_if_taken(params: Tiobench, pages: int) -> int:
    """4: resets of v1's whole run if something else has taken pages of ZONE_DMA before it."""
    params = params.model_copy(update={"variant": Variant.V1, "steps": 1})
    node = node_of(params, params.dirty_percent)
    node.zone["nr_alloc_batch"][0] -= pages
    done = tiobench.run_on(node, params)
    return int(done.count[:, tiobench.COUNTS.index("resets")].sum())


def dma_is_out_from(params: Tiobench) -> int:
    """4: least memory in MiB from which on ZONE_DMA never serves, at this `min_free_kib`."""
    mib = params.mib
    while not _dma_serves(mib - 1, params.min_free_kib):
        mib -= 1
    return mib


def _dma_serves(mib: int, min_free_kib: int) -> bool:
    managed = zones.managed_pages(mib, True)
    low = zones.watermarks(managed, min_free_kib)[0][1]
    return managed[0] > low + zones.lowmem_reserves(managed)[0, -1]


def stuck() -> pd.DataFrame:
    """5: 32 allocations with both zones below low: slow ones, resets, passes, tests."""
    simulate = experiment("fairzone/boundary").simulate
    rows = {
        label(v): simulate(Boundary(variant=v)).set_index("counter")["value"]
        for v in (Variant.BASELINE, Variant.V1, Variant.MERGED)
    }
    return pd.DataFrame(rows).T[["slow", "resets", "passes", "tests"]]


def both_low(params: Tiobench) -> tuple[int, int]:
    """5: fair passes that failed by watermarks alone, and allocations, of a whole run."""
    done = ran(params)
    failed = done.count[:, tiobench.COUNTS.index("failed_by_watermark")].sum()
    return int(failed), int(done.allocated.sum())


def two_files(params: Tiobench) -> pd.DataFrame:
    """7: hits of each read of two files in per cent, a column a kernel; `v4r8` is the reviewer's.

    The last series of June 2014 had the policy of `merged`, and a kswapd that kept no reserve.
    """
    cases = {
        "off": {"variant": Variant.OFF},
        "v4r8": {"variant": Variant.MERGED, "balance_reserves": False},
        "baseline": {"variant": Variant.BASELINE},
    }
    hits = {
        name: 100 * phases(params, workload="two-files", data_percent=110, **case)["hits"]
        for name, case in cases.items()
    }
    return pd.DataFrame(hits)


def second_file(params: Tiobench) -> pd.DataFrame:
    """7: hits of the last reading of each file in per cent, at each speed that a thread prints.

    Returns
    -------
    DataFrame
        A row a disk, indexed by `MB/s`: `whose`, and a column a kernel and a file.
    """
    speeds = [(figures.figure(f"seqread-{n}-baseline"), f"29 May, {n}") for n in figures.THREADS]
    speeds += [(figures.figure(f"v4r8-seqread-{n}-rc1"), f"1 July, {n}") for n in figures.THREADS]
    speeds.append((figures.figure("cold-read"), "2 July, cold"))
    rows = {}
    for speed, whose in sorted(speeds):
        hits = two_files(params.model_copy(update={"disk_mb_s": speed}))
        rows[speed] = {"whose": whose} | {
            f"{kernel}, file {file}": hits.loc[f"file {file}, read 5", kernel]
            for kernel in ("off", "v4r8")
            for file in (1, 2)
        }
    return pd.DataFrame(rows).T.rename_axis("MB/s")


def distances(params: Tiobench) -> pd.DataFrame:
    """8: DMA32's share and the hits of v1's reads, a row a `min_free_kbytes`."""
    sizes = (11429, 33792, 56000, 67584, 100000, 135168)
    reads = {kib: phases(params, variant=Variant.V1, min_free_kib=kib).loc["read"] for kib in sizes}
    wide = pd.DataFrame(reads).T[["share", "hits"]].astype(float)
    return wide.rename_axis("min_free_kbytes")


def factors(params: Tiobench) -> pd.DataFrame:
    """8: the same for v1, and the baseline's share, a row a `watermark_scale_factor` of 4.6."""
    rows = {}
    for factor in (10, 25, 42, 60, 100):
        v1, base = (
            phases(params, variant=v, watermark_scale_factor=factor).loc["read"]
            for v in (Variant.V1, Variant.BASELINE)
        )
        rows[factor] = {"share": v1["share"], "hits": v1["hits"], "baseline": base["share"]}
    return pd.DataFrame(rows).T.astype(float).rename_axis("watermark_scale_factor")


LAYOUTS = {2967: (4, 6, 8, 10, 12, 16, 32), 3584: (8, 12)}
"""MiB below 4 GiB (the machine of June 2014, and QEMU's until 1.7), and GiB of memory of each."""


def memories(params: Tiobench) -> pd.DataFrame:
    """9: v1 on x86-64 layouts: DMA32 is what lies below 4 GiB, however much there is above.

    Returns
    -------
    DataFrame
        Indexed by `below 4 GiB`, in MiB, and `GiB`: `size`, `share` of the reads and `hits` in per
        cent; `free`, GiB of DMA32 that are free when the run ends, and `fair`, those of the
        baseline.
    """
    rows = {}
    for below, sizes in LAYOUTS.items():
        for gib in sizes:
            mib = params.mib if gib == 8 else 1024 * gib - RESERVED_MIB
            update = {"mib": mib, "below_4g_mib": below, "steps": 1}
            ended = {
                v: _ended(params.model_copy(update=update | {"variant": v}))
                for v in (Variant.V1, Variant.BASELINE)
            }
            reads, free = ended[Variant.V1]
            row = {name: 100 * reads[name] for name in ("size", "share", "hits")}
            rows[below, gib] = row | {"free": free, "fair": ended[Variant.BASELINE][1]}
    return pd.DataFrame(rows).T.rename_axis(["below 4 GiB", "GiB"])


RESERVED_MIB = 219
"""Of 8 GiB the machine of June 2014 has so many that are not managed."""


def _ended(params: Tiobench) -> tuple[pd.Series, float]:
    node = node_of(params, params.dirty_percent)
    phases = simulated.summary(tiobench.run_on(node, params)).set_index("phase")
    dma32 = len(node.zone) - 2
    return phases.loc["read"], node.zone["free"][dma32] * PAGE / 2**30


def spreads(params: Tiobench) -> pd.DataFrame:
    """10: gain of v1's reads in per cent, if hits cost nothing, over the disk's spread.

    Returns
    -------
    DataFrame
        A row a number of threads, on the disk of the thread's own line: `printed`, then a column a
        spread in per cent.
    """
    reads, writes = (figures.gains(name, "baseline", "v1") for name in ("seqread", "seqwrite"))
    rows = {}
    for n in figures.THREADS:
        disk = {"disk_mb_s": reads.loc[n, "old"], "write_mb_s": writes.loc[n, "old"]}
        gains = {"printed": reads.loc[n, "percent"]}
        for spread in (0, 25, 50, 100):
            changes = {"variant": Variant.V1, "threads": n, "nap_spread": spread} | disk
            hits = phases(params, **changes).loc["read", "hits"]
            gains[spread] = figures.speedup(hits)
        rows[n] = gains
    return pd.DataFrame(rows).T.rename_axis("threads")


EIGHTH = Inversion(variant=Variant.OFF, mib=1024, min_free_kib=8448, zone_dma=False)
"""DMA32 and Normal of the machine of June 2014 made eight times smaller, and their marks."""


def sleeps() -> pd.DataFrame:
    """11: without a policy, how kswapd's runs begin and how long DMA32's pages stay.

    Memory is filled by reading, then twice its size is read; no page twice.

    Returns
    -------
    DataFrame
        Indexed by `nap`, whether kswapd naps on a disk of 16.5 MB/s, and `rate`, its pace: `by
        naps`, runs that began at a nap's end, and `by wakeups`; `pages per run`, pages given on
        average from one to the next; `residency`, how many times as long a page of DMA32 stays as
        one of Normal.
    """
    rows = {}
    for naps, rate in product(("yes", "no"), (1.02, 1.5, 3.0, 30.0)):
        params = EIGHTH.model_copy(update={"disk_mb_s": 16.5 if naps == "yes" else 0})
        mm, count, allocated = stream.run(params, rate, 200)
        counted = dict(zip(zones.COUNTS, count.tolist(), strict=True))
        stay = mm.node.zone["managed"] / allocated
        rows[naps, rate] = {
            "by naps": counted["high_wmark_hit_quickly"],
            "by wakeups": counted["wakeups"],
            "pages per run": allocated.sum() / counted["pageoutrun"],
            "residency": stay[-2] / stay[-1],
        }
    return pd.DataFrame(rows).T.rename_axis(["nap", "rate"])

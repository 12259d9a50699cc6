"""What the messages of June and July 2014 state, weighed as `checks` weighs the thread.

Shares on the machine of June are compared as numbers. Of the reviewer's machine it is printed that
DMA32 gets 40 % of the baseline's allocations, and that its file system is ext4; the model takes
that for DMA32's part of memory, and the size of June for the whole.
"""

from collections.abc import Callable
from functools import cache

import pandas as pd

from lorelab.fairzone import figures
from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.figures import figure
from lorelab.fairzone.pages import simulated
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.thread.checks import NO_HITS, WITHIN, near, ran, weighed_gains
from lorelab.fairzone.workload.machine import node_of
from lorelab.judging.claims import ClaimVerdict, Weigh, Weighed
from lorelab.numerics import PAGE


def posted(rows: str, kernel: str) -> float:
    """DMA32's part of what rows `ROWS` count for a kernel; `{}` stands for the zone."""
    low, high = (figure(f"{rows.format(zone)}-{kernel}") for zone in ("dma32", "normal"))
    return low / (low + high)


def whole(run: pd.DataFrame) -> float:
    """DMA32's part of the allocations of all phases."""
    pages = run["allocated"]
    return (run["share"].fillna(0) * pages).sum() / pages.sum()


def size() -> float:
    """DMA32's part of DMA32 and Normal on the machine of June."""
    return figure("managed-dma32") / (figure("managed-dma32") + figure("managed-normal"))


def reviewers(row: str = "v4r8-split-rc1") -> dict[str, int]:
    """Zones of the reviewer's machine: DMA32 has what it gets of the baseline's allocations."""
    return {"below_4g_mib": round(Tiobench().mib * figure(row) / 100)}


def verdict_of_share(model: float, share: float, of: float) -> ClaimVerdict:
    """How a share in the model bears out one that was posted, of a zone with part `of` of memory.

    A posted share was measured: where the model has another, the model is off.

    Parameters
    ----------
    model, share, of : float
        The same number: within 5 %. Another number: within a factor of two, and both below `of`.
    """
    if abs(model - share) <= WITHIN * share:
        return ClaimVerdict.HOLDS
    beside = near(model, share) and max(model, share) < of
    return ClaimVerdict.OTHER_NUMBER if beside else ClaimVerdict.NOT_TESTABLE


def worst(verdicts: list[ClaimVerdict]) -> ClaimVerdict:
    """The one that says least for a claim."""
    return max(
        verdicts,
        key=(ClaimVerdict.HOLDS, ClaimVerdict.OTHER_NUMBER, ClaimVerdict.NOT_TESTABLE).index,
    )


def with_caveat(verdict: ClaimVerdict, why: str, evidence: dict[str, object]) -> Weighed:
    """The same, and said in words where the model is off."""
    off = (
        "The model is off, so this decides nothing. "
        if verdict == ClaimVerdict.NOT_TESTABLE
        else ""
    )
    return Weighed(verdict, off + why, evidence)


def weigh_reads(
    *rows: str,
    threads: tuple[int, ...],
    variant: Variant,
    zones: Callable[[], dict[str, int]] = dict,
    **fields: object,
) -> Weigh:
    """Weigh gains of sequential reads by their arithmetic, and by what the model finds cached.

    Parameters
    ----------
    *rows : str
        As `figures.gains` takes them.
    threads : tuple of int
        Lines of the table that are weighed together.
    variant, fields
        Of the model's run.
    zones : callable
        Gives those of another machine than that of June.
    """

    def weigh() -> Weighed:
        table = figures.gains(*rows).loc[list(threads)]
        hits = hits_by_threads(*rows[:2], variant, **fields, **zones())
        return _weighed_hits(table, hits, figures.follows(table))

    return weigh


def _weighed_hits(table: pd.DataFrame, hits: dict[int, float], follow: bool) -> Weighed:
    evidence = needed(table) | {f"hits in the model, {n}": hits[n] for n in table.index}
    pairs = {n: (figures.speedup(hits[n]), gain) for n, gain in figures.printed(table).items()}
    return weighed_gains(pairs, evidence, follow)


def hits_by_threads(series: str, old: str, variant: Variant, **fields: object) -> dict[int, float]:
    """Hits of the model's reads, each number of threads on the disk of its own line."""
    return {
        n: ran(variant, **disk, **fields).loc["read", "hits"]
        for n, disk in disks(series, old).items()
    }


def disks(series: str, old: str) -> dict[int, dict[str, float]]:
    """Fields of a run with data and disk as printed, by number of threads.

    Where a message prints no writes, the disk writes as fast as it reads.
    """
    data = round(100 * figure("data-size"))
    reads, writes = figures.gains(series, old, old)["old"], figures.writes(series, old)
    return {
        n: {"threads": n, "data_percent": data, "disk_mb_s": speed}
        | ({"write_mb_s": writes[n]} if writes else {})
        for n, speed in reads.items()
    }


def needed(table: pd.DataFrame) -> dict[str, object]:
    """Hits that each gain needs, and the gains as printed, by the lines of the table."""
    hits = {f"SeqRead-{n} needs hits": value for n, value in table["hits"].items()}
    printed = table["percent"].dropna()
    return hits | {f"SeqRead-{n} printed %": value for n, value in printed.items()}


def weigh_other_kernel(
    series: str,
    old: str,
    *new: str,
    why: str = "The model has neither the I/O scheduler nor the kswapd of 3.0.",
) -> Weigh:
    """Weigh gains of kernels whose change the model doesn't have: by their arithmetic alone."""

    def weigh() -> Weighed:
        tables = {kernel: figures.gains(series, old, kernel) for kernel in new}
        evidence = {}
        for kernel, table in tables.items():
            mark = f"{kernel}, " if len(new) > 1 else ""
            evidence |= {f"{mark}{name}": value for name, value in needed(table).items()}
        follow = all(figures.follows(table) for table in tables.values())
        verdict = ClaimVerdict.ARITHMETIC if follow else ClaimVerdict.CONTRADICTED
        return Weighed(verdict, why, evidence)

    return weigh


@cache
def big_batches(**fields: float) -> pd.DataFrame:
    """The baseline with batches of managed/4, and nothing else of 18 June."""
    params = Tiobench(steps=1, **fields)
    node = node_of(params, params.dirty_percent)
    node.zone["batch"] = node.zone["nr_alloc_batch"] = node.zone["managed"] >> 2
    return simulated.summary(tiobench.run_on(node, params)).set_index("phase")


def weigh_big_batches(*rows: str, threads: tuple[int, ...]) -> Weigh:
    """Weigh throughput of batches of managed/4, for which no gain is printed."""

    def weigh() -> Weighed:
        table = figures.gains(*rows).loc[list(threads)]
        return _weighed_hits(table, hits_of_big_batches(), bool((table["hits"] > 0).all()))

    return weigh


def hits_of_big_batches() -> dict[int, float]:
    """Hits of those batches on the reviewer's machine, by number of threads."""
    return {
        n: big_batches(**disk, **reviewers()).loc["read", "hits"]
        for n, disk in disks("big-seqread", "rc1").items()
    }


def larger(disk_mb_s: float) -> pd.DataFrame:
    """Those batches on the reviewer's machine, with one thread and data as printed."""
    data = round(100 * figure("data-size"))
    return big_batches(disk_mb_s=disk_mb_s, data_percent=data, threads=1, **reviewers())


def weigh_big_velocity() -> Weighed:
    shares = {name: posted("big-velocity-{}", name) for name in ("3.0", "rc1", "bigbatches")}
    large = larger(figure("big-seqread-1-rc1")).loc["read", "share"]
    base = ran(Variant.BASELINE, **reviewers()).loc["read", "share"]
    evidence = {f"posted, {name}": share for name, share in shares.items()}
    evidence |= {"reads of the model, baseline": base, "managed/4": large}
    if shares["bigbatches"] >= (1 - WITHIN) * shares["rc1"]:
        return Weighed(ClaimVerdict.CONTRADICTED, "The printed part does not fall.", evidence)
    falls = large < (1 - WITHIN) * base and near(large, shares["bigbatches"])
    return with_caveat(
        ClaimVerdict.OTHER_NUMBER if falls else ClaimVerdict.NOT_TESTABLE,
        "DMA32's part of the reads, with 40 % of memory in DMA32 as on the reviewer's machine.",
        evidence,
    )


def weigh_in_core() -> Weighed:
    """Shares of data that fits into memory: the vanilla kernel's, and the patch of 18 June's."""
    evidence: dict[str, object] = {"size": size()}
    verdicts = []
    modelled = {"vanilla": Variant.BASELINE, "fairzone": Variant.JUNE_18}
    for kernel, variant in modelled.items():
        share, model = posted("june18-{}-allocs", kernel), whole(ran(variant, data_percent=80))
        evidence |= {f"{kernel}, posted": share, f"{kernel}, model": model}
        verdicts.append(verdict_of_share(model, share, size()))
    evidence["cfq600, posted"] = posted("june18-{}-allocs", "cfq600")
    falls = evidence["fairzone, model"] < (1 - WITHIN) * evidence["vanilla, model"]
    return with_caveat(
        worst(verdicts) if falls else ClaimVerdict.NOT_TESTABLE,
        "Shares of the model and the posted ones, for data of 80 % of memory.",
        evidence,
    )


def weigh_in_core_v4() -> Weighed:
    """The same shares for v4, where nothing is reclaimed."""
    shares = {name: posted("july1-{}-allocs", name) for name in ("vanilla", "fairzone")}
    v4 = {"variant": Variant.MERGED, "balance_reserves": False}
    model = {"vanilla": {"variant": Variant.BASELINE}, "fairzone": v4}
    model = {name: whole(ran(data_percent=80, **changes)) for name, changes in model.items()}
    evidence = {f"{name}, posted": share for name, share in shares.items()}
    evidence |= {f"{name}, model": share for name, share in model.items()}
    same = [verdict_of_share(model[name], shares[name], size()) for name in shares]
    return with_caveat(worst(same), "Shares of the model and the posted ones.", evidence)


def weigh_in_core_3_0() -> Weighed:
    share = posted("june18-{}-allocs", "3.0")
    model = whole(ran(Variant.OFF, data_percent=80))
    return with_caveat(
        verdict_of_share(model, share, size()),
        "Without a policy DMA32 takes less in the model too; its kswapd is that of 3.15, not 3.0.",
        {"posted": share, "off, model": model, "size": size()},
    )


def weigh_static() -> Weighed:
    """DMA32's part of all allocations, as posted and with a kswapd without reserves."""
    shares = {name: posted("june27-{}-allocs", name) for name in ("checklow", "fairzone")}
    model = {
        "checklow": ran(Variant.BASELINE, balance_reserves=False),
        "fairzone": ran(Variant.JUNE_25, balance_reserves=False),
    }
    evidence: dict[str, object] = {"size": size()}
    verdicts = []
    for name, share in shares.items():
        taken = whole(model[name])
        evidence |= {f"{name}, posted": share, f"{name}, model": taken}
        # A page survives a cycle of twice the memory if its zone takes less than half its part.
        verdicts.append(verdict_of_share(taken, share, size() / 2))
        low, high = (figure(f"june27-{zone}-allocs-{name}") for zone in ("dma32", "normal"))
        rate = (low + high) * PAGE / figure(f"june27-elapsed-{name}") / 1e6
        evidence |= {f"{name}, fillings of DMA32": low / figure("managed-dma32")}
        evidence |= {f"{name}, allocations of that run, MB/s": rate}
    return with_caveat(
        worst(verdicts),
        "A kswapd that keeps no reserve free never turns to DMA32 once it is full. Normal's posted "
        "allocations can't be page cache alone: no disk of the threads reads that fast.",
        evidence,
    )


def weigh_no_dma() -> Weighed:
    """Whether ZONE_DMA of the machine of June can serve."""
    allocs = sum(figure(f"june27-dma-allocs-{name}") for name in ("checklow", "fairzone"))
    above = figure("managed-dma32") + figure("managed-normal")
    reserve = above // 256
    model = ran(Variant.JUNE_25, balance_reserves=False)["dma"].sum()
    evidence = {"posted": allocs, "managed": figure("managed-dma"), "reserve": reserve}
    never = allocs == model == 0 and figure("managed-dma") <= reserve
    return Weighed(
        ClaimVerdict.HOLDS if never else ClaimVerdict.CONTRADICTED,
        "All of ZONE_DMA is within what it keeps from allocations that Normal could serve.",
        evidence | {"model": int(model)},
    )


def weigh_system_time() -> Weighed:
    evidence = {}
    for machine in ("uma", "numa"):
        vanilla, kswapd, both = (
            figure(f"june30-system-{machine}-{name}")
            for name in ("vanilla", "checklow", "fairzone")
        )
        evidence[f"{machine}, kswapd patch %"] = 100 * (kswapd / vanilla - 1)
        evidence[f"{machine}, fair-zone patch on top %"] = 100 * (both / kswapd - 1)
    saved = {
        of: figure(f"june30-{of}-vanilla") - figure(f"june30-{of}-fairzone")
        for of in ("user", "system-uma", "elapsed")
    }
    evidence["uma, user and system time saved, s"] = saved["user"] + saved["system-uma"]
    evidence["uma, elapsed time saved, s"] = saved["elapsed"]
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "The model counts walks and has no time; iterations and spread are not given.",
        evidence | {"zone tests, 25 June to baseline": fewer_tests(Variant.JUNE_25)},
        judgement=True,
    )


def fewer_tests(variant: Variant) -> float:
    """Zone tests of a variant over those of the baseline, of the sequential reads and writes."""
    tests = [ran(v).loc[["write", "read"], "tests"].sum() for v in (variant, Variant.BASELINE)]
    return tests[0] / tests[1]


def weigh_merged_numa() -> Weighed:
    before, vmstat, both = (
        figure(f"merged-system-numa-{name}") for name in ("vanilla", "vmstat", "lowercost")
    )
    evidence = {"both patches %": 100 * (both / before - 1)}
    evidence |= {"vmstat patch %": 100 * (vmstat / before - 1)}
    evidence |= {"this one on top %": 100 * (both / vmstat - 1)}
    varies = min(vmstat, both) < before
    return Weighed(
        ClaimVerdict.ARITHMETIC if varies else ClaimVerdict.CONTRADICTED,
        "The changelog prints the column of the patch before beside its own, and says why they "
        "differ; what this patch saves by itself can't be read from them.",
        evidence,
    )


def weigh_merged_uma() -> Weighed:
    saved = 100 * (1 - fewer_tests(Variant.MERGED))
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "The changelog does not say of what the benefit is a part; the model counts zone tests.",
        {"printed %": figure("merged-benefit-uma"), "zone tests saved %": saved},
        judgement=True,
    )


def weigh_without_class_zone() -> Weighed:
    """The series of v4r8 without its kswapd that keeps no reserves."""
    table = figures.gains("v4r8-seqread", "rc1", "classzone")
    speed = table["old"].iloc[0]
    reads = ran(Variant.MERGED, disk_mb_s=speed, **reviewers()).loc["read"]
    share = posted("v4r8-velocity-{}", "classzone")
    evidence = needed(table) | {"hits in the model": reads["hits"]}
    evidence |= {"DMA32's velocity, posted": share, "its share in the model": reads["share"]}
    none = figures.follows(table) and reads["hits"] < NO_HITS
    small = bool((table["percent"].abs() < 1).all())
    return Weighed(
        ClaimVerdict.HOLDS if none and small else ClaimVerdict.CONTRADICTED,
        "A kswapd that keeps the reserves free leaves nothing to be read back in the model.",
        evidence,
    )


def weigh_velocity() -> Weighed:
    """Whether DMA32 stands still under v4r8, and does not under the kernel before."""
    rows = "v4r8-velocity-{}"
    total = {
        name: sum(figure(f"v4r8-velocity-{zone}-{name}") for zone in ("dma32", "normal"))
        for name in ("rc1", "series")
    }
    shares = {name: posted(rows, name) for name in ("rc1", "series")}
    still = ran(Variant.MERGED, balance_reserves=False, **reviewers()).loc["read", "share"]
    base = ran(Variant.BASELINE, **reviewers()).loc["read", "share"]
    evidence = {f"posted, {name}": share for name, share in shares.items()}
    evidence |= {"reads of the model, baseline": base, "reads, v4r8": still}
    evidence |= {"pages scanned a second, v4r8 to rc1": total["series"] / total["rc1"]}
    return with_caveat(
        verdict_of_share(still, shares["series"], base),
        "Once DMA32 is full, kswapd never turns to it.",
        evidence,
    )


def weigh_preserved() -> Weighed:
    """Whether pages of the lower zone are preserved while a file is read under v4r8."""
    node = node_of(Tiobench(), Tiobench().dirty_percent)
    _, dma32, normal = range(3)
    zone = node.zone[dma32]
    last = int(zone["low"] + node.lowmem_reserve[dma32, normal])
    scanned = figure("v4r8-velocity-dma32-series")
    share = ran(Variant.MERGED, balance_reserves=False, **reviewers()).loc["read", "share"]
    evidence = {
        "June, free where the allocator stops": last,
        "June, free below which kswapd begins": int(zone["high"]),
        "reads of the model": share,
        "velocity, posted": scanned,
    }
    if scanned > 0:
        return Weighed(ClaimVerdict.CONTRADICTED, "The printed scan reaches the zone.", evidence)
    return with_caveat(
        ClaimVerdict.HOLDS if share == 0 and last > zone["high"] else ClaimVerdict.NOT_TESTABLE,
        "The concern holds for these reads, and the reason against it does not: the interleaving "
        "stops at low and the reserve, and this is above high, where kswapd would begin, as the "
        "reviewer wrote the same day. So nothing is rotated, in the model and in his run. Other "
        "workloads were not tried.",
        evidence,
    )


def weigh_xfs() -> Weighed:
    alone = figures.printed(figures.gains("june25-seqread", "vanilla", "checklow"))
    return Weighed(
        ClaimVerdict.NOT_TESTABLE,
        "No number for xfs is printed, and the model has no file system.",
        {f"SeqRead-{n} on ext3 %": gain for n, gain in alone.items()},
        judgement=True,
    )


def weigh_split() -> Weighed:
    """DMA32's part of all allocations: it is filled once and then left alone."""
    old, new = (figure(f"v4r8-split-{name}") / 100 for name in ("rc1", "series"))
    model = whole(ran(Variant.MERGED, balance_reserves=False, **reviewers()))
    # Of 2 RAM written and 2 RAM read, less what is read back, a static zone takes its size once.
    closed = old / (4 - old)
    evidence = {"posted": new, "filled once": closed, "model": model}
    return with_caveat(
        verdict_of_share(closed, new, old) if model < old / 2 else ClaimVerdict.NOT_TESTABLE,
        "A zone of 40 % that is filled once takes this part of what is written and read.",
        evidence,
    )


def weigh_peak() -> Weighed:
    """Whether reads at the peak of 2 July are faster than the disk was without a cache."""
    cold, peak = figure("cold-read"), figure("seqreadv4-peak")
    evidence = {"cold, MB/s": cold, "hits it needs": figures.hit_fraction(cold, peak)}
    evidence["a static zone has"] = size() / 2
    possible = 0 < evidence["hits it needs"] <= evidence["a static zone has"]
    return Weighed(
        ClaimVerdict.ARITHMETIC if possible else ClaimVerdict.CONTRADICTED,
        "More than the disk gives, and no more than a DMA32 that stands still makes of it.",
        evidence,
    )

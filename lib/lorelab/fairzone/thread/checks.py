"""What the claims of the fair-zone thread are weighed against: figures, and runs of the model.

Each `weigh_` function takes nothing and returns a `Weighed`; `claims` says which claim it weighs.
The verdicts follow from the evidence: change a figure or the model, and they move.
"""

from functools import cache

import numpy as np
import pandas as pd

from lorelab.fairzone import figures
from lorelab.fairzone.experiments import batches, boundary, tiobench
from lorelab.fairzone.model import zones
from lorelab.fairzone.model.page_alloc import alloc_fast, reset_alloc_batches
from lorelab.fairzone.model.zones import COUNTS, NONE
from lorelab.fairzone.pages import simulated
from lorelab.fairzone.params import Batches, Boundary, Tiobench, Variant
from lorelab.judging.claims import ClaimVerdict, Weigh, Weighed
from lorelab.numerics import U

NO_HITS = 0.002
"""Part of the reads below which there are no hits but those of the few random operations."""
NOISE = 1.0
"""Mean gain in per cent below which an operation is in the noise."""
BEGINNING = 0.01
"""Part of a file that is its beginning."""
WITHIN = 0.05
"""Deviation up to which two shares are the same, as between model and kernel."""
FACTOR = 2.0
"""Between model and print; where they are further apart the model is off and decides nothing."""


def factor(model: float, printed: float) -> float:
    """How many times as large the model's number is as the printed one; inf beside a 0."""
    if printed == 0:
        return 1.0 if model == 0 else np.inf
    return model / printed


def near(model: float, printed: float) -> bool:
    """Whether two numbers are within `FACTOR` of each other."""
    return 1 / FACTOR <= factor(model, printed) <= FACTOR


@cache
def ran(variant: Variant, **fields: object) -> pd.DataFrame:
    """Phases of `fairzone/tiobench` on the machine of June 2014.

    As `simulated.summary` has it, with `resets`, `allocated` and `dma`, pages of ZONE_DMA.
    """
    done = tiobench.run(Tiobench(variant=variant, steps=1, **fields))
    summed = {
        "resets": done.count[:, COUNTS.index("resets")],
        "allocated": done.allocated.sum(axis=1),
        "dma": done.allocated[:, done.zones.index("DMA")],
    }
    return simulated.summary(done).assign(**summed).set_index("phase")


@cache
def at_the_boundary(variant: Variant) -> dict[str, float]:
    """Counters of `fairzone/boundary`, with the batches that the answer names."""
    high, low = (int(figures.figure(f"boundary-after-{zone}")) for zone in ("high", "low"))
    params = Boundary(variant=variant, high_batch=high, low_batch=low)
    return boundary.simulate(params).set_index("counter")["value"].to_dict()


def weigh_cell(operation: str, threads: int) -> Weigh:
    """Weigh a gain of the table: by its arithmetic, and reads by what the model finds cached."""

    def weigh() -> Weighed:
        table = figures.tiobench().set_index(["operation", "threads"])
        row = table.loc[operation, threads]
        evidence = {"printed %": row["percent"], "from %": row["low"], "to %": row["high"]}
        if not figures.follows(row):
            return Weighed(ClaimVerdict.CONTRADICTED, "The means give another gain.", evidence)
        if operation != "seqread":
            why = "The means leave this gain; the spread, without which it says little, is missing."
            return Weighed(ClaimVerdict.ARITHMETIC, why, evidence)
        speeds = {
            "disk_mb_s": row["baseline"],
            "write_mb_s": table.loc[("seqwrite", threads), "baseline"],
        }
        data = round(100 * figures.figure("data-size"))
        done = ran(Variant.V1, threads=threads, data_percent=data, **speeds)
        hits = done.loc["read", "hits"]
        gain = figures.speedup(hits)
        evidence |= {"hits it needs": row["hits"], "hits in the model": hits, "then %": gain}
        return weighed_gains({threads: (gain, row["percent"])}, evidence)

    return weigh


def weighed_gains(
    gains: dict[int, tuple[float, float]], evidence: dict[str, object], follow: bool = True
) -> Weighed:
    """Weigh gains of the model against printed ones, by number of threads, in per cent.

    `follow`: whether the printed gains are those of the printed means.
    """
    if not follow:
        return Weighed(ClaimVerdict.CONTRADICTED, "The means give other gains.", evidence)
    off = {n: factor(*pair) for n, pair in gains.items() if not near(*pair)}
    evidence = evidence | {f"model to print, {n}": factor(*pair) for n, pair in gains.items()}
    if all(gain < figures.speedup(NO_HITS) for gain, _ in gains.values()):
        return Weighed(ClaimVerdict.NOT_TESTABLE, "The model finds nothing cached.", evidence)
    if off:
        factors = ", ".join(
            f"{times:.2g} times the printed one with {n}" for n, times in off.items()
        )
        why = f"The model's gain is {factors} threads, so the model decides nothing."
        return Weighed(ClaimVerdict.NOT_TESTABLE, why, evidence)
    low, high = (pick(factor(*pair) for pair in gains.values()) for pick in (min, max))
    factors = f"{low:.1f}" if low == high else f"{low:.1f} to {high:.1f}"
    why = f"The model's gain, if hits cost nothing, is {factors} times the printed one."
    return Weighed(ClaimVerdict.OTHER_NUMBER, why, evidence)


def weigh_noise() -> Weighed:
    means = figures.geometric_means().drop("seqread")
    evidence = {f"{name} %": value for name, value in means.items()}
    small = bool((means.abs() < NOISE).all())
    return Weighed(
        ClaimVerdict.ARITHMETIC if small else ClaimVerdict.CONTRADICTED,
        "Their mean gains are below 1 %; what the noise is, the message does not say.",
        evidence,
    )


def weigh_streaming() -> Weighed:
    """Whether streaming readers gain more than the same message calls noise, and from what."""
    warm, cold = (
        {v: ran(v, **changes).loc["read", "hits"] for v in (Variant.BASELINE, Variant.V1)}
        for changes in ({}, {"workload": "drop-caches"})
    )
    gain = figures.geometric_means()["seqread"]
    evidence = {"mean gain, printed, %": gain}
    evidence |= {f"hits, {v.name.lower()}": hits for v, hits in warm.items()}
    evidence |= {f"hits, {v.name.lower()}, caches dropped": hits for v, hits in cold.items()}
    boost = gain > NOISE and warm[Variant.V1] > NO_HITS
    only = (
        " With caches dropped the model has no gain; every kernel that the reviewer tried on 2 "
        "July, v1 not among them, read at 132 MB/s."
    )
    return Weighed(
        ClaimVerdict.HOLDS if boost else ClaimVerdict.CONTRADICTED,
        f"It does as the benchmark was run, by {gain:.0f} % on average; huge is the message's word."
        + (only if not any(cold.values()) else ""),
        evidence,
    )


def weigh_reset_below_watermark() -> Weighed:
    counters = at_the_boundary(Variant.BASELINE)
    evidence = {name: counters[name] for name in ("slow", "resets", "passes")}
    each = counters["resets"] == counters["slow"] > 0
    return Weighed(
        ClaimVerdict.HOLDS if each else ClaimVerdict.CONTRADICTED,
        "With both zones below low and batch left in both, every allocation resets.",
        evidence,
    )


def weigh_full_before() -> Weighed:
    """The first half of the answer's case: nothing may be taken, and a reset takes place."""
    high, low = (int(figures.figure(f"boundary-before-{zone}")) for zone in ("high", "low"))
    params = Boundary(high_batch=high, low_batch=low, low_above=1, allocations=1)
    values = boundary.simulate(params).set_index("counter")["value"]
    names = ("failed_fair_passes", "failed_by_both", "resets", "slow")
    evidence = {name: int(values[name]) for name in names}
    return Weighed(
        ClaimVerdict.HOLDS
        if values["resets"] == values["failed_by_both"] == 1
        else ClaimVerdict.CONTRADICTED,
        "One zone is skipped for its watermark and the other for its batch; then all are reset.",
        evidence,
    )


def weigh_reset_before_remote() -> Weighed:
    """A baseline with a free remote node: whether its fallback resets local batches."""
    node = zones.make([0, 5000, 9000], Variant.BASELINE, 2, 512, True, remote=[0, 0, 9000])
    local = node.zone["node"] == 0
    node.zone["free"][local] = node.zone["low"][local]
    served = alloc_fast(node, U(0), False)
    resets = int(node.count[COUNTS.index("resets")])
    remote = served != NONE and int(node.zone["node"][int(served)]) == 1
    evidence = {"resets": resets, "served by the remote node": bool(remote)}
    return Weighed(
        ClaimVerdict.HOLDS if resets and remote else ClaimVerdict.CONTRADICTED,
        "A fallback to another node is preceded by a reset of the local batches.",
        evidence,
    )


def weigh_reset_to_zero() -> Weighed:
    """Whether a reset leaves a counter that was high close to 0."""
    node = zones.make([0, 500_000, 900_000], Variant.BASELINE, 2, 67584, True)
    batch = node.zone["batch"].copy()
    node.zone["nr_alloc_batch"] = [0, batch[1] - 10]
    reset_alloc_batches(node, U(0))
    after = node.zone["nr_alloc_batch"]
    evidence = {"before": int(batch[1] - 10), "after": int(after[1]), "batch": int(batch[1])}
    return Weighed(
        ClaimVerdict.CONTRADICTED if np.array_equal(after, batch) else ClaimVerdict.HOLDS,
        "The reset adds what is missing, so every counter is the whole batch afterwards. What a "
        "CPU has not folded yet stays out of it, up to its threshold.",
        evidence,
    )


def weigh_imbalance() -> Weighed:
    """Whether the baseline's zones are used by their sizes although resets come early."""
    base, merged = ran(Variant.BASELINE), ran(Variant.MERGED)
    printed = {name: figures.figure(f"june30-dma32-{name}") / 100 for name in ("share", "size")}
    evidence = {
        "resets, baseline": int(base["resets"].sum()),
        "resets, merged": int(merged["resets"].sum()),
        "share, baseline": base.loc["read", "share"],
        "share, merged": merged.loc["read", "share"],
        "size": base.loc["read", "size"],
    }
    evidence |= {f"{name}, 30 June": part for name, part in printed.items()}
    pairs = {"model": base.loc["read", ["share", "size"]], "printed": pd.Series(printed)}
    even = all(abs(one["share"] / one["size"] - 1) <= WITHIN for one in pairs.values())
    return Weighed(
        ClaimVerdict.HOLDS if even else ClaimVerdict.CONTRADICTED,
        "So he measured, and prints again on 30 June. In the model, too, the baseline's shares are "
        "those of size, though it resets more often than batches are used up. He added that it "
        '"might really depend on the machine, and definitely on the workload".',
        evidence,
    )


def weigh_drift() -> Weighed:
    """What counters that drift change: walks and resets, and the shares."""
    evidence: dict[str, object] = {}
    walks, share = {}, {}
    for exact, name in ((False, "64 CPUs"), (True, "exact")):
        params = Batches(cpus=64, threads=64, exact=exact, turn=1)
        counters = _counted(params)
        share[exact] = counters["allocated_dma32"] / (
            counters["allocated_dma32"] + counters["allocated_normal"]
        )
        ours = _counted(params.model_copy(update={"variant": Variant.V1_REACHABLE}))
        walks[exact] = ours["rescans"]
        evidence |= {f"share, {name}": share[exact], f"resets, {name}": int(counters["resets"])}
        evidence |= {f"second walks of v1-reachable, {name}": int(walks[exact])}
        if not exact:
            evidence["pages deferred"] = int(counters["deferred"])
    once = simulated.most_deferred(Batches(cpus=64, threads=64, turn=1))
    evidence["what deferral alone may move"] = once
    costs = walks[False] > FACTOR * walks[True]
    same = abs(share[False] - share[True]) < once
    if not costs:
        return Weighed(
            ClaimVerdict.CONTRADICTED, "Walks are as many with exact counters.", evidence
        )
    shares = "but the zones' shares stay the same" if same else "and the zones' shares change"
    why = (
        f"Drift makes {factor(walks[False], walks[True]):.0f} times as many second walks, "
        f"{shares}. The model has no concurrency, which the answer names too."
    )
    return Weighed(ClaimVerdict.HOLDS, why, evidence)


def _counted(params: Batches) -> pd.Series:
    return batches.simulate(params).set_index("counter")["value"].astype(float)


def weigh_remote_blocks() -> Weighed:
    """v1 on two nodes, without a ZONE_DMA: whether the remote batch keeps local ones from reset."""
    resets, taken = {}, {}
    for variant in (Variant.V1, Variant.V1_LOCAL):
        node = zones.make([0, 50_000, 90_000], variant, 2, 4096, True, remote=[0, 0, 90_000])
        for _ in range(60_000):
            alloc_fast(node, U(0), False)
        resets[variant] = int(node.count[COUNTS.index("resets")])
        taken[variant] = node.zone["allocated"].tolist()
    low, high, _ = taken[Variant.V1]
    evidence = {
        "resets, v1": resets[Variant.V1],
        "resets, local only": resets[Variant.V1_LOCAL],
        "DMA32's share, v1": low / (low + high),
        "its size": 5 / 14,
    }
    blocked = resets[Variant.V1] < resets[Variant.V1_LOCAL] / 10
    return Weighed(
        ClaimVerdict.HOLDS if blocked else ClaimVerdict.CONTRADICTED,
        "As long as the remote zone has batch left, no local one is reset.",
        evidence,
    )


def weigh_local_repair() -> Weighed:
    """The intent, read as asking local zones only, on a machine with a ZONE_DMA."""
    local, reachable = ran(Variant.V1_LOCAL), ran(Variant.V1_REACHABLE)
    evidence = {
        "resets, local only": int(local["resets"].sum()),
        "pages of ZONE_DMA": int(local["dma"].sum()),
        "passes per allocation": local.loc["read", "passes"],
        "hits": local.loc["read", "hits"],
        "resets, reachable only": int(reachable["resets"].sum()),
    }
    kept = local["resets"].sum() == 0 or local["dma"].sum() > 0
    return Weighed(
        ClaimVerdict.HOLDS if kept else ClaimVerdict.CONTRADICTED,
        "It is so to the letter, and that is the defect: ZONE_DMA is local, can never serve and "
        "keeps its batch, so no page-cache allocation ever resets.",
        evidence,
    )


def weigh_second_file() -> Weighed:
    """Hits of the second of two files with v4r8, and without any policy, at the thread's speeds."""
    most, first = {}, []
    for speed in (figures.figure(f"v4r8-seqread-{n}-rc1") for n in figures.THREADS):
        changes = {"workload": "two-files", "data_percent": 110, "disk_mb_s": speed}
        reads = ran(Variant.MERGED, balance_reserves=False, **changes)["hits"]
        most[speed] = reads[reads.index.str.startswith("file 2")].max()
        first.append(reads["file 1, read 5"])
    evidence = {f"file 2, most hits at {speed} MB/s": hits for speed, hits in most.items()}
    never = max(most.values()) < NO_HITS
    return Weighed(
        ClaimVerdict.HOLDS if never else ClaimVerdict.CONTRADICTED,
        "None of the second file's five readings hits, at any of the five speeds that the "
        "reviewer printed; the first file's do.",
        evidence | {"file 1, fifth reading, least": min(first)},
    )


def weigh_trapped() -> Weighed:
    """Whether what is kept in DMA32 during the write is from the file's beginning, and read.

    He tried kernels without the policy and the series of v4r8; v1 was not among them.
    """
    evidence, first, hits = {}, {}, {}
    for name, changes in (
        ("off", {"variant": Variant.OFF}),
        ("v1", {"variant": Variant.V1}),
        ("v4r8", {"variant": Variant.MERGED, "balance_reserves": False}),
    ):
        done = tiobench.run(Tiobench(steps=1, **changes), maps=True)
        kept = done.windows.query("phase == 'write' and zone == 'DMA32' and pages > 0")
        first[name] = kept["offset"].min() / tiobench.BUCKETS
        hits[name] = ran(**changes).loc["read", "hits"]
        evidence |= {f"first offset in DMA32, {name}": first[name], f"hits, {name}": hits[name]}
    holds = min(hits.values()) > NO_HITS and first["v4r8"] < BEGINNING
    return Weighed(
        ClaimVerdict.HOLDS if holds else ClaimVerdict.CONTRADICTED,
        "With v4r8, whose reads he explains, what DMA32 keeps begins with the file and is read "
        f"back. Without a policy it begins at {100 * first['off']:.0f} % of the file in the model, "
        f"and with v1, which he does not name, at {100 * first['v1']:.0f} %.",
        evidence,
    )


def weigh_cold() -> Weighed:
    speed = figures.figure("cold-read")
    changes = {"workload": "drop-caches", "disk_mb_s": speed}
    hits = {
        v.name.lower(): ran(v, **changes).loc["read", "hits"]
        for v in (Variant.OFF, Variant.BASELINE, Variant.V1, Variant.JUNE_18)
    }
    evidence = {f"hits, {name}": value for name, value in hits.items()}
    fastest = speed * (1 + figures.speedup(max(hits.values())) / 100)
    return Weighed(
        ClaimVerdict.HOLDS if not any(hits.values()) else ClaimVerdict.CONTRADICTED,
        "With a cold cache every variant reads every page from the disk.",
        evidence | {"fastest on a disk as posted, MB/s": fastest},
    )


def weigh_diffstat() -> Weighed:
    plus, minus = figures.figure("diffstat-insertions"), figures.figure("diffstat-deletions")
    lines = figures.figure("diffstat-lines")
    return Weighed(
        ClaimVerdict.ARITHMETIC if plus + minus == lines else ClaimVerdict.CONTRADICTED,
        "They add up to the lines of the one file that changes.",
        {"+": plus, "-": minus, "lines": lines},
    )

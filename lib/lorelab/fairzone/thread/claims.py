"""Every gain of the fair-zone thread, and what its messages state in words."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from lorelab.fairzone.figures import OPERATIONS, THREADS, gains, printed, tiobench
from lorelab.fairzone.params import Variant
from lorelab.fairzone.thread import checks, follow_ups
from lorelab.judging.claims import Claim, Weigh
from lorelab.params import label

MODEL = "fairzone/tiobench on the model"
PRINTED = "arithmetic on the printed figures"
CFQ = "Its first patch changes the I/O scheduler, which the model lacks."
BOTH = ("vanilla", "cfq600", "fairzone")
FEW, MANY = (1, 2, 4), (8, 16)
"""Threads: those whose gains are near the model's, were hits free, and those where it is off.

The cut was made where the outcomes part, and the page says so.
"""
UNKNOWN_ZONES = "The zones of this machine are not printed; the percentages are over 3.0."


def _cells() -> list[Claim]:
    rows = tiobench().set_index(["operation", "threads"])
    return [_cell(*of, rows.loc[of]) for of in product(OPERATIONS, THREADS)]


def _cell(operation: str, threads: int, row: pd.Series) -> Claim:
    means = f"{row['baseline']:.2f} to {row['v1']:.2f} MB/s, {row['percent']:+.2f} %"
    many = "1 thread" if threads == 1 else f"{threads} threads"
    statement = f"{OPERATIONS[operation]}, {many}: {means}."
    check = MODEL if operation == "seqread" else PRINTED
    id = f"{operation}-{threads}"
    weigh = checks.weigh_cell(operation, threads)
    return Claim("fairzone", id, statement, f"rows {id}-*", check, weigh)


def _claim(id: str, statement: str, place: str, check: str, weigh: Weigh) -> Claim:
    return Claim("fairzone", id, statement, place, check, weigh)


def _reads(
    id: str,
    statement: str,
    place: str,
    check: str,
    rows: tuple[str, ...],
    weigh: Callable[..., Weigh],
) -> list[Claim]:
    """A series of sequential reads as two claims, by threads; `{}` stands for its gains."""
    gain = printed(gains(*rows))
    return [
        _claim(
            f"{id}-{name}",
            statement.format(
                f"{gain[list(threads)].min():.2f} to {gain[list(threads)].max():.2f} % faster "
                f"with {number} threads"
            ),
            place,
            check,
            weigh(*rows, threads=threads),
        )
        for name, threads, number in (("few", FEW, "1, 2 and 4"), ("many", MANY, "8 and 16"))
    ]


def _static(
    id: str, statement: str, place: str, rows: tuple[str, ...], variant: Variant, **fields: Any
) -> list[Claim]:
    """Reads of a kernel whose kswapd keeps no reserve free."""
    check = f"{MODEL}, {label(variant)}, balance_reserves=false"
    weigh = partial(follow_ups.weigh_reads, variant=variant, balance_reserves=False, **fields)
    return _reads(id, statement, place, check, rows, weigh)


CLAIMS = [
    *_cells(),
    _claim(
        "streaming",
        "Streaming readers see a huge boost.",
        "line 61",
        f"{MODEL}, with drop_caches and without",
        checks.weigh_streaming,
    ),
    _claim(
        "noise",
        "Random readers, sequential writers and random writers are all in the noise.",
        "lines 61 to 62",
        PRINTED,
        checks.weigh_noise,
    ),
    _claim(
        "reset-below-watermark",
        "If the zones are below the low watermark, batches are reset though they might be fine.",
        "lines 16 to 17",
        "fairzone/boundary on the model",
        checks.weigh_reset_below_watermark,
    ),
    _claim(
        "reset-before-remote",
        "Batches are reset even when the right choice is to fall back to other nodes.",
        "lines 18 to 19",
        "one allocation on two nodes",
        checks.weigh_reset_before_remote,
    ),
    _claim(
        "reset-to-zero",
        "A reset may set a high batch count close to 0.",
        "lines 21 to 26",
        "one reset on the model",
        checks.weigh_reset_to_zero,
    ),
    _claim(
        "imbalance",
        "Allocations were reliably proportional to the size of zones (the reviewer on 4 June, who "
        "on 29 May expected an imbalance where batches are reset before they are used up).",
        "lines 1256 to 1257 and 483 to 485, rows june30-dma32-*",
        f"{MODEL}, and arithmetic on the printed figures",
        checks.weigh_imbalance,
    ),
    _claim(
        "remote-blocks",
        "With v1 local batches are reset only once the first remote zone's is exhausted "
        "(the reviewer).",
        "lines 611 to 616",
        "60000 allocations on two nodes",
        checks.weigh_remote_blocks,
    ),
    _claim(
        "drift",
        "Batches do not run out together, for there is no lock and each CPU's counter drifts by "
        "its threshold (the answer).",
        "lines 826 to 829",
        "fairzone/batches on the model, with exact counters and without",
        checks.weigh_drift,
    ),
    _claim(
        "boundary",
        "With batches of 1000 and 100 and both zones below low, each allocation resets and scans "
        "again (the answer).",
        "lines 860 to 880",
        "fairzone/boundary on the model",
        checks.weigh_reset_below_watermark,
    ),
    _claim(
        "local-repair",
        "The reset was to take place once all local zones have used their batch (the answer).",
        "lines 991 to 993",
        f"{MODEL}, v1-local",
        checks.weigh_local_repair,
    ),
    _claim(
        "diffstat",
        "47 insertions and 42 deletions.",
        "line 67",
        PRINTED,
        checks.weigh_diffstat,
    ),
    _claim(
        "full-before",
        "With the high zone below low and the low zone's batch at 0 nothing may be taken, and a "
        "reset takes place (the answer).",
        "rows boundary-before-*",
        "fairzone/boundary on the model",
        checks.weigh_full_before,
    ),
    *_reads(
        "june18-seqread",
        "Over the kernel that it was put on, the fair-zone patch of 18 June reads {}.",
        "rows june18-seqread-*-fairzone june18-seqread-*-cfq600 june18-seqwrite-*-cfq600",
        f"{MODEL}, june-18",
        ("june18-seqread", "cfq600", "fairzone"),
        partial(follow_ups.weigh_reads, variant=Variant.JUNE_18),
    ),
    _claim(
        "june18-with-cfq",
        "With the series' patch of the I/O scheduler it reads 8 to 19 % faster than 3.16-rc1.",
        "rows june18-seqread-*-fairzone",
        PRINTED,
        follow_ups.weigh_other_kernel("june18-seqread", "vanilla", "fairzone", why=CFQ),
    ),
    _claim(
        "june18-lessdirty",
        "The series' last patch, of the dirty limit, reads faster still, but less so (18 June).",
        "rows june18-seqread-*-lessdirty",
        PRINTED,
        follow_ups.weigh_other_kernel(
            "june18-seqread", "vanilla", "lessdirty", why="The model has no cached dirty limit."
        ),
    ),
    _claim(
        "june18-laptop",
        "On a laptop 3.16-rc1 is slower than 3.0, and the series of 18 June faster but for two "
        "threads.",
        "rows laptop-seqread-*",
        PRINTED,
        follow_ups.weigh_other_kernel("laptop-seqread", "3.0", *BOTH, why=UNKNOWN_ZONES),
    ),
    _claim(
        "june18-desktop",
        "On a second desktop 3.16-rc1 is slower than 3.0, and the series of 18 June faster with 8 "
        "and 16 threads.",
        "rows desktop-seqread-*",
        PRINTED,
        follow_ups.weigh_other_kernel("desktop-seqread", "3.0", *BOTH, why=UNKNOWN_ZONES),
    ),
    _claim(
        "june18-cfq600",
        "Its patch of the I/O scheduler alone reads up to 12 % faster.",
        "rows june18-seqread-*-cfq600",
        PRINTED,
        follow_ups.weigh_other_kernel("june18-seqread", "vanilla", "cfq600"),
    ),
    _claim(
        "june18-on-3-0",
        "3.0 reads 10 to 20 % faster than 3.16-rc1 (18 June).",
        "rows june18-seqread-*-3.0",
        PRINTED,
        follow_ups.weigh_other_kernel("june18-seqread", "vanilla", "3.0"),
    ),
    _claim(
        "june18-allocs",
        "Of data of 80 % of memory DMA32 takes 37.1 % of the allocations, and 31.6 % with the "
        "patch of 18 June.",
        "rows june18-*-allocs-*",
        f"{MODEL}, data_percent=80, baseline and june-18",
        follow_ups.weigh_in_core,
    ),
    _claim(
        "june18-allocs-on-3-0",
        "With 3.0, which has no policy, it takes 29.1 % (18 June).",
        "rows june18-*-allocs-3.0",
        f"{MODEL}, data_percent=80, off",
        follow_ups.weigh_in_core_3_0,
    ),
    *_reads(
        "big-seqread",
        "By the means, batches of managed/4 alone read {} (the reviewer, 19 June).",
        "rows big-seqread-*-bigbatches big-seqwrite-*-rc1",
        f"{MODEL}, the baseline with such batches",
        ("big-seqread", "rc1", "bigbatches"),
        follow_ups.weigh_big_batches,
    ),
    _claim(
        "big-seqread-on-3-0",
        "On the reviewer's machine too 3.0 reads faster than 3.16-rc1 (19 June).",
        "rows big-seqread-*-3.0",
        PRINTED,
        follow_ups.weigh_other_kernel("big-seqread", "rc1", "3.0"),
    ),
    _claim(
        "big-velocity",
        "With such batches DMA32's part of what is scanned falls from 41.9 to 18.4 %, near the "
        "16.4 % of 3.0 (the reviewer, 19 June).",
        "rows big-velocity-*",
        f"{MODEL}, the baseline with such batches",
        follow_ups.weigh_big_velocity,
    ),
    _claim(
        "big-one-node",
        "That one node's second pass is left out as well drowns in the noise (the reviewer, 19 "
        "June).",
        "rows big-seqread-*-bigbatches1node",
        PRINTED,
        follow_ups.weigh_other_kernel(
            *("big-seqread", "bigbatches", "bigbatches1node"),
            why="The noise is not printed; the means are within 0.5 % of those without it.",
        ),
    ),
    *_static(
        "june25-seqread",
        "By the least of its iterations, v2 without its patch of the I/O scheduler reads {} (25 "
        "June).",
        "rows june25-seqread-*-lessdirty",
        ("june25-seqread", "vanilla", "lessdirty"),
        Variant.JUNE_25,
    ),
    *_static(
        "june25-checklow",
        "By the least of its iterations, the series' patch of kswapd alone, with the policy as it "
        "was, reads {} (25 June).",
        "rows june25-seqread-*-checklow",
        ("june25-seqread", "vanilla", "checklow"),
        Variant.BASELINE,
    ),
    _claim(
        "checklow-xfs",
        "Against xfs its gains are similar (27 June, of tiobench on ext3 and xfs).",
        "message 1403856880-12597-4-git-send-email-mgorman@suse.de",
        "none: the model has no file system",
        follow_ups.weigh_xfs,
    ),
    _claim(
        "june25-with-cfq",
        "By the least of the iterations, the whole of v2 reads 12.05 to 17.32 % faster, and 3.0 "
        "10.81 to 19.88 % (25 June).",
        "rows june25-seqread-*-cfq600 june25-seqread-*-3.0",
        PRINTED,
        follow_ups.weigh_other_kernel("june25-seqread", "vanilla", "cfq600", "3.0"),
    ),
    *_static(
        "june27-seqread",
        "By the least of its iterations, v3 reads {} (27 June).",
        "rows june27-seqread-*-lessdirty",
        ("june27-seqread", "vanilla", "lessdirty"),
        Variant.MERGED,
    ),
    *_static(
        "june30-seqread",
        "By the least of its iterations, v4r5 reads {} (30 June).",
        "rows june30-seqread-*-fairzone",
        ("june30-seqread", "vanilla", "fairzone"),
        Variant.MERGED,
    ),
    _claim(
        "june30-on-3-0",
        "Higher thread counts are worse than with 3.0, due to changes of CFQ (30 June, by the "
        "least of the iterations).",
        "rows june30-seqread-*-3.0",
        PRINTED,
        follow_ups.weigh_other_kernel("june30-seqread", "vanilla", "3.0"),
    ),
    _claim(
        "july1-allocs",
        "With v4 the zones of data that fits into memory share allocations as before (1 July).",
        "rows july1-*-allocs-*",
        f"{MODEL}, data_percent=80, baseline, and merged with balance_reserves=false",
        follow_ups.weigh_in_core_v4,
    ),
    _claim(
        "june27-allocs",
        "With the series of 25 June DMA32 takes 0.73 to 0.79 % of the allocations, with 37 % of "
        "the memory.",
        "rows june27-*-allocs-*, june27-elapsed-*, managed-*",
        f"{MODEL}, balance_reserves=false",
        follow_ups.weigh_static,
    ),
    _claim(
        "june27-dma",
        "ZONE_DMA has 3976 pages and serves no allocation (27 June).",
        "rows june27-dma-allocs-*, managed-*",
        f"{MODEL}, and arithmetic on the printed figures",
        follow_ups.weigh_no_dma,
    ),
    _claim(
        "june30-system",
        "The series of 30 June takes less system time: 404.41 to 389.61 s on one node, 70148.60 "
        "to 44905.73 s on several.",
        "rows june30-system-*, june30-user-*, june30-elapsed-*",
        "none: the model has no time",
        follow_ups.weigh_system_time,
    ),
    *_static(
        "v4r8-seqread",
        "With v4r8 reads are, by the means, {} (the reviewer, 1 July).",
        "rows v4r8-seqread-*-series",
        ("v4r8-seqread", "rc1", "series"),
        Variant.MERGED,
        zones=follow_ups.reviewers,
    ),
    _claim(
        "v4r8-classzone",
        "Without its change of kswapd's class zone v4r8 gains nothing (the reviewer, 1 July).",
        "rows v4r8-seqread-*-classzone, v4r8-velocity-*-classzone",
        f"{MODEL}, merged",
        follow_ups.weigh_without_class_zone,
    ),
    _claim(
        "v4r8-velocity",
        "With v4r8 DMA32's velocity is 0.000, from 8213.852 pages/s (the reviewer, 1 July).",
        "rows v4r8-velocity-*",
        f"{MODEL}, merged, balance_reserves=false",
        follow_ups.weigh_velocity,
    ),
    _claim(
        "preserved",
        "A concern is that the lower zone's pages are preserved forever (the author, 1 July; not "
        "an issue, it seemed to him, as the interleaving would reach the low watermark again).",
        "message 20140701183915.GW10819@suse.de, row v4r8-velocity-dma32-series",
        f"{MODEL}, merged, balance_reserves=false",
        follow_ups.weigh_preserved,
    ),
    _claim(
        "v4r8-split",
        "With v4r8 DMA32 takes 10 % of the allocations, from 40 % (the reviewer, 1 July).",
        "rows v4r8-split-*",
        f"{MODEL}, merged, balance_reserves=false, and the closed form of a static zone",
        follow_ups.weigh_split,
    ),
    _claim(
        "second-file",
        "With v4r8 the second of two files, each slightly larger than memory, is never cached "
        "(the reviewer, 1 July).",
        "message 20140701212538.GD1369@cmpxchg.org",
        f"{MODEL}, workload=two-files, merged, balance_reserves=false",
        checks.weigh_second_file,
    ),
    _claim(
        "trapped",
        "Without fairness a chunk from the beginning of the file gets stuck in DMA32 during the "
        "write and is read back (2 July).",
        "message 20140702154439.GE1369@cmpxchg.org",
        MODEL,
        checks.weigh_trapped,
    ),
    _claim(
        "cold",
        "With a cold cache every kernel reads at 132 MB/s (2 July).",
        "row cold-read",
        f"{MODEL}, with drop_caches",
        checks.weigh_cold,
    ),
    _claim(
        "peak",
        "A disk that reads 132 MB/s with a cold cache seems to give 150 MB/s with seqreadv4 "
        "(2 July).",
        "rows cold-read, seqreadv4-peak",
        PRINTED,
        follow_ups.weigh_peak,
    ),
    _claim(
        "merged-numa",
        "On four sockets the benefit of what was merged is variable, as is the measuring of the "
        "vmstat patch before it: system time is 65336.22 s, 32847.27 with that one, 40852.33 with "
        "both.",
        "rows merged-system-numa-*",
        PRINTED,
        follow_ups.weigh_merged_numa,
    ),
    _claim(
        "merged-uma",
        "On one node its benefit is negligible, around 0.25 %.",
        "row merged-benefit-uma",
        f"{MODEL}, baseline and merged",
        follow_ups.weigh_merged_uma,
    ),
]

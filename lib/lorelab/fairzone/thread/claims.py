"""Every gain of the fair-zone thread, and what its messages state in words."""

from lorelab.claims import Claim, Weigh
from lorelab.fairzone.thread import checks
from lorelab.fairzone.thread.figures import OPERATIONS, THREADS, tiobench

MODEL = "fairzone/tiobench on the model"


def _cell(operation: str, threads: int) -> Claim:
    row = tiobench().set_index(["operation", "threads"]).loc[operation, threads]
    means = f"{row['baseline']:.2f} to {row['v1']:.2f} MB/s, {row['percent']:+.2f} %"
    many = "1 thread" if threads == 1 else f"{threads} threads"
    statement = f"{OPERATIONS[operation]}, {many}: {means}."
    check = MODEL if operation == "seqread" else "arithmetic on the printed figures"
    id = f"{operation}-{threads}"
    weigh = checks.weigh_cell(operation, threads)
    return Claim("fairzone", id, statement, f"rows {id}-*", check, weigh)


def _claim(id: str, statement: str, place: str, check: str, weigh: Weigh) -> Claim:
    return Claim("fairzone", id, statement, place, check, weigh)


CLAIMS = [
    *(_cell(operation, threads) for operation in OPERATIONS for threads in THREADS),
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
        "arithmetic on the printed figures",
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
        "Batches reset before they are used up leave zones unequally used (the reviewer).",
        "lines 483 to 485",
        MODEL,
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
        "Batches part because each CPU's counter drifts by its threshold (the answer).",
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
        "arithmetic on the printed figures",
        checks.weigh_diffstat,
    ),
    _claim(
        "trapped",
        "Without fairness a part of the file is stuck in DMA32 during the write and read back "
        "(2 July).",
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
]

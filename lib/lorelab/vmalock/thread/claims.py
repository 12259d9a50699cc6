"""What the cover letter of 27 January 2023 claims, each claim with how it is weighed."""

from lorelab.judging.claims import Claim, Weigh
from lorelab.vmalock.thread import checks

ARITHMETIC = "arithmetic on the printed figures"


def _claim(id: str, statement: str, place: str, weigh: Weigh, check: str = ARITHMETIC) -> Claim:
    return Claim("vmalock", id, statement, place, check, weigh)


CLAIMS = [
    _claim(
        "fallback",
        "A fault that does not get its VMA's lock falls back to mmap_lock.",
        "lines 41 to 43",
        checks.weigh_fallback,
        "vmalock/threads, recorded on 6.12.117",
    ),
    _claim(
        "read-locked",
        'A VMA is "read-locked" (written for write-locked) when its sequence number equals the '
        "mm's.",
        "lines 45 to 61",
        checks.weigh_write_locked,
        "the recorded logs of vmalock/followed",
    ),
    _claim(
        "bulk",
        "Incrementing the mm's number unlocks all VMAs at once.",
        "lines 53 to 64",
        checks.weigh_bulk,
        "the recorded log of forks, vmalock/workloads-followed",
    ),
    _claim(
        "still-contended",
        "There is still contention at the VMA, but it is an improvement.",
        "lines 37 to 38",
        checks.weigh_still_contended,
        "vmalock/threads and vmalock/taken, recorded on 6.12.117",
    ),
    _claim(
        "spf",
        "Some 75 % of the benefits of speculative faults.",
        "spf-benefit",
        checks.weigh_spf,
        "not weighed: no workload is named",
    ),
    _claim(
        "launch",
        "Apps of about 100 threads launch up to 20 % faster.",
        "launch-threads, launch-gain",
        checks.weigh_launch,
        "not weighed; vmalock/workloads, recorded on 6.12.117, beside it",
    ),
    _claim(
        "launch-contention",
        "Per-VMA locks prevent the contention of mappers and faults in different VMAs.",
        "lines 84 to 88",
        checks.weigh_launch_contention,
        "vmalock/threads and vmalock/workloads, recorded on 6.12.117",
    ),
    _claim(
        "fibers",
        "Creating threads is no longer a bottleneck.",
        "lines 111 to 112",
        checks.weigh_fibers,
        "not weighed; vmalock/workloads, recorded on 6.12.117, beside it",
    ),
    _claim(
        "all-block",
        "One madvise() blocks all N - 1 receivers until it is done.",
        "lines 117 to 120",
        checks.weigh_all_block,
        "not weighed; vmalock/workloads, receives recorded on 6.12.117, beside it",
    ),
    _claim(
        "madvise-waits",
        "It waits for the receives in turn.",
        "lines 120 to 123",
        checks.weigh_madvise_waits,
        "vmalock/workloads, receives recorded on 6.12.117",
    ),
    _claim(
        "entirely",
        "Per-VMA locks remove this contention by definition, entirely.",
        "lines 123 to 124",
        checks.weigh_entirely,
        "vmalock/workloads, receives recorded on 6.12.117",
    ),
    _claim(
        "bouncing",
        "Receivers bounce fewer cache lines.",
        "lines 125 to 127",
        checks.weigh_bouncing,
        "not weighed; vmalock/zerocopy, cache lines fetched in the model, beside it",
    ),
    _claim(
        "find",
        "Finding, locking and unlocking the VMA: from 0.7 to 0.4 % of cycles.",
        "find-base, find-series",
        checks.weigh_find,
    ),
    _claim(
        "mmap",
        "mmap_read_lock and unlock: from 0.5 to below 0.1 % of cycles.",
        "mmap-base, mmap-series",
        checks.weigh_mmap,
        f"{ARITHMETIC}; vmalock/workloads, receives recorded on 6.12.117",
    ),
    _claim(
        "again",
        "They are down from 0.7 and 0.5 %.",
        "find-base-again, mmap-base-again",
        checks.weigh_again,
    ),
    _claim("saving", "Together they save about 0.5 % or more.", "saving", checks.weigh_saving),
    _claim("parts", "Patches 1 to 7, 8 to 32, 32 to 33.", "part-*", checks.weigh_parts),
    _claim("authors", "33 patches of five names.", "series, author-*", checks.weigh_authors),
    _claim(
        "diffstat",
        "26 files, 677 insertions, 90 deletions.",
        "files, insertions, deletions, changed-*",
        checks.weigh_diffstat,
    ),
    _claim("messages", "126 messages.", "messages", checks.weigh_messages),
]

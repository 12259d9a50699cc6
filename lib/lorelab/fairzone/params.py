"""Variants of the fair zone allocation policy, and the parameters of its experiments."""

from enum import IntEnum
from typing import Any, ClassVar, Literal, NamedTuple, Self

from pydantic import model_validator

from lorelab.params import Params, Refusal, by_label, param


class Variant(IntEnum):
    """One policy: none, each that was merged, the patch of the thread, and what came of it."""

    OFF = 0
    """Linux up to 3.11: the first zone of the zonelist that is above its low watermark."""
    V3_12 = 1
    """Johannes Weiner, 81c0a2bb515f: batches over all zones of the zonelist; one that fails wakes
    kswapd and resets them."""
    V3_13 = 2
    """Johannes Weiner, fff4068cba48: the same over the zones of the local node."""
    BASELINE = 3
    """Johannes Weiner, 3a025760fc15, in 3.15 and the thread's baseline: a pass of its own, after
    which batches are reset whatever made it fail."""
    V1 = 4
    """Mel Gorman, 29 May 2014 (the thread): reset only if no zone of the list has batch left."""
    V1_LOCAL = 5
    """V1 as its author then meant it (29 May 2014): only zones of the local node are asked."""
    V1_REACHABLE = 6
    """V1_LOCAL, and a zone that no allocation of this class can ever use is not asked either."""
    JUNE_18 = 7
    """Mel Gorman, 18 June 2014: batches of managed/4, tiny lowest zones left out."""
    JUNE_25 = 8
    """Mel Gorman, 25 June 2014: a depleted zone above its watermark is used without a rescan."""
    MERGED = 9
    """Mel Gorman, 4ffeaf3560a5, in 3.17: reset if a zone was skipped, else to the slow path."""
    FIXED = 10
    """Johannes Weiner, September 2014: MERGED with the test for 0 made one for 0 or less."""
    V4_7 = 11
    """Mel Gorman, 4.7: FIXED, reset as soon as the scan meets a remote zone."""
    NODE_LRU = 12
    """Mel Gorman, e6cbd7f2efb4, 4.8: no policy, and one LRU per node."""


class Fair(IntEnum):
    """Whether a first pass is held to the batches."""

    NO = 0
    ONLY_PASS = 1
    """The fast path has one pass, held to them; the slow path resets."""
    FIRST_PASS = 2
    """A second pass, not held to them, comes before the slow path."""


class Reset(IntEnum):
    """What has to be true of a failed fair pass before batches are reset."""

    SLOWPATH = 0
    """Each entry of the slow path resets, and the pass itself never."""
    ALWAYS = 1
    NO_BATCH_LEFT = 2
    """No zone of the zonelist had batch left."""
    NO_LOCAL_BATCH_LEFT = 3
    NO_REACHABLE_BATCH_LEFT = 4
    WATERMARK_OR_ALL = 5
    """A watermark failed, or all zones that take part were depleted."""
    SKIPPED = 6
    """A zone was skipped for its batch."""


class Depleted(IntEnum):
    """How the allocator knows that a zone's batch is used up."""

    COUNTER = 0
    """The visible counter is 0 or less, read at each test."""
    FLAG = 1
    """ZONE_FAIR_DEPLETED, set by the allocation that leaves the visible counter at 0."""
    FLAG_BELOW = 2
    """The same, set when the counter is 0 or less."""


class Traits(NamedTuple):
    """What a variant does."""

    fair: Fair
    reset: Reset = Reset.ALWAYS
    depleted: Depleted = Depleted.COUNTER
    remote: bool = False
    """Zones of other nodes take part."""
    breaks: bool = False
    """The fair pass ends at the first zone that does not take part."""
    only_several: bool = False
    """No fair pass where only one local zone takes part."""
    quarter: bool = False
    """Batch of managed/4, not high - low."""
    small_out: bool = False
    """A lowest zone below a sixteenth of its node takes no part."""
    only_depleted: bool = False
    """A reset leaves zones alone that are not depleted."""
    reuse: bool = False
    """The first depleted zone above its watermark is used if no other was."""
    goes_on: bool = False
    """A fair pass that skipped no zone goes on to remote ones, no longer held to the batches."""
    rescans_anyway: bool = True
    """A failed fair pass is followed by another even without a reset, on one node too."""
    node_lru: bool = False
    """One LRU and one dirty limit a node, as since 4.8."""
    decides_first: bool = False
    """Reclaim decides once, before it goes over a node's lists, whether to demote active pages; it
    does also where pages that it had evicted too early came back (6.12)."""


_MERGED = Traits(Fair.FIRST_PASS, Reset.SKIPPED, Depleted.FLAG, breaks=True, rescans_anyway=False)
_JUNE = _MERGED._replace(only_several=True, small_out=True)

TRAITS = {
    Variant.OFF: Traits(Fair.NO),
    Variant.V3_12: Traits(Fair.ONLY_PASS, Reset.SLOWPATH, remote=True),
    Variant.V3_13: Traits(Fair.ONLY_PASS, Reset.SLOWPATH),
    Variant.BASELINE: Traits(Fair.FIRST_PASS, Reset.ALWAYS),
    Variant.V1: Traits(Fair.FIRST_PASS, Reset.NO_BATCH_LEFT),
    Variant.V1_LOCAL: Traits(Fair.FIRST_PASS, Reset.NO_LOCAL_BATCH_LEFT),
    Variant.V1_REACHABLE: Traits(Fair.FIRST_PASS, Reset.NO_REACHABLE_BATCH_LEFT),
    Variant.JUNE_18: _JUNE._replace(reset=Reset.WATERMARK_OR_ALL, quarter=True),
    Variant.JUNE_25: _JUNE._replace(only_depleted=True, reuse=True),
    Variant.MERGED: _MERGED,
    Variant.FIXED: _MERGED._replace(depleted=Depleted.FLAG_BELOW),
    Variant.V4_7: _MERGED._replace(depleted=Depleted.FLAG_BELOW, breaks=False, goes_on=True),
    Variant.NODE_LRU: Traits(Fair.NO, node_lru=True),
}
"""What each variant does; nothing else tells them apart."""

MODES = {
    "off": Traits(Fair.NO),
    "baseline": TRAITS[Variant.BASELINE],
    "v1": TRAITS[Variant.V1],
    "v1-local": TRAITS[Variant.V1_LOCAL],
    "v1-reachable": TRAITS[Variant.V1_REACHABLE],
    "fixed": TRAITS[Variant.FIXED],
    "all-nodes": TRAITS[Variant.BASELINE]._replace(remote=True),
}
"""What each choice of the kernel's switch fairzone/mode does; one named as a variant is that."""
Mode = Literal["off", "baseline", "v1", "v1-local", "v1-reachable", "fixed", "all-nodes"]

VariantParam = by_label(Variant)


KEEPS_ALL = Refusal(
    "min_free_kib >> 2 >= mib * 256",
    "min_free_kib={min_free_kib}: takes less than the memory, {mib * 1024} KiB; a kernel that "
    "keeps all of it kills one process after another (OOM)",
)


class Machine(Params):
    """Zones, CPUs and the disk."""

    # What `zones.serves()` says no to; marks of a zoneinfo are looked at when it is read.
    refusals: ClassVar = (
        KEEPS_ALL._replace(when=f"not zoneinfo and {KEEPS_ALL.when}"),
        Refusal(
            "not zoneinfo and (0 < below_4g_mib < 32 or below_4g_mib >= mib)",
            "below_4g_mib={below_4g_mib}: takes 0, or from 32 to less than mib={mib}",
        ),
    )

    variant: VariantParam = param(Variant.BASELINE, "allocation policy")
    zone_dma: bool = param(True, "a ZONE_DMA of 3976 pages, as on x86-64")
    cpus: int = param(4, "CPUs, each with its part of the batch counters", "CPUs", ge=1, le=1024)
    exact: bool = param(False, "batch counters without per-CPU parts")
    min_free_kib: int = param(
        67584,
        "vm.min_free_kbytes; 67584 is what 3.15 takes for three zones with huge pages",
        "KiB",
        ge=128,
        le=2**24,
    )
    watermark_scale_factor: int = param(
        0,
        "vm.watermark_scale_factor, since 4.6: pages between min, low and high, in 1/10000 of the "
        "zone; 10 is its default, 0: as before, a quarter of min",
        "1/10000",
        ge=0,
        le=1000,
    )
    mib: int = param(7973, "managed memory", "MiB", ge=64, le=65536)
    below_4g_mib: int = param(
        0,
        "of it, what lies below 4 GiB (DMA and DMA32); 0: 37 % of mib, the machine of June 2014 "
        "made smaller or larger; its own layout is 2967",
        "MiB",
        ge=0,
        le=4096,
    )
    burst: int = param(
        32, "pages that the disk moves before kswapd has its turn", "pages", ge=1, le=2**20
    )
    disk_mb_s: float = param(
        132,
        "throughput of the disk: kswapd naps for a tenth of what it moves in a second; 0: no nap",
        "MB/s",
        ge=0,
        le=100_000,
    )
    zoneinfo: str = param("", "a /proc/zoneinfo file to take the zones from; empty: of mib")

    @model_validator(mode="after")
    def _has_its_own(self) -> Self:
        if self.zoneinfo:
            its_own = ("zone_dma", "min_free_kib", "watermark_scale_factor", "mib", "below_4g_mib")
            for name, field in type(self).model_fields.items():
                if name in its_own and getattr(self, name) != field.default:
                    raise ValueError(f"{name}: leave it out, as zoneinfo={self.zoneinfo} says it")
        return self


class Paced(Machine):
    """The same, and one pace of kswapd."""

    kswapd_rate: float = param(
        30,
        "pages that kswapd looks at while the disk moves one; to be swept, not chosen",
        "pages",
        gt=0,
        le=1000,
    )


class Tiobench(Paced):
    """`fairzone/tiobench`: files are written, then read, from the start to the end."""

    threads: int = param(1, "threads, each with a file of its own", "threads", ge=1, le=16)
    data_percent: int = param(
        200,
        "size of all files together, of two-files each, in per cent of memory; below 100 they fit",
        "%",
        ge=1,
        le=1000,
    )
    workload: Literal["write-read", "drop-caches", "two-files"] = param(
        "write-read",
        "write-read; drop-caches: the cache is emptied in between; two-files: the first is read "
        "five times, then the second",
    )
    random_ops: int = param(
        4000,
        "random writes after the writes, and random reads after the reads",
        "pages",
        ge=0,
        le=10_000_000,
    )
    readahead: int = param(
        32,
        "pages of a readahead window; 128 KiB have 32, and 3.15 reads no more than 512 ahead",
        "pages",
        ge=1,
        le=512,
    )
    write_mb_s: float = param(
        0,
        "throughput of the disk while files are written; 0: that of disk_mb_s",
        "MB/s",
        ge=0,
        le=100_000,
    )
    nap_spread: int = param(
        0,
        "how much more or less than on average the disk moves in a nap, each equally likely, as "
        "where it seeks between readers",
        "%",
        ge=0,
        le=100,
    )
    seed: int = param(1, "of the spread", ge=0, lt=2**64)
    dirty_percent: int = param(
        20, "vm.dirty_ratio; half of it is the background ratio", "%", ge=1, le=100
    )
    balance_reserves: bool = param(
        True, "kswapd keeps lowmem reserve and balance gap free; false: as the series of June 2014"
    )
    steps: int = param(24, "windows that each phase is reported in", "windows", ge=1, le=1000)


class Batches(Paced):
    """`fairzone/batches`: what the batch counters do while files are read, once memory is full."""

    threads: int = param(4, "threads, each on the next CPU", "threads", ge=1, le=64)
    turn: int = param(
        32, "pages that a thread takes before it is the next one's turn", "pages", ge=1, le=65536
    )
    percent: int = param(
        100, "allocations once memory is full, in per cent of its pages", "%", ge=1, le=1000
    )


class Inversion(Machine):
    """`fairzone/inversion`: how long pages stay in each zone, over the rate of kswapd."""

    refusals: ClassVar = (
        *Machine.refusals,
        Refusal(
            "highest_rate <= lowest_rate",
            "highest_rate={highest_rate}: takes more than lowest_rate={lowest_rate}",
        ),
    )

    lowest_rate: float = param(1.02, "lowest rate of kswapd", "pages", gt=0, le=1000)
    highest_rate: float = param(100.0, "highest rate of kswapd", "pages", gt=0, le=1000)
    rates: int = param(9, "rates, in equal ratios", "rates", ge=2, le=100)
    turnovers: int = param(2, "allocations after memory is full, in sizes of it", ge=1, le=100)


class Boundary(Params):
    """`fairzone/boundary`: the case of the answer, in which every allocation resets."""

    variant: VariantParam = param(Variant.BASELINE, "allocation policy")
    high_batch: int = param(1000, "batch left in the high zone", "pages", ge=0, le=600_000)
    low_batch: int = param(100, "batch left in the low zone", "pages", ge=0, le=400_000)
    low_above: int = param(
        0, "pages by which the low zone is above its low watermark", "pages", ge=0, le=300_000
    )
    allocations: int = param(32, "allocations, none of which frees a page", ge=1, le=10_000)


class Guest(Params):
    """A guest of one node with several zones, and the policy of a patched 6.12."""

    refusals: ClassVar = (
        Refusal("dma32_mib > mib - 64", "dma32_mib={dma32_mib}: takes at most mib - 64"),
        KEEPS_ALL,
    )

    mode: Mode = param("baseline", "choice of the switch fairzone/mode")
    cpus: int = param(1, "CPUs", "CPUs", machine=True, ge=1, le=8)
    mib: int = param(512, "memory of the guest", "MiB", machine=True, ge=384, le=16384)
    min_free_kib: int = param(2896, "vm.min_free_kbytes", "KiB", ge=1024, le=2**20)
    exact: bool = param(False, "batch counters without per-CPU parts")
    dma32_mib: int = param(
        192, "memory of DMA and DMA32; the rest is Normal, or Movable", "MiB", machine=True, ge=128
    )

    @classmethod
    def of_record(cls, stored: dict[str, Any]) -> Self:
        """Parameters as a record has them; `merged` is what `fixed` was called once."""
        if stored.get("mode") == "merged":
            stored = {**stored, "mode": "fixed"}
        return super().of_record(stored)


class Followed(Guest):
    """`fairzone/followed`: each walk of the zonelist, written down by the kernel."""

    log_mib: int = param(
        16, "logged: that much is written, or touched, and twice as much read", "MiB", ge=1, le=512
    )
    layout: Literal["zones", "movable"] = param(
        "zones",
        "zones: the 4 GiB line ends DMA32, the rest is Normal; movable: all is DMA and DMA32, the "
        "rest is Movable (movablecore), and memory is touched and given up beside the disk",
        machine=True,
    )


class OnDisk(Guest):
    """A guest whose disk is held to a throughput."""

    mib: int = param(384, "memory of the guest", "MiB", machine=True, ge=384, le=16384)
    dma32_mib: int = param(
        144, "memory below the 4 GiB line, or on the second node", "MiB", machine=True, ge=128
    )
    disk_mb_s: int = param(
        132, "throughput that the disk is held to", "MB/s", machine=True, ge=1, le=100_000
    )
    repeats: int = param(3, "times that it is done, one after the other in one boot", ge=1, le=100)


class Reread(OnDisk):
    """`fairzone/reread`: a disk is written, then read from the start, through the page cache."""

    retired: ClassVar[frozenset[str]] = frozenset({"kswapd_rate"})
    """Of the model, until kswapd ran as soon as the task gave way."""

    workload: Literal["write-read", "drop-caches", "two-files"] = param(
        "write-read",
        "write-read; drop-caches: the cache is emptied in between; two-files: the first half of "
        "the data is read five times, then the second half",
    )
    program: Literal["stream", "fio"] = param(
        "stream", "our own program, or fio", only="kernel", machine=True
    )
    data_percent: int = param(200, "data, in per cent of the guest's memory", "%", ge=10, le=1000)
    repeats: int = param(
        4, "times that it is done, one after the other in one boot", only="kernel", ge=1, le=100
    )
    memory_cgroups: bool = param(
        False,
        "the guest has memory cgroups, whose lengths of lists are up to 4 s old",
        only="kernel",
        machine=True,
    )


class Nodes(OnDisk):
    """`fairzone/nodes`: two nodes, each with an LRU of its own, as zones had until 4.8."""

    mode: Literal["unpatched", Mode] = param(
        "unpatched", "unpatched: a kernel without the patch; or a choice of fairzone/mode"
    )
    workload: Literal["read-once", "write-read"] = param(
        "read-once",
        "read-once: memory is filled by reading, then more is read; write-read: as reread",
    )
    turnovers: int = param(2, "read once memory is full, or written, in its sizes", ge=1, le=100)
    cpu_node: int = param(
        0, "node of the CPUs and the reader; 1 has dma32_mib, one zone", machine=True, ge=0, le=1
    )

    @model_validator(mode="after")
    def _counts(self) -> Self:
        if self.exact and self.mode == "unpatched":
            raise ValueError("exact=true: takes a mode other than unpatched, which has no batches")
        return self


class Tiers(Params):
    """`fairzone/tiers`: a near node, and a far one that is slower, to which the kernel demotes."""

    near_mib: int = param(
        320, "memory of the node with the CPU", "MiB", machine=True, ge=256, le=3072
    )
    far_mib: int = param(192, "memory of the slower node", "MiB", machine=True, ge=128, le=16384)
    min_free_kib: int = param(19200, "vm.min_free_kbytes", "KiB", ge=1024, le=65536)
    disk_mb_s: int = param(
        20, "throughput that the disk is held to", "MB/s", machine=True, ge=1, le=100_000
    )
    demotion: bool = param(False, "numa/demotion_enabled: a page goes to the slower node first")
    mglru: bool = param(False, "lru_gen/enabled: multi-gen LRU in place of two lists")
    promo_mark: bool = param(
        False, "numa_balancing=2: kswapd refills up to a mark above high, to leave room to promote"
    )
    interleave: bool = param(
        False, "the reader has MPOL_WEIGHTED_INTERLEAVE, each node its size as weight"
    )
    turnovers: int = param(2, "read once memory is full, in its sizes", ge=1, le=100)
    repeats: int = param(2, "times that it is done, one after the other in one boot", ge=1, le=100)


class Probed(Guest):
    """`fairzone/probed`: a disk is written and read while a probe counts beside the patch."""

    data_percent: int = param(120, "data, in per cent of the guest's memory", "%", ge=10, le=1000)

"""Variants of access monitoring, parameters of the DAMON experiments, and a machine's speeds."""

from enum import IntEnum
from typing import ClassVar, NamedTuple, Self

from pydantic import model_validator

from lorelab.params import Params, Refusal, by_label, label, param, seeded


class Goal(NamedTuple):
    """What tuned intervals are to come to."""

    access_bp: int
    """Ten thousandths of the access events that a window could see."""
    aggrs: int
    """Windows from one tuning to the next."""
    min_sample_us: int
    max_sample_us: int


class Traits(NamedTuple):
    """What a variant does, and what it does otherwise than DAMON of 6.12."""

    regions: bool = True
    """It samples regions; else it looks at memory by its own measure."""
    adapts: bool = True
    """Regions merge and split."""
    pieces: int = 3
    """That a region is split into at most."""
    update_us: int | None = None
    """Time between looks at the mappings, whatever was asked for."""
    goal: Goal | None = None
    kernel: bool = False
    """The laboratory's kernel does it."""
    release: str = "6.12"
    """Whose kdamond it is."""
    own_random: bool = False
    """A context has a random generator of its own: a log has its state, and not each number."""
    fresh: bool = True
    """The model has memory that comes as it is first accessed."""
    schemes: bool = True
    """The model has schemes."""


class Variant(IntEnum):
    """One way to learn which memory is in use."""

    PAGE_SCAN = 0
    """Every page checked every interval, as idle page tracking (Vladimir Davydov, Linux 4.3)
    is used; the baseline that the DAMON series argues against."""
    FIXED = 1
    """One page a region sampled, regions never adapted: what is left of DAMON without
    kdamond_merge_regions() and kdamond_split_regions()."""
    DAMON = 2
    """SeongJae Park's DAMON as Linux 6.12.117 runs it (mm/damon/core.c, vaddr.c)."""
    SPLIT_2 = 3
    """DAMON that never splits in three: kdamond_split_regions() without last_nr_regions."""
    SETTINGS_2020 = 4
    """DAMON of 6.12 with mappings looked at every second, as in the series of 2020."""
    TUNED = 5
    """DAMON with Linux 6.15's tuning of intervals towards a share of access events
    (SeongJae Park, 20250303221726.484227-1-sj@kernel.org), at the goal of mm/damon/stat.c."""
    IDEAL = 6
    """Hardware that reports every n-th access with its address and costs nothing
    (processor event-based sampling without its skid and interrupts)."""
    V7_3 = 7
    """DAMON as Linux 7.3.4 runs it (mm/damon/core.c: damon_merge_regions_of(),
    kdamond_split_regions(), damon_apply_min_nr_regions(); include/linux/damon.h: damon_rand();
    mm/damon/vaddr.c: __damon_va_init_regions())."""

    @property
    def traits(self) -> Traits:
        """What it does."""
        return TRAITS[self]


TRAITS = {
    Variant.PAGE_SCAN: Traits(regions=False),
    Variant.FIXED: Traits(adapts=False),
    Variant.DAMON: Traits(kernel=True),
    Variant.SPLIT_2: Traits(pieces=2),
    Variant.SETTINGS_2020: Traits(update_us=1_000_000, kernel=True),
    # 4 % of the access events, tuned every third window: what mm/damon/stat.c asks for.
    Variant.TUNED: Traits(goal=Goal(400, 3, 5_000, 10_000_000)),
    Variant.IDEAL: Traits(regions=False),
    Variant.V7_3: Traits(release="7.3", own_random=True, fresh=False, schemes=False),
}
VariantParam = by_label(Variant)


class Monitoring(Params):
    """What every DAMON experiment takes: DAMON's attributes, the variant, and the memory."""

    retired: ClassVar[frozenset[str]] = frozenset(
        [
            "access_ns",
            "check_ns",
            "sample_ns",
            "page_ns",
            "collapse_ns",
            "lead_us",
            "cpus",
            "tick_us",
        ]
    )
    refusals: ClassVar = (
        Refusal(
            "sample_us > aggr_us",
            "sample_us={sample_us} aggr_us={aggr_us}: "
            "takes a sampling interval no longer than the aggregation interval",
        ),
        Refusal(
            "min_regions > max_regions",
            "min_regions={min_regions} max_regions={max_regions}: "
            "takes a lower bound no higher than the upper bound",
        ),
    )

    variant: VariantParam = param(Variant.DAMON, "how accesses are monitored")
    sample_us: int = param(5_000, "sampling interval", "us", ge=1, le=60_000_000)
    aggr_us: int = param(100_000, "aggregation interval", "us", ge=1, le=3_600_000_000)
    update_us: int = param(
        60_000_000, "time between looks at the mappings", "us", ge=1, le=3_600_000_000
    )
    min_regions: int = param(10, "lower bound of the number of regions", "regions", ge=3)
    max_regions: int = param(
        1000, "upper bound of the number of regions", "regions", ge=3, le=100_000
    )
    rand64: bool = param(False, "let damon_rand() draw 64 bits above 4 GiB; Linux 6.12 draws 32")
    tlb: int = param(
        0, "pages that the TLB holds; 0: as if flushed with each clear", "pages", ge=0, le=2**20
    )
    switch_us: int = param(
        0,
        "time between flushes of the TLB by a context switch; 0: never",
        "us",
        ge=0,
        le=3_600_000_000,
    )
    seed: int = param(1, "seed of kdamond's random numbers and of the program's", ge=0, lt=2**64)

    @property
    def samples(self) -> int:
        """Samples of a window."""
        return self.aggr_us // self.sample_us

    @property
    def looks_us(self) -> int:
        """Time between looks at the mappings: the variant's own, or what was asked for."""
        return self.variant.traits.update_us or self.update_us


class Masim(Monitoring):
    """`damon/masim`: a program in masim's configuration language, monitored."""

    workload: str = param(
        "zigzag", "zigzag, stairs, zigzag-30secs, stairs-30secs, ..., or a masim file"
    )
    mib: int = param(
        0, "size of all of the program's regions together; 0: as configured", "MiB", ge=0, le=2**14
    )
    fresh: bool = param(
        False, "its memory comes as it is first accessed, and the last of it waits for an LRU list"
    )


class Accuracy(Masim):
    """`damon/accuracy`: the same, weighed against the truth over the whole run."""

    runs: int = param(1, "runs, with seeds from `seed` on", "runs", ge=1, le=100)
    allowed_percent: float = param(
        10, "of the hot bytes that may be misplaced once a change is detected", "%", gt=0, le=100
    )


class Overhead(Monitoring):
    """`damon/overhead`: the cost of monitoring, by the size of what is monitored."""

    mib: int = param(64, "address space of the program", "MiB", ge=1, le=2**20)
    parts: int = param(
        2, "equal parts of it, every second one touched, in turn", "parts", ge=2, le=10_000
    )
    touched_mib: int = param(
        0, "touch only so much, at the lowest address; 0: every second part", "MiB", ge=0, le=2**20
    )
    seconds: int = param(60, "how long to monitor", "s", ge=1, le=86_400)


class Hotspot(Monitoring):
    """`damon/hotspot`: a small hot range in the middle of a large cold one."""

    mib: int = param(1024, "address space of the program", "MiB", ge=1, le=2**20)
    hot_kib: int = param(4096, "size of the hot range", "KiB", ge=4, le=2**30, multiple_of=4)
    runs: int = param(100, "runs, with seeds from `seed` on", "runs", ge=1, le=100_000)
    windows: int = param(300, "windows of a run", "windows", ge=1, le=100_000)
    own: bool = param(False, "the process touches its own code, stack and data, as any does")
    kdamonds: int = param(
        1, "kdamonds that watch it; all of a kernel share last_nr_regions", ge=1, le=2
    )


class HotRange(Monitoring):
    """`damon/hot-range`: one hot range in cold memory, that moves once."""

    refusals: ClassVar = (
        *Monitoring.refusals,
        *(
            Refusal(
                f"{field} + hot_kib > mib << 10",
                f"{field}={{{field}}} hot_kib={{hot_kib}}: "
                "takes a range that ends within mib={mib}, which is {mib << 10} KiB",
            )
            for field in ("hot_at_kib", "then_at_kib")
        ),
    )

    mib: int = param(256, "memory of the program", "MiB", ge=1, le=2**14)
    hot_kib: int = param(32_768, "size of the hot range", "KiB", ge=4, le=2**24, multiple_of=4)
    hot_at_kib: int = param(
        65_536, "where it begins in that memory", "KiB", ge=0, le=2**24, multiple_of=4
    )
    then_at_kib: int = param(
        163_840, "where it begins once half of the windows are over", "KiB", ge=0, le=2**24,
        multiple_of=4,
    )  # fmt: skip
    windows: int = param(60, "windows of the run", "windows", ge=1, le=200)

    @model_validator(mode="after")
    def _with_regions(self) -> Self:
        if not self.variant.traits.regions:
            raise ValueError(f"variant={label(self.variant)}: takes one that has regions")
        return self


class WithSchemes(Masim):
    """A program monitored, and schemes applied to what is found."""

    schemes: str = param(
        "prcl", "ethp, prcl, or schemes in the thread's notation, separated by semicolons"
    )
    quota_mib: int = param(
        0,
        "memory a scheme may be applied to in a charge window; 0: no quota",
        "MiB",
        ge=0,
        le=2**20,
    )
    quota_ms: int = param(1000, "charge window of the quota", "ms", ge=1, le=3_600_000)

    @model_validator(mode="after")
    def _listed(self) -> Self:
        if self.fresh:
            raise ValueError("fresh=true: takes false, for with schemes memory comes so, too")
        return self


class Schemes(WithSchemes):
    """`damon/schemes`: several runs of it."""

    runs: int = param(6, "runs, with seeds from `seed` on", "runs", ge=1, le=100)


class FollowedSchemes(WithSchemes):
    """`damon/schemes-followed`: one run, and what only a kernel's own figures can drive."""

    retired: ClassVar[frozenset[str]] = WithSchemes.retired | {"runs"}

    goal_percent: int = param(
        0, "of its goal, what a quota is told that it reaches; 0: no goal", "%", ge=0, le=1000
    )
    wmark_high: int = param(
        0,
        "thousandths of memory by which less has to be free than as monitoring begins, or schemes "
        "rest; 0: no watermarks",
        ge=0,
        le=1000,
    )
    wmark_mid: int = param(0, "the same, for schemes at rest to begin", ge=0, le=1000)
    wmark_low: int = param(1000, "thousandths less from which on schemes rest, too", ge=0, le=1000)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.wmark_high <= self.wmark_mid <= self.wmark_low:
            raise ValueError(
                f"wmark_high={self.wmark_high} wmark_mid={self.wmark_mid} "
                f"wmark_low={self.wmark_low}: takes the high one, at which more is free, first"
            )
        return self


def runs(params: Accuracy | Hotspot | Schemes) -> list[Params]:
    """The runs that `params` ask for, each with a seed of its own, from `seed` on."""
    return [seeded(params, params.seed + n) for n in range(params.runs)]


class Speeds(NamedTuple):
    """What things take on the machine of a program and kdamond, and how the two share it.

    A kernel's run says what they took, and the model is told (`lorelab.damon.agree.runs`). Else it
    runs on a machine of 1 instruction a ns, where each has a CPU of its own.
    """

    access_ns: float = 10
    """An access of the program."""
    check_ns: float = 1_650
    """kdamond's work for one region and sample."""
    sleep_us: float = 0
    """A sleep of kdamond. The model sleeps the sampling interval, and waits for the CPU."""
    page_ns: float = 5_000
    """Paging out a page."""
    collapse_ns: float = 0
    """khugepaged's work for a huge page."""
    lead_us: float = 0
    """From the begin of monitoring to that of the program."""
    sample_ns: float = 0
    """kdamond's work for a sample, whatever its regions."""
    cpus: int = 2
    """On 1 the program stands still while kdamond works."""
    tick_us: int = 0
    """Between two ticks of a CPU that kdamond shares with the program; 0: it has one of its own."""


ALONE = Speeds()
"""The machine of a model that was told of none."""
TOOK = {"access": "ns", "check": "ns", "sleep": "us", "page": "ns", "collapse": "ns", "lead": "us"}
"""Counters that say what things took, and their units."""


def took(speeds: Speeds, names: tuple[str, ...] = tuple(TOOK)) -> dict[str, tuple[str, float]]:
    """Those of `TOOK` that have these names, with their units."""
    return {name: (TOOK[name], getattr(speeds, f"{name}_{TOOK[name]}")) for name in names}

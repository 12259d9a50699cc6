"""Variants of the swap slot allocator, and the parameters of the swap experiments."""

from enum import IntEnum
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, model_validator

from lorelab.errors import BadInput
from lorelab.params import Params, by_label, label, param


class Variant(IntEnum):
    """One allocator: the baseline, the patch, what reviewers raised, what was merged, what came."""

    V6_6 = 0
    """Linux 6.6: order 0 and PMD order only, other folios are split."""
    V1 = 1
    """Ryan Roberts, RFC v1, 10 Oct 2023: one current cluster per device and order."""
    V2 = 2
    """Ryan Roberts, v2, 17 Oct 2023: one current cluster per CPU and order; no stealing."""
    V3 = 3
    """Ryan Roberts, v3, 25 Oct 2023 (the thread): as v2, the scanner may steal."""
    V6_10 = 4
    """v4 to v7, merged for 6.10 as 845982eb264b: scans forward in the current cluster."""
    RYAN_SCAN = 5
    """Ryan Roberts, RFC of 18 Jun 2024: circular scan over allocated clusters of the order."""
    HUANG_PROMOTE = 6
    """Huang Ying, mid-2024: a cluster moves to the list of order + 1 when a range frees up."""
    CHRIS_V3 = 7
    """Chris Li, v3, 2024: per-order nonfull list tried before the free list."""
    CHRIS_V4 = 8
    """Chris Li, v4, 2024: free list before nonfull list, order 0 steals by list, no frag lists."""
    V6_12 = 9
    """Linux 6.12: v5 as merged, with frag and full lists, order 0 stealing from other orders."""
    V7_2 = 10
    """Linux 7.2: no slot caches, nonfull clusters first, one frag cluster tried (7.2.12)."""


class Allocator(IntEnum):
    """The file of `lorelab.swap.model` that has a variant's clusters."""

    SSD_CLUSTER = 0
    """`ssd_cluster`, with `scan` behind it: up to 6.11."""
    V6_12 = 1
    V7_2 = 2


class Large(IntEnum):
    """How `lorelab.swap.model.scan` serves orders above 0."""

    AS_ORDER_0 = 0
    """From the current cluster of the order, in `scan_swap_map_slots()`."""
    PMD_ONLY = 1
    """A free cluster for a PMD; folios of other orders are split."""
    RESERVED = 2
    """From a cluster that is reserved whole."""
    CURRENT = 3
    """From the current cluster of the order, in a function of their own."""


class Traits(NamedTuple):
    """What a variant can do. The model asks for traits, never for the variant."""

    allocator: Allocator
    large: Large = Large.AS_ORDER_0
    reserves_per_cpu: bool = False
    """A reserved cluster is one CPU's; otherwise the device has one for each order."""
    steps_past: bool = True
    """The search of a current cluster steps past an occupied range; otherwise it leaves there."""
    nonfull_lists: bool = False
    """`scan` lists clusters of which some was freed."""
    nonfull_first: bool = False
    """... and takes them before free ones."""
    promotes: bool = False
    """... and moves them up to the highest order that they have a range for."""
    circular_scan: bool = False
    """Without a free cluster, those in use for the order are searched in a circle."""
    frag_lists: bool = False
    """Nonfull clusters that were searched go to a list of their own."""
    reclaims: bool = False
    """Once the area is over half full, slots that only the swap cache holds are read past."""
    slot_caches: bool = True
    """mm/swap_slots.c is there."""
    batched_zap: bool = False
    """A zap gives a row of slots back at once, past the free cache."""
    spreads: bool = True
    """Neighbours on the fresh free list are 32 clusters apart."""
    rotational: bool = True
    """The model has its device without clusters."""


TRAITS = {
    Variant.V6_6: Traits(Allocator.SSD_CLUSTER, Large.PMD_ONLY),
    Variant.V1: Traits(Allocator.SSD_CLUSTER, Large.RESERVED),
    Variant.V2: Traits(Allocator.SSD_CLUSTER, Large.RESERVED, reserves_per_cpu=True),
    Variant.V3: Traits(Allocator.SSD_CLUSTER, Large.CURRENT, steps_past=False),
    Variant.V6_10: Traits(Allocator.SSD_CLUSTER),
    Variant.RYAN_SCAN: Traits(Allocator.SSD_CLUSTER, circular_scan=True),
    Variant.HUANG_PROMOTE: Traits(Allocator.SSD_CLUSTER, nonfull_lists=True, promotes=True),
    Variant.CHRIS_V3: Traits(Allocator.SSD_CLUSTER, nonfull_lists=True, nonfull_first=True),
    Variant.CHRIS_V4: Traits(Allocator.V6_12),
    Variant.V6_12: Traits(Allocator.V6_12, frag_lists=True, reclaims=True, batched_zap=True),
    Variant.V7_2: Traits(
        Allocator.V7_2,
        frag_lists=True,
        batched_zap=True,
        slot_caches=False,
        spreads=False,
        rotational=False,
    ),
}
"""One row a variant: what was proposed is told apart here, and in the file it names."""


KERNEL = Variant.V6_12
"""What the laboratory boots."""


class AllocMode(IntEnum):
    """Where 6.12 looks for a cluster: its own way, or one that the laboratory's kernel has too.

    The words are those of the switch lorelab/swap/alloc_mode (lib/kernel/swap/patches). Lists and
    freeing are 6.12's in all of them, and so is order 0, except in NONFULL_FIRST.
    """

    UPSTREAM = 0
    """Current cluster, free, nonfull and frag clusters, in this order."""
    V6_10 = 1
    """Above order 0 the current cluster, then a free one, or none: where 6.10 looks."""
    V3 = 2
    """As V6_10, but a current cluster is left at its first occupied range: the thread's v3.

    The two part only once slots were taken ahead of the place where a current cluster of a higher
    order goes on: by order 0, which no run of `swap/allocator-test` on one CPU was found to bring
    about, or by another CPU, when the cluster was free in between.
    """
    NONFULL_FIRST = 3
    """Nonfull clusters before free ones, for all orders: where Chris Li's v3 looks."""


class ForceSplit(IntEnum):
    """Which large folios reclaim splits before it asks for swap slots.

    The words are those of the switch lorelab/swap/force_split (lib/kernel/swap/patches).
    """

    PARTIALLY_MAPPED = 0
    """Those of which some pages are no longer mapped: 6.10 and later."""
    NOT_PMD_MAPPED = 1
    """All that no PMD maps: before the series."""
    ALL = 2
    """All."""
    NONE = 3
    """None, as the series began: partly mapped folios go out whole too."""


def _options(value: str) -> str:
    words = str(value).split()
    if any(word not in ("-a", "-s") for word in words) or len(set(words)) < len(words):
        raise ValueError('takes "", "-a", "-s" or "-a -s" (the options of thp_swap_allocator_test)')
    return " ".join(sorted(words))


def _check_rotational(params: Any) -> Any:
    if params.rotational and not TRAITS[params.variant].rotational:
        raise ValueError(
            f"rotational=true: {label(params.variant)} has clusters on a rotational device too, "
            "which the model lacks"
        )
    return params


VariantParam = by_label(Variant)
AllocModeParam = by_label(AllocMode)
ForceSplitParam = by_label(ForceSplit)


TOOL_ITERATIONS = 100
"""Iterations of the loop in tools/mm/thp_swap_allocator_test.c."""
TEST_CPUS = param(1, "CPUs of the machine; the test starts on the first", "CPUs", ge=1, le=64)
MOVE_EVERY = param(
    0,
    "calls of rand() after which the test moves to the next CPU; 0: never",
    "calls",
    ge=0,
    le=2**31 - 1,
)


class AllocatorTest(Params):
    """`swap/allocator-test`: the loop of the kernel's tools/mm/thp_swap_allocator_test.c."""

    options: Annotated[str, BeforeValidator(_options)] = param(
        "", 'options of the tool: -a aligned swap-in, -s small folios too: "", "-a", "-s", "-a -s"'
    )
    seed: int = param(1, "srand() of glibc; 1 is what the tool itself runs with", ge=0, lt=2**32)
    iterations: int = param(
        TOOL_ITERATIONS, "iterations of the tool's loop", "iterations", ge=1, le=10_000
    )
    device_mib: int = param(
        64, "zram swap device; whole clusters of 2 MiB", "MiB", ge=2, le=2**20, multiple_of=2
    )
    variant: VariantParam = param(Variant.V6_12, "allocator")
    large_swapin: bool = param(True, "swap in a whole mTHP from a synchronous device (6.12)")
    slot_cache: bool = param(True, "per-CPU cache of 64 order-0 slots for allocation")
    free_cache: bool = param(True, "per-CPU cache of 64 freed slots, returned in one batch")
    batched_zap: bool = param(
        True, "v6.12: a row of zapped slots is freed at once, past the free cache"
    )
    stealing: bool = param(True, "order 0 may take slots from clusters of other orders")
    alloc_mode: AllocModeParam = param(
        AllocMode.UPSTREAM, "where v6.12 looks for clusters: a switch of the laboratory's kernel"
    )
    rotational: bool = param(False, "a rotational device: no clusters, so no order above 0")
    cpus: int = TEST_CPUS
    move_every: int = MOVE_EVERY
    tails_reversed: bool = param(
        False,
        "reclaim takes the tails of a split folio last first (7.2), not in order (6.12)",
        only="model",
    )

    _rotational_has_no_clusters = model_validator(mode="after")(_check_rotational)

    @model_validator(mode="after")
    def _only_6_12_has_modes(self) -> Self:
        if self.alloc_mode != AllocMode.UPSTREAM and self.variant != KERNEL:
            raise ValueError(
                f"alloc_mode={label(self.alloc_mode)}: a way to use v6.12's lists; "
                f"variant={label(self.variant)} has its own, so take alloc_mode=upstream"
            )
        return self


def check_paths(params: AllocatorTest) -> None:
    """Raise BadInput for a run that has no paths to count."""
    if params.rotational:
        raise BadInput("rotational=true: paths are of clusters, and a rotational device has none")


class ShortTest(Params):
    """The test where settings part: small enough to be run many times in one boot."""

    options: Annotated[str, BeforeValidator(_options)] = param(
        "-s", 'options of the tool, as for swap/allocator-test: "", "-a", "-s", "-a -s"'
    )
    seed: int = param(1, "srand() of glibc; 1 is what the tool itself runs with", ge=0, lt=2**32)
    device_mib: int = param(
        80, "zram swap device; whole clusters of 2 MiB", "MiB", ge=2, le=2**20, multiple_of=2
    )
    iterations: int = param(20, "iterations of each run", "iterations", ge=1, le=TOOL_ITERATIONS)


class Switches(ShortTest):
    """`swap/switches`: that test under one setting of the switches after the other, in turns."""

    turns: int = param(2, "times that each setting runs in the one boot", "turns", ge=1, le=100)
    large_swapin: bool = param(False, "in all settings: swap in a whole mTHP, as booted")
    cpus: int = TEST_CPUS
    move_every: int = MOVE_EVERY


class Cpus(ShortTest):
    """`swap/cpus`: that test, page by page, on several CPUs that the scheduler moves it between."""

    cpus: int = param(2, "CPUs of the machine", "CPUs", ge=2, le=64)
    moves: float = param(
        2, "moves in a repeat, in the mean", "moves", only="model", ge=0, le=100_000
    )


LARGEST_PAGES = 65536
"""Pages that `swap/swapout` takes: 256 MiB, as its kernel half has memory for twice that."""


class Usemem(Params):
    """`swap/usemem`: the thread's benchmark, vm-scalability's usemem in a memory cgroup."""

    processes: int = param(70, "usemem processes", "processes", ge=1, le=1024)
    cpus: int = param(70, "CPUs; process n runs on CPU n modulo cpus", "CPUs", ge=1, le=1024)
    mib_each: int = param(
        1024, "anonymous memory each process writes once", "MiB", ge=2, le=2**20, multiple_of=2
    )
    memcg_mib: int = param(40960, "memory limit of the cgroup", "MiB", ge=2, le=2**24)
    swap_mib: int = param(
        35840, "swap device; whole clusters of 2 MiB", "MiB", ge=2, le=2**20, multiple_of=2
    )
    folio_order: int = param(4, "order of the anonymous folios: 0, or 2 to 9", ge=0, le=9)
    variant: VariantParam = param(Variant.V3, "allocator; v6.6 splits what it can't allocate for")
    force_split: ForceSplitParam = param(
        ForceSplit.PARTIALLY_MAPPED, "folios that are split first; v6.6 has its own rule"
    )
    split_batching: bool = param(
        False, "a split waits for its invalidations once (from 6.8), not one by one (up to 6.7)"
    )
    slot_cache: bool = param(True, "per-CPU cache of 64 order-0 slots for allocation")
    architecture: Literal["arm64", "x86"] = param(
        "arm64", "x86 leaves the wait to a batch only if the process runs on another CPU too"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.folio_order == 1:
            raise ValueError("folio_order=1: anonymous folios have order 0, or 2 to 9")
        if self.architecture == "x86" and self.processes > self.cpus:
            raise ValueError(
                f"processes={self.processes}: on x86 it matters which process a CPU runs, and the "
                f"model takes one a CPU; take processes up to cpus={self.cpus}"
            )
        asked, held = self.processes * self.mib_each, self.memcg_mib + self.swap_mib
        if asked >= held:
            raise ValueError(
                f"processes x mib_each = {asked} MiB does not fit in memcg_mib + swap_mib = "
                f"{held} MiB (less one page for the swap header): raise swap_mib"
            )
        return self


class Swapout(Params):
    """`swap/swapout`: each folio of one process reclaimed once, on 6.12 with its switches."""

    folios: int = param(256, "folios, each swapped out once", "folios", ge=8, le=65536)
    folio_order: int = param(4, "order of the anonymous folios: 0, or 2 to 9", ge=0, le=9)
    dropped: int = param(
        0, "pages of each folio that the process has dropped before (MADV_DONTNEED)", "pages", ge=0
    )
    force_split: ForceSplitParam = param(ForceSplit.PARTIALLY_MAPPED, "folios that are split first")
    split_batching: bool = param(
        True, "a split waits for its invalidations once (from 6.8), not one by one (up to 6.7)"
    )
    reclaimer: Literal["elsewhere", "own", "madvise"] = param(
        "elsewhere",
        "elsewhere: a task on another CPU; own: the process itself; madvise: itself, MADV_PAGEOUT",
    )
    requests: int = param(
        1, "writes to memory.reclaim, each of which asks for a part of the folios", "writes", ge=1
    )

    @model_validator(mode="after")
    def _is_one_region(self) -> Self:
        if self.folio_order == 1:
            raise ValueError("folio_order=1: anonymous folios have order 0, or 2 to 9")
        if self.dropped >= 1 << self.folio_order:
            raise ValueError(
                f"dropped={self.dropped}: a folio of order {self.folio_order} has "
                f"{1 << self.folio_order} pages, of which one at least stays mapped"
            )
        pages = self.folios << self.folio_order
        if pages % 512 or pages > LARGEST_PAGES:
            raise ValueError(
                f"folios={self.folios}: {pages} pages in all; takes a multiple of 512 pages up to "
                f"{LARGEST_PAGES}"
            )
        if self.folios % self.requests:
            raise ValueError(
                f"requests={self.requests}: each asks for the same number of folios; takes a "
                f"divisor of folios={self.folios}"
            )
        if self.requests > 1 and self.reclaimer == "madvise":
            raise ValueError(
                f"requests={self.requests}: MADV_PAGEOUT asks nothing of memory.reclaim; take "
                "requests=1, or reclaimer=elsewhere or own"
            )
        return self


class Instructions(Swapout):
    """`swap/instructions`: the same with its instructions counted, on either kernel."""

    series: bool = param(True, "the kernel with lib/kernel/swap/patches; false: the unmodified one")

    @model_validator(mode="after")
    def _has_the_switch(self) -> Self:
        if self.dropped or self.reclaimer == "madvise":
            raise ValueError(
                "instructions are counted of whole folios that reclaim finds: take dropped=0, and "
                "reclaimer=elsewhere or own"
            )
        upstream = self.force_split == ForceSplit.PARTIALLY_MAPPED and self.split_batching
        if not self.series and not upstream:
            raise ValueError(
                "series=false: the unmodified kernel has no switches; take "
                "force_split=partially-mapped and split_batching=true"
            )
        return self


def order_weights(text: str) -> dict[int, int]:
    """Read `0:1,4:3` as weights by order.

    Raises
    ------
    ValueError
        The text is no such list, an order is not 0 to 9 or given twice, or no weight is left.
    """
    weights = {}
    for pair in text.replace(" ", "").split(","):
        order, colon, weight = pair.partition(":")
        if not (colon and order.isdecimal() and weight.isdecimal()) or int(order) > 9:
            raise ValueError("takes order:weight pairs, orders 0 to 9, as 0:1,2:1,4:1,9:1")
        if int(order) in weights:
            raise ValueError(f"gives order {order} twice")
        weights[int(order)] = int(weight)
    if not any(weights.values()) or max(weights.values()) > 2**16:
        raise ValueError("takes weights up to 65536, one of them above 0")
    return {order: weight for order, weight in sorted(weights.items()) if weight}


def _orders(value: str) -> str:
    weights = order_weights(str(value))
    return ",".join(f"{order}:{weight}" for order, weight in weights.items())


class Mixed(Params):
    """`swap/mixed`: swap-outs of several orders with lifetimes, from tasks that change CPU."""

    device_mib: int = param(
        256, "swap device; whole clusters of 2 MiB", "MiB", ge=2, le=2**20, multiple_of=2
    )
    variant: VariantParam = param(Variant.V6_12, "allocator")
    cpus: int = param(4, "CPUs that allocate", "CPUs", ge=1, le=1024)
    tasks: int = param(4, "tasks that swap out, all at the same time", "tasks", ge=1, le=4096)
    migration: float = param(
        0.01, "chance that a task moves to a random CPU before a folio", ge=0, le=1
    )
    orders: Annotated[str, BeforeValidator(_orders)] = param(
        "0:1,2:1,4:1,9:1", "order:weight, a weight being the order's share of the pages"
    )
    fill: float = param(
        0.75, "pages wanted on the device at any time, as a share of its slots", gt=0, le=2
    )
    turnovers: float = param(
        8, "pages swapped out after filling, in sizes of the device", ge=0, le=10_000
    )
    steps: int = param(8, "windows the turnovers are reported in", "steps", ge=1, le=10_000)
    lifetimes: Literal["zipf", "exponential"] = param(
        "zipf", "how long a folio stays swapped out: zipf, exponential"
    )
    paged: float = param(
        0.1, "share of large folios whose pages are swapped in one by one", ge=0, le=1
    )
    seed: int = param(1, "seed of the event generator", ge=0, lt=2**64)
    slot_cache: bool = param(True, "per-CPU cache of 64 order-0 slots for allocation")
    free_cache: bool = param(True, "per-CPU cache of 64 freed slots, returned in one batch")
    stealing: bool = param(True, "order 0 may take slots from clusters of other orders")
    rotational: bool = param(False, "a rotational device: no clusters, so no order above 0")

    _rotational_has_no_clusters = model_validator(mode="after")(_check_rotational)

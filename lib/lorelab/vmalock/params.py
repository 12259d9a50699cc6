"""Variants of the lock that a page fault takes, and the parameters of the vmalock experiments."""

import re
from enum import IntEnum
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from lorelab.params import Params, by_label, label, param

AREAS = 4
"""That a thread of a launch maps: stack, TLS, signal stack and table."""


class Variant(IntEnum):
    """What a page fault takes: the baseline, the patch, each alternative, what came later."""

    MMAP_LOCK = 0
    """Linux 6.3 and before: every fault under mmap_lock, shared."""
    SPF = 1
    """Michel Lespinasse's speculative page faults, 28 Jan 2022: no lock, a copy of the VMA that is
    held against a sequence of the mm before the page table entry is set."""
    VMA_RWSEM = 2
    """The idea of LSF/MM 2022 (lwn.net/Articles/893906): a reader/writer semaphore in each VMA,
    which a writer takes and gives back VMA by VMA."""
    V2 = 3
    """Suren Baghdasaryan, v2, 27 Jan 2023 (the thread): a semaphore in each VMA, and sequences by
    which a writer gives all back at once."""
    V6_12 = 4
    """Linux 6.12.117: the mm's sequence is a seqcount, odd while a writer holds mmap_lock."""
    V7_3 = 5
    """Linux 7.3.4: a count in the VMA instead of the semaphore, and VMAs reused without a grace
    period."""
    RANGE = 6
    """A lock of ranges of addresses in the place of mmap_lock: a tree of ranges under one spinlock.
    No message of the thread; in the performance model alone."""


class Traits(NamedTuple):
    """What a variant can do; the one place that tells variants apart."""

    speculative: bool = False
    """A fault takes no lock, and looks at the mm's sequence again before it ends."""
    range_lock: bool = False
    """Faults and writers lock ranges of addresses, in a tree under a spinlock."""
    vma_read_lock: bool = False
    """A fault locks its VMA, and a writer each VMA that it changes."""
    sequences: bool = False
    """A writer marks VMAs by a sequence, and unmarks all by counting the mm's up."""
    seqcount: bool = False
    """The mm's sequence is odd while a writer holds mmap_lock: it is counted up where that is taken
    for writing, and where it is let go."""
    refcount: bool = False
    """Readers of a VMA are counted in `vm_refcnt`, which is 0 when the VMA is detached."""
    typesafe: bool = False
    """A freed VMA may be used anew at once (SLAB_TYPESAFE_BY_RCU), without a grace period."""
    anon_vma_prepare: bool = False
    """A fault under the VMA's lock may prepare `anon_vma`, if mmap_lock is free for reading."""


TRAITS = {
    Variant.MMAP_LOCK: Traits(),
    Variant.SPF: Traits(speculative=True, seqcount=True),
    Variant.VMA_RWSEM: Traits(vma_read_lock=True),
    Variant.V2: Traits(vma_read_lock=True, sequences=True),
    Variant.V6_12: Traits(vma_read_lock=True, sequences=True, seqcount=True, anon_vma_prepare=True),
    Variant.V7_3: Traits(
        vma_read_lock=True,
        sequences=True,
        seqcount=True,
        refcount=True,
        typesafe=True,
        anon_vma_prepare=True,
    ),
    Variant.RANGE: Traits(range_lock=True),
}


RELEASED = {(6, 12): Variant.V6_12, (7, 3): Variant.V7_3}
"""Releases of Linux whose lock is one of the variants: those that were read for it."""


def variant_of(release: str) -> Variant | None:
    """What a kernel's page faults take, by its release as `uname -r` has it.

    Returns
    -------
    Variant or None
        None of a release that nobody here has read: the rules of no other one hold for it.
    """
    return RELEASED.get(_version(release))


def label_of(release: str) -> str:
    """Variant of a kernel's rows: the variant's label, `v7.4` of a release that is none of them."""
    variant = variant_of(release)
    return "v{}.{}".format(*_version(release)) if variant is None else label(variant)


def _version(release: str) -> tuple[int, int]:
    major, minor = re.match(r"(\d+)\.(\d+)", release).groups()
    return int(major), int(minor)


class Timed(Params):
    """What every run of the performance model takes."""

    cpus: int = param(8, "CPUs", "CPUs", ge=1, le=512)
    variant: by_label(Variant) = param(Variant.V6_12, "what a page fault takes")
    remote_ns: int = param(
        60, "fetching a cache line that another CPU wrote", "ns", ge=0, le=10_000
    )
    wake_ns: int = param(400, "waking a task, for who wakes it", "ns", ge=0, le=100_000)
    start_ns: int = param(1500, "start of a task that was woken", "ns", ge=0, le=1_000_000)
    switch_ns: int = param(1000, "switch to the next task", "ns", ge=0, le=1_000_000)
    local_ns: int = param(5, "atomic operation on a line that the CPU has", "ns", ge=0, le=1000)
    per_ns: int = param(4, "instructions that a CPU executes in a ns", ge=1, le=100)
    seed: int = param(1, "seed of the random numbers", ge=0, lt=2**32)


class Contention(Timed):
    """Parameters of `vmalock/contention`."""

    threads: int = param(8, "threads of the process", "threads", ge=1, le=1000)
    vmas: int = param(8, "VMAs; thread t faults in VMA t modulo vmas", "VMAs", ge=1, le=1000)
    writer_share: float = param(0.02, "share of mprotect() in a thread's operations", ge=0, le=1)
    think_ns: int = param(2000, "mean time between two operations", "ns", ge=0, le=10**9)
    ms: int = param(20, "length of the run", "ms", ge=1, le=100_000)


class Launch(Timed):
    """Parameters of `vmalock/launch`."""

    threads: int = param(100, "threads that one creates", "threads", ge=1, le=999)
    areas: int = param(
        AREAS, "areas that each maps: stack, TLS, signal stack, table", "VMAs", ge=1, le=8
    )
    pages: int = param(64, "pages of its areas that each touches first", "pages", ge=1, le=10_000)
    think_ns: int = param(2000, "mean time between two operations", "ns", ge=0, le=10**9)


class Zerocopy(Timed):
    """Parameters of `vmalock/zerocopy`."""

    threads: int = param(8, "threads: one calls madvise(), the others receive", ge=2, le=1000)
    same: bool = param(False, "madvise() changes the VMA that all of them receive in")
    receive_ns: int = param(1000, "work under the lock of a receive", "ns", ge=1, le=10**6)
    think_ns: int = param(10_000, "mean time between two receives", "ns", ge=0, le=10**9)
    madvise_ns: int = param(5000, "madvise()'s work under mmap_lock", "ns", ge=1, le=10**8)
    interval_us: int = param(50, "mean time between two calls of madvise()", "us", ge=0, le=10**6)
    ms: int = param(20, "length of the run", "ms", ge=1, le=100_000)


class Fork(Timed):
    """Parameters of `vmalock/fork`."""

    vmas: int = param(1000, "VMAs of the parent", "VMAs", ge=1, le=20_000)
    forks: int = param(20, "forks, one after another", ge=1, le=100_000)
    threads: int = param(0, "threads that fault meanwhile", "threads", ge=0, le=999)
    think_ns: int = param(2000, "mean time between two operations", "ns", ge=0, le=10**9)


class Merge(Timed):
    """Parameters of `vmalock/merge`."""

    threads: int = param(8, "threads of the process", "threads", ge=1, le=1000)
    merged: bool = param(True, "their anonymous areas lie side by side, and are one VMA")
    writer_share: float = param(0.02, "share of mprotect() in a thread's operations", ge=0, le=1)
    think_ns: int = param(2000, "mean time between two operations", "ns", ge=0, le=10**9)
    ms: int = param(20, "length of the run", "ms", ge=1, le=100_000)


Mutation = Literal[
    "none", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12"
]
"""Ways to break the protocol; `model.protocol.configurations.MUTATIONS` says what each is."""


class Protocol(Params):
    """One configuration of the protocol, searched to its end or to the first rule that breaks."""

    variant: by_label(Variant) = param(
        Variant.V6_12, "whose protocol: mmap-lock, v2, v6.12 or v7.3"
    )
    configuration: str = param("flags", "a name, or threads as fault:0+fault:1+unmap:0@two")
    mutation: Mutation = param("none", "what is broken on purpose", only="model")
    without: str = param("", "name of a step that is left out, or several, by commas")
    sequence_bits: int = param(3, "bits of the sequences", "bits", ge=1, le=4)


class Omissions(Params):
    """Every step left out by itself, in every configuration that has it."""

    variant: by_label(Variant) = param(Variant.V6_12, "whose protocol: v2, v6.12 or v7.3")
    sequence_bits: int = param(3, "bits of the sequences", "bits", ge=1, le=4)


class Wrap(Params):
    """A fault in one VMA while other VMAs are written to, until the sequence has wrapped."""

    variant: by_label(Variant) = param(Variant.V6_12, "whose protocol: v2, v6.12 or v7.3")
    sequence_bits: int = param(2, "bits of the sequences", "bits", ge=1, le=4)
    others: int = param(3, "writers that write to another VMA, once each", "writers", ge=0, le=6)


class Litmus(Params):
    """The protocol's accesses as litmus tests, on machines that reorder them."""

    test: Literal["all", "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8"] = param(
        "all", "which of them"
    )


class Faulters(Params):
    """Threads that fault, and threads that change the address space meanwhile."""

    mode: Literal["private", "shared", "merging"] = param(
        "private", "whether the faulters' areas are their own, shared, or merge with mappers' ones"
    )
    faulters: int = param(2, "threads that fault", "threads", ge=1, le=64)
    mappers: int = param(1, "threads that change the address space", "threads", ge=0, le=64)
    rounds: int = param(2000, "rounds of each thread", ge=1, le=10**6)
    pages: int = param(16, "pages that a faulter touches in a round", "pages", ge=1, le=10**5)
    cpus: int = param(2, "CPUs of the guest", "CPUs", ge=1, le=8)
    path: Literal["vma", "mmap"] = param("vma", "what a fault tries first")

    @model_validator(mode="after")
    def _something_merges(self) -> Self:
        if self.mode == "merging" and not self.mappers:
            raise ValueError(
                "mappers=0: nothing merges with the area; mode=merging takes 1 or more"
            )
        return self


class Threads(Faulters):
    """Parameters of `vmalock/threads`, and of `vmalock/followed`."""

    delay_us: int = param(0, "how long a writer dawdles after a mark", "us", ge=0, le=10_000)


class Followed(Threads):
    """Parameters of `vmalock/followed`."""

    rounds: int = param(30, "rounds of each thread", ge=1, le=10_000)


class Taken(Faulters):
    """Parameters of `vmalock/taken`."""

    rounds: int = param(500, "rounds of each thread", ge=1, le=10**6)


class Probed(Faulters):
    """Parameters of `vmalock/probed`."""

    rounds: int = param(200, "rounds of each thread", ge=1, le=10**5)


class Workloads(Params):
    """Parameters of `vmalock/workloads`."""

    workload: Literal["launch", "fork", "receive"] = param("launch", "what runs")
    path: Literal["vma", "mmap"] = param("vma", "what faults and receives try first")
    threads: int = param(
        100, "threads that start, or receivers; a fork has two", "threads", ge=1, le=999
    )
    size: int = param(
        64, "pages of a thread, mappings of a fork, or calls of madvise()", ge=1, le=20_000
    )
    same: bool = param(False, "madvise() changes the VMA that all receive in")
    cpus: int = param(2, "CPUs of the guest", "CPUs", ge=1, le=8)


class WorkloadsFollowed(Workloads):
    """Parameters of `vmalock/workloads-followed`."""

    threads: int = param(
        20, "threads that start, or receivers; a fork has two", "threads", ge=1, le=999
    )
    size: int = param(
        32, "pages of a thread, mappings of a fork, or calls of madvise()", ge=1, le=20_000
    )


class Broken(Params):
    """Parameters of `vmalock/broken`: a kernel with a step left out, for a guest thrown away."""

    workload: Literal["fork", "remap"] = param("fork", "what runs; each has the step that it is of")
    without: bool = param(True, "leave the step out: fork's mark, or the check of detached")
    rounds: int = param(300, "forks, or maps of one file in the place of another", ge=1, le=10**6)
    size: int = param(2000, "mappings of the forker, or places looked at", ge=1, le=20_000)
    config: Literal["lab", "kasan", "kcsan", "debug"] = param(
        "lab", "the kernel's config: KASAN, KCSAN, or KASAN with PROVE_LOCKING and DEBUG_VM"
    )


class Collision(Params):
    """Parameters of `vmalock/collision`."""

    n: int = param(5, "writers until the sequence has wrapped", "writers", ge=1, le=40)
    delay_us: int = param(10_000, "how long each dawdles in its section", "us", ge=1000, le=10_000)


class Overlap(Params):
    """Parameters of `vmalock/overlap`."""

    writer: Literal["mprotect", "munmap"] = param("mprotect", "what comes to the VMA")
    config: Literal["lab", "reset"] = param(
        "lab", "the kernel: as it is, or with VMAs' numbers reset when the sequence overflows"
    )


class Instructions(Params):
    """Parameters of `vmalock/instructions`."""

    what: Literal["faults", "forks"] = param("faults", "what is counted")
    size: int = param(1000, "pages of a round, or mappings of a fork", ge=1, le=20_000)
    rounds: int = param(12, "rounds", ge=2, le=1000)
    lock: Literal["on", "off", "inside", "unbuilt"] = param(
        "on", "per-VMA locks: tried first, not tried, inside the VMA, or not built into the kernel"
    )


class Sizes(Params):
    """Parameters of `vmalock/sizes`."""

    lock: Literal["on", "inside"] = param("on", "the VMA's lock: beside it, or inside")

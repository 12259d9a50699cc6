"""Variants of the lock that a page fault takes, and the parameters of the vmalock experiments."""

from enum import IntEnum
from typing import NamedTuple


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


class Traits(NamedTuple):
    """What a variant can do; the one place that tells variants apart."""

    vma_read_lock: bool
    """A fault locks its VMA."""
    sequences: bool
    """A writer marks VMAs by a sequence, and unmarks all by counting the mm's up."""
    seqcount: bool
    """The mm's sequence is counted up where mmap_lock is taken for writing, too."""
    refcount: bool
    """Readers of a VMA are counted in `vm_refcnt`, which is 0 when the VMA is detached."""
    typesafe: bool
    """A freed VMA may be used anew at once (SLAB_TYPESAFE_BY_RCU), without a grace period."""
    anon_vma_prepare: bool
    """A fault under the VMA's lock may prepare `anon_vma`, if mmap_lock is free for reading."""


TRAITS = {
    Variant.MMAP_LOCK: Traits(False, False, False, False, False, False),
    Variant.SPF: Traits(False, False, False, False, False, False),
    Variant.VMA_RWSEM: Traits(True, False, False, False, False, False),
    Variant.V2: Traits(True, True, False, False, False, False),
    Variant.V6_12: Traits(True, True, True, False, False, True),
    Variant.V7_3: Traits(True, True, True, True, True, True),
}

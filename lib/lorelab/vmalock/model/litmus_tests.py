"""The accesses of faults and writers as litmus tests; `litmus` has the machines for them."""

from lorelab.vmalock.model.litmus import MB, WMB, Access, Kind, Test, load, store

LOCK, UNLOCK = Access(Kind.LOCK, "vm_lock"), Access(Kind.UNLOCK, "vm_lock")
MARK = (store("mm_seq", 1), WMB, LOCK, store("vm_seq", 1), UNLOCK)
MARKED = {"mm_seq": 1, "vm_seq": 1}
READ = {"vm_refcnt": 1}
"""A reader is in. Of 7.3's count the tests have this reader alone, and neither the reference of an
attached VMA nor the flag by which a writer keeps readers out. Setting that flag orders what readers
did that left before it; so the tests are of one that leaves after it. The decrement is a store
here, and an atomic operation in the kernel, on x86 a barrier of its own. The whole sequence is in
lib/kernel/vmalock/litmus/whole."""


def _resets(release: bool) -> tuple[Access, ...]:
    """The end of the writer at which the sequence wraps, with the backport's reset.

    Its number, and the VMA's, was 1, here for UINT_MAX. The mm's becomes 2, for 0, and the VMA's 0,
    for VMA_LOCK_SEQ_NONE, one less than UINT_MAX: even, and never the mm's at either time.
    """
    return (store("data", 1), WMB, store("mm_seq", 2), store("vm_seq", 0, release=release))


def _meets(acquire: bool) -> tuple[Access, ...]:
    """A fault's late comparison, which finds unequal numbers, and what it reads of the VMA."""
    return (load("vm_seq", 0, acquire=acquire), load("mm_seq", 1, acquire=True), load("data", 2))


TESTS = {
    "L1": Test(
        "a reader that sees the end of the writer's sequence misses what the writer stored",
        (
            (store("data", 1), WMB, store("mm_seq", 2)),
            (load("mm_seq", 0, acquire=True), load("data", 1)),
        ),
        {(1, 0): 2, (1, 1): 0},
        MARKED,
    ),
    "L2": Test(
        "as L1 without the barrier before the increment",
        (
            (store("data", 1), store("mm_seq", 2)),
            (load("mm_seq", 0, acquire=True), load("data", 1)),
        ),
        {(1, 0): 2, (1, 1): 0},
        MARKED,
    ),
    "L2-read-once": Test(
        "as L1, but without the acquire of the reader's load",
        (
            (store("data", 1), WMB, store("mm_seq", 2)),
            (load("mm_seq", 0), load("data", 1)),
        ),
        {(1, 0): 2, (1, 1): 0},
        MARKED,
    ),
    "L3": Test(
        "a reader that holds the lock sees the mark, and the sequence from before it",
        (
            MARK,
            (LOCK, load("vm_seq", 0), load("mm_seq", 1, acquire=True), UNLOCK),
        ),
        {(1, 0): 1, (1, 1): 0},
    ),
    "L4": Test(
        "a writer's last load sees what a reader stores once it is unlocked",
        (
            (load("data", 0), WMB, store("mm_seq", 2)),
            (load("mm_seq", 0, acquire=True), store("data", 1)),
        ),
        {(0, 0): 1, (1, 0): 2},
        MARKED,
    ),
    "L4-release": Test(
        "the same, were the end of the sequence a release, as its comments call it",
        (
            (load("data", 0), store("mm_seq", 2, release=True)),
            (load("mm_seq", 0, acquire=True), store("data", 1)),
        ),
        {(0, 0): 1, (1, 0): 2},
        MARKED,
    ),
    "L4-mmap-lock": Test(
        "the same of a store that takes mmap_lock, as that of anon_vma does",
        (
            (load("data", 0), WMB, store("mm_seq", 2), store("mmap_lock", 1, release=True)),
            (load("mmap_lock", 0, acquire=True), store("data", 1)),
        ),
        {(0, 0): 1, (1, 0): 1},
        MARKED,
    ),
    "L4-page-table": Test(
        "the same of a page table entry, which is read and stored under its lock",
        (
            (
                Access(Kind.LOCK, "ptl"),
                load("data", 0),
                Access(Kind.UNLOCK, "ptl"),
                WMB,
                store("mm_seq", 2),
            ),
            (
                load("mm_seq", 0, acquire=True),
                Access(Kind.LOCK, "ptl"),
                store("data", 1),
                Access(Kind.UNLOCK, "ptl"),
            ),
        ),
        {(0, 0): 1, (1, 0): 2},
        MARKED,
    ),
    "L5": Test(
        "the early check, without the lock, sees the mark and the sequence from before it",
        (MARK, (load("vm_seq", 0), load("mm_seq", 1))),
        {(1, 0): 1, (1, 1): 0},
    ),
    "L5-locked": Test(
        "the early check sees the sequence from before the end, of a writer known to be done",
        (
            (store("mm_seq", 2), store("mmap_lock", 1, release=True)),
            (load("mmap_lock", 0), load("mm_seq", 1)),
        ),
        {(1, 0): 1, (1, 1): 1},
        MARKED,
    ),
    "L6": Test(
        "a writer of 7.3 that finds no reader left misses what the reader stored",
        (
            (store("data", 1), store("vm_refcnt", 0, release=True)),
            (load("vm_refcnt", 0), load("data", 1)),
        ),
        {(1, 0): 0, (1, 1): 0},
        READ,
    ),
    "L6-acquire": Test(
        "the same, were the writer's load of the count an acquire",
        (
            (store("data", 1), store("vm_refcnt", 0, release=True)),
            (load("vm_refcnt", 0, acquire=True), load("data", 1)),
        ),
        {(1, 0): 0, (1, 1): 0},
        READ,
    ),
    "L6-semaphore": Test(
        "the same in 6.12, where reader and writer take a semaphore",
        (
            (LOCK, store("data", 1), store("left", 1), UNLOCK),
            (LOCK, load("left", 0), load("data", 1), UNLOCK),
        ),
        {(1, 0): 1, (1, 1): 0},
    ),
    "L6-mprotect": Test(
        "mprotect() of 7.3, which reads *pmd without a lock, misses what the last reader put there",
        (
            (
                Access(Kind.LOCK, "ptl"),
                store("pmd", 1),
                Access(Kind.UNLOCK, "ptl"),
                store("vm_refcnt", 0, release=True),
            ),
            (
                load("vm_refcnt", 0),
                store("vm_seq", 1, behind=0),
                store("vm_refcnt", 2, release=True),
                load("pmd", 1),
            ),
        ),
        {(1, 0): 0, (1, 1): 0},
        READ,
    ),
    "L6-flags": Test(
        "a writer of 7.3 misses VM_MAYBE_GUARD, which the last reader set, and stores all flags",
        (
            (store("flags", 1), store("vm_refcnt", 0, release=True)),
            (
                load("vm_refcnt", 0),
                store("vm_seq", 1, behind=0),
                store("vm_refcnt", 2, release=True),
                load("flags", 1),
                store("flags", 2, behind=0),
            ),
        ),
        {(1, 0): 0, (1, 1): 0},
        READ,
    ),
    "L6-store": Test(
        "a reader of 7.3 sees what a writer stores that has found no reader left",
        (
            (load("data", 0), store("vm_refcnt", 0, release=True)),
            (load("vm_refcnt", 0), store("data", 1, behind=0)),
        ),
        {(0, 0): 1, (1, 0): 0},
        READ,
    ),
    "L7": Test(
        "a writer of 7.3 sleeps for a reader that has left, and the reader wakes no one",
        (
            (store("vm_refcnt", 0, release=True), MB, load("task", 0)),
            (store("task", 1), MB, load("vm_refcnt", 0)),
        ),
        {(0, 0): 0, (1, 0): 1},
        READ,
    ),
    "L7-no-reader-barrier": Test(
        "the same without the barrier in rcuwait_wake_up()",
        (
            (store("vm_refcnt", 0, release=True), load("task", 0)),
            (store("task", 1), MB, load("vm_refcnt", 0)),
        ),
        {(0, 0): 0, (1, 0): 1},
        READ,
    ),
    "L7-no-writer-barrier": Test(
        "the same without the barrier in set_current_state()",
        (
            (store("vm_refcnt", 0, release=True), MB, load("task", 0)),
            (store("task", 1), load("vm_refcnt", 0)),
        ),
        {(0, 0): 0, (1, 0): 1},
        READ,
    ),
    "L8": Test(
        "a fault sees a VMA's number reset at a wrap, and the mm's sequence from before the wrap",
        (_resets(release=True), _meets(acquire=True)),
        {(1, 0): 0, (1, 1): 1},
        MARKED,
    ),
    "L8-no-release": Test(
        "the same, were the reset no release",
        (_resets(release=False), _meets(acquire=True)),
        {(1, 0): 0, (1, 1): 1},
        MARKED,
    ),
    "L8-no-acquire": Test(
        "the same, were the fault's load of the number no acquire",
        (_resets(release=True), _meets(acquire=False)),
        {(1, 0): 0, (1, 1): 1},
        MARKED,
    ),
    "L8-data-no-release": Test(
        "a fault sees a number reset, and misses what the writer stored before; no release",
        (_resets(release=False), _meets(acquire=True)),
        {(1, 0): 0, (1, 2): 0},
        MARKED,
    ),
    "L8-data-no-acquire": Test(
        "the same with the release, and without the acquire",
        (_resets(release=True), _meets(acquire=False)),
        {(1, 0): 0, (1, 2): 0},
        MARKED,
    ),
}
"""By name; what each asks is whether the outcome can be."""

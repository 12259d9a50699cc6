"""A page fault, as each version makes it: under the lock of its VMA, and else under mmap_lock.

`lock_vma_under_rcu()` and what it calls are followed statement by statement:

    v2      6.5: the checks of 6.12, and one sequence. `WALKS_AGAIN`, `ANON_FIRST` and
            `RANGE_FIRST` make v2's patches 23 and 24 of it (27 Jan 2023); v3 (16 Feb 2023)
            brought the `detached` flag in the place of the second walk.
    v6.12   6.12.117: mm/memory.c, include/linux/mm.h.
    v7.3    7.3.4: mm/mmap_lock.c, include/linux/mmap_lock.h.

One step is one access to what threads share. `up_read()` is two: it counts down, and where a writer
waits it goes on to use the semaphore.
"""

from collections.abc import Callable

from lorelab.vmalock.model.protocol.ops import Op
from lorelab.vmalock.model.protocol.programs import Do, Goto, Program
from lorelab.vmalock.params import Traits

LOCK = "read lock of the VMA"
RCU = "RCU section of the walk"
END_RCU = "RCU section of vma_end_read"
LATE = "late comparison with mm_lock_seq"

ANON_FIRST = "anon_vma is checked before the VMA is locked"
DETACHED_CHECK = "detached check"
BLOCKING = "mmap_lock is waited for under the VMA's lock"
RANGE_FIRST = "the range is checked before detached"
MARK_FIRST = "the sequence is compared before vm_mm"
WALKS_AGAIN = "the tree is walked again instead of a look at detached"


def fault(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """The whole way of a fault that writes to a page.

    Parameters
    ----------
    traits : Traits
        Of the variant.
    page : int
    changes : frozenset of str
        `ANON_FIRST`, `BLOCKING`, `RANGE_FIRST`, `MARK_FIRST`, `WALKS_AGAIN`, or `DETACHED_CHECK`: a
        detached VMA's count is counted up, too.
    """
    if not traits.vma_read_lock:
        return under_mmap_lock(page)
    if traits.refcount:
        lock, unlock = lock_by_count(page, changes), put
    else:
        lock, unlock = lock_by_semaphore(page, changes), end_read
    return [*lock, *under_vma_lock(traits, page, unlock, changes), *under_mmap_lock(page)]


def lock_by_semaphore(page: int, changes: frozenset[str]) -> Program:
    """lock_vma_under_rcu() and vma_start_read() of v2 and 6.12."""
    first = [Do(Op.IF_ANON, "anon_vma check", "inval")] if ANON_FIRST in changes else []
    attached, missed = Do(Op.IF_ATTACHED, DETACHED_CHECK, "miss"), [Goto("retry")]
    if WALKS_AGAIN in changes:
        attached = Do(Op.WALK_AGAIN, "second mas_walk", "miss", arg=page)
        missed = [Do(Op.TAKE_FOUND, "vma = validate", "inval", work=True), Goto("found")]
    last = [
        attached,
        Do(Op.IF_IN_RANGE, "range check", "inval up", arg=page),
    ]
    return [
        Do(Op.RCU_READ_LOCK, "rcu_read_lock", by=(RCU,)),
        "retry",
        Do(Op.WALK, "mas_walk", "inval", arg=page, work=True),
        "found",
        *first,
        Do(Op.LOAD_VM_LOCK_SEQ, "early load of vm_lock_seq", by=("early check",)),
        Do(Op.UNLESS_EQUAL, "early comparison with mm_lock_seq", "inval", by=("early check",)),
        Do(Op.DOWN_READ_TRYLOCK, "down_read_trylock", "inval", by=(LOCK,)),
        Do(Op.LOAD_VM_LOCK_SEQ, "late load of vm_lock_seq", by=("late check",)),
        Do(Op.UNLESS_EQUAL, LATE, "inval up", arg=1, by=("late check",)),
        *(reversed(last) if RANGE_FIRST in changes else last),
        Do(Op.RCU_READ_UNLOCK, "rcu_read_unlock", by=(RCU,)),
        Goto("locked"),
        "miss",
        *_up_read("missed"),
        "missed",
        *missed,
        # vma_end_read() has an RCU section of its own inside this one.
        "inval up",
        *_up_read("inval"),
        "inval",
        Do(Op.RCU_READ_UNLOCK, "rcu_read_unlock on failure", by=(RCU,)),
        Goto("mmap_lock"),
        "locked",
    ]


def _up_read(then: str) -> Program:
    return [
        Do(Op.UP_READ, "up_read on failure", then, by=(LOCK,)),
        Do(Op.WAKE, "wake of the writer on failure", by=(LOCK,), work=True),
    ]


def end_read(where: str) -> Program:
    """vma_end_read() of v2 and 6.12."""
    return [
        Do(Op.RCU_READ_LOCK, f"rcu_read_lock in vma_end_read{where}", by=(END_RCU,)),
        Do(Op.UP_READ, f"up_read{where}", f"woken{where}", by=(LOCK,)),
        Do(Op.WAKE, f"wake of the writer{where}", by=(LOCK,), work=True),
        f"woken{where}",
        Do(Op.RCU_READ_UNLOCK, f"rcu_read_unlock in vma_end_read{where}", by=(END_RCU,)),
    ]


def lock_by_count(page: int, changes: frozenset[str]) -> Program:
    """lock_vma_under_rcu() and vma_start_read() of 7.3."""
    first = [Do(Op.IF_ANON, "anon_vma check", "inval")] if ANON_FIRST in changes else []
    of_mm = [Do(Op.IF_OUR_MM, "vm_mm check", "unstable")]
    late = [
        Do(Op.LOAD_VM_LOCK_SEQ, "late load of vm_lock_seq", by=("late check",)),
        Do(Op.UNLESS_EQUAL, LATE, "inval put", arg=1, by=("late check",)),
    ]
    return [
        "retry",
        Do(Op.RCU_READ_LOCK, "rcu_read_lock", by=(RCU,)),
        Do(Op.WALK, "mas_walk", "inval", arg=page, work=True),
        *first,
        Do(Op.LOAD_VM_LOCK_SEQ, "early load of vm_lock_seq", by=("early check",)),
        Do(Op.UNLESS_EQUAL, "early comparison with mm_lock_seq", "inval", by=("early check",)),
        Do(
            Op.INC_NOT_ZERO, "refcount_inc_not_zero", "inval", "detached", by=(LOCK,),
            arg=DETACHED_CHECK in changes,
        ),
        *([*late, *of_mm] if MARK_FIRST in changes else [*of_mm, *late]),
        Do(Op.RCU_READ_UNLOCK, "rcu_read_unlock", by=(RCU,)),
        Do(Op.IF_IN_RANGE, "range check", "out of range", arg=page),
        Goto("locked"),
        "detached",
        Do(Op.RCU_READ_UNLOCK, "rcu_read_unlock of a detached VMA", by=(RCU,)),
        Goto("retry"),
        "unstable",
        Do(Op.LOAD_VM_MM, "load of the other vm_mm", by=("mmgrab",), work=True),
        Do(Op.RCU_READ_UNLOCK, "rcu_read_unlock of another's VMA", by=(RCU,)),
        Do(Op.MMGRAB, "mmgrab", by=("mmgrab",)),
        *put(" of another's VMA"),
        Do(Op.MMDROP, "mmdrop", by=("mmgrab",)),
        Goto("mmap_lock"),
        "inval put",
        *put(" on failure"),
        "inval",
        Do(Op.RCU_READ_UNLOCK, "rcu_read_unlock on failure", by=(RCU,)),
        Goto("mmap_lock"),
        "out of range",
        *put(" out of range"),
        Goto("mmap_lock"),
        "locked",
    ]  # fmt: skip


def put(where: str) -> Program:
    """vma_refcount_put and vma_end_read() of 7.3.

    The mm is remembered, for the VMA may be gone once it is counted down.
    """
    return [
        Do(Op.LOAD_VM_MM, f"load of vm_mm{where}", work=True),
        Do(Op.PUT, f"refcount_dec{where}", f"woken{where}", by=(LOCK,)),
        Do(Op.WAKE_WRITER, f"rcuwait_wake_up{where}", by=(LOCK,), work=True),
        f"woken{where}",
    ]


def under_vma_lock(
    traits: Traits, page: int, unlock: Callable[[str], Program], changes: frozenset[str]
) -> Program:
    """handle_mm_fault() under the VMA's lock; VM_FAULT_RETRY leads to mmap_lock.

    v2 gives up where anon_vma is not set. Later __vmf_anon_prepare() sets it, if it gets mmap_lock
    for reading without waiting.
    """
    if ANON_FIRST in changes:
        anon = []
    elif traits.anon_vma_prepare:
        by = ("trylock for anon_vma",)
        trylock = Do(Op.MMAP_READ_TRYLOCK, "mmap_read_trylock", "give up", by=by)
        waits = Do(Op.MMAP_READ_LOCK, "mmap_read_lock for anon_vma", by=by)
        anon = [
            Do(Op.IF_ANON, "anon_vma check", "prepare"),
            Goto("prepared"),
            "prepare",
            waits if BLOCKING in changes else trylock,
            Do(Op.PREPARE_ANON, "__anon_vma_prepare", work=True),
            Do(Op.MMAP_READ_UNLOCK, "mmap_read_unlock after it", by=by),
            "prepared",
        ]
    else:
        anon = [Do(Op.IF_ANON, "anon_vma check", "give up")]
    return [
        "section",
        *anon,
        Do(Op.LOAD_START, "load of vm_start", work=True),
        Do(Op.LOAD_PGOFF, "load of vm_pgoff", work=True),
        Do(Op.LOAD_FLAGS, "load of vm_flags", work=True),
        Do(Op.SET_PTE, "set_pte", arg=page, work=True),
        "end of section",
        *unlock(""),
        Goto("done"),
        "give up",
        *unlock(" to retry"),
    ]


def under_mmap_lock(page: int) -> Program:
    """The same fault with mmap_lock held for reading; where no VMA is found it is a SIGSEGV."""
    return [
        "mmap_lock",
        Do(Op.MMAP_READ_LOCK, "mmap_read_lock", by=("mmap_lock of a fault",)),
        Do(Op.WALK, "find_vma", "no VMA", arg=page, work=True),
        Do(Op.PREPARE_ANON, "anon_vma_prepare", work=True),
        Do(Op.LOAD_FLAGS, "load of vm_flags under mmap_lock", work=True),
        Do(Op.SET_PTE, "set_pte under mmap_lock", arg=page, work=True),
        "no VMA",
        Do(Op.MMAP_READ_UNLOCK, "mmap_read_unlock", by=("mmap_lock of a fault",)),
        "done",
    ]

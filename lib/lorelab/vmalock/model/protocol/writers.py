"""What holds mmap_lock for writing: the steps of each operation in the kernel's order.

Places in 6.12.117: flags of a VMA mm/madvise.c:159, munmap mm/vma.c:1254 and after, split
mm/vma.c:416, merge mm/vma.c:759, stack growth mm/mmap.c:1191, fork kernel/fork.c:676, mremap with
MREMAP_DONTUNMAP mm/mremap.c:759, mmap mm/mmap.c:1534. 7.3.4 has them in mm/vma.c and mm/mremap.c.
"""

from collections.abc import Callable

from lorelab.vmalock.model.protocol.ops import Op
from lorelab.vmalock.model.protocol.programs import Do, Goto, Program
from lorelab.vmalock.params import Traits

LOCK = "mmap_lock of a writer"
UNLOCK_FIRST = "mmap_lock is given back before the sequence is counted up"
WAIT = "wait for readers"
STORE_LATE = "vm_lock_seq is stored after the VMA's lock is given back"
GROWS_AS_READER = "a stack grows with mmap_lock held for reading"
RESET = "at a wrap every VMA's number is reset to an even one"
EVEN_FIRST = "the first number of a VMA is even"


def mark(traits: Traits, where: str, changes: frozenset[str], second: bool = False) -> Program:
    """vma_start_write(), up to 6.12 by the VMA's semaphore, in 7.3 by its count."""
    if not traits.sequences:
        return []
    ours = f"vma_start_write in {where}"
    done = f"marked in {where}"

    def step(op: Op, name: str, *by: str, otherwise: str = "", arg: int = 0) -> Do:
        return Do(op, name, otherwise, arg=arg, second=second, by=(*by, ours))

    if traits.refcount:
        lock = [
            step(Op.EXCLUDE_READERS, "refcount_add of the flag", WAIT, otherwise=f"store, {done}"),
            step(Op.WAIT_FOR_READERS, "rcuwait for readers", WAIT, arg=1),
        ]
        unlock = step(Op.UP_WRITE, "refcount_sub of the flag", WAIT)
    else:
        lock = [
            step(Op.DOWN_WRITE, "down_write", WAIT, otherwise=f"store, {done}"),
            step(Op.WAIT_FOR_READERS, "down_write", WAIT),
        ]
        unlock = step(Op.UP_WRITE, "up_write", WAIT)
    last = [step(Op.STORE_VM_LOCK_SEQ, "store of vm_lock_seq"), unlock]
    return [
        step(Op.IF_NOT_MARKED, "__is_vma_write_locked", otherwise=done),
        *lock,
        f"store, {done}",
        *(reversed(last) if STORE_LATE in changes else last),
        done,
    ]


def new(changes: frozenset[str]) -> int:
    """What a new VMA's number is at first: UINT_MAX, or even (see `Op.ALLOC`)."""
    return 0b1000 * (EVEN_FIRST in changes)


def mark_new(traits: Traits, where: str, second: bool = False) -> Program:
    """vma_start_write() of a VMA that no reader can have found: nobody is waited for."""
    name = f"vma_start_write of the new VMA in {where}"
    store = Do(Op.STORE_VM_LOCK_SEQ, name, second=second)
    return [store] if traits.sequences else []


def attach(traits: Traits, where: str, second: bool = False) -> Program:
    """vma_mark_attached() of 7.3."""
    name = f"vma_mark_attached in {where}"
    return [Do(Op.MARK_ATTACHED, name, second=second)] if traits.refcount else []


def detach(traits: Traits, where: str, second: bool = False) -> Program:
    """vma_mark_detached(): a flag, or in 7.3 the count brought to 0, waiting for late readers."""
    name = f"vma_mark_detached in {where}"
    if not traits.refcount:
        return [Do(Op.SET_DETACHED, name, second=second)]
    done = f"detached in {where}"
    return [
        Do(Op.PUT_ATTACHED, "refcount_dec of detaching", done, second=second, by=(name,)),
        Do(Op.EXCLUDE_READERS, "flag of detaching", done, second=second, by=(name,)),
        Do(Op.WAIT_FOR_READERS, "rcuwait of detaching", second=second, by=(name,)),
        Do(Op.UP_WRITE, "refcount_sub of detaching", second=second, by=(name,)),
        done,
    ]


def lock(traits: Traits) -> Program:
    """mmap_write_lock()."""
    begin = Do(Op.SEQ_BEGIN, "mm_lock_seqcount_begin")
    return [
        Do(Op.MMAP_WRITE_LOCK, "down_write of mmap_lock", by=(LOCK,)),
        "writing",
        *([begin] if traits.seqcount else []),
    ]


def unlock(traits: Traits, changes: frozenset[str], downgrade: bool = False) -> Program:
    """mmap_write_unlock() or mmap_write_downgrade(): vma_end_write_all() comes first."""
    if downgrade:
        release = Do(Op.MMAP_DOWNGRADE, "downgrade_write of mmap_lock", by=(LOCK,))
    else:
        release = Do(Op.MMAP_WRITE_UNLOCK, "up_write of mmap_lock", by=(LOCK,))
    if not traits.sequences:
        return [release, "written"]
    end = Do(Op.SEQ_END, "vma_end_write_all", arg=RESET in changes)
    steps = [release, end] if UNLOCK_FIRST in changes else [end, release]
    # In the wrong order what follows is not done under the lock, all but the count.
    return [steps[0], "written", steps[1]] if UNLOCK_FIRST in changes else [*steps, "written"]


def _downgraded(traits: Traits, changes: frozenset[str], afterwards: Program) -> Program:
    """The end of a writer that downgrades mmap_lock, and gives it back as it is otherwise."""
    return [
        *unlock(traits, changes, downgrade=True),
        *afterwards,
        Do(Op.MMAP_READ_UNLOCK, "mmap_read_unlock of the downgraded lock", by=(LOCK,)),
        Goto("end"),
        "unlock",
        *unlock(traits, changes),
        "end",
    ]


def _operation(traits: Traits, changes: frozenset[str], body: Program) -> Program:
    return [*lock(traits), *body, "unlock", *unlock(traits, changes)]


def flags(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """mprotect(), madvise(): a flag of the VMA at a page changes, then its page table entries."""
    body = [
        Do(Op.WALK, "vma_find in flags", "unlock", arg=page, work=True),
        *mark(traits, "flags", changes),
        Do(Op.CLEAR_FLAG, "store of vm_flags", work=True),
        Do(Op.PROTECT_PTES, "change_protection", work=True),
    ]
    return _operation(traits, changes, body)


def unmap(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """munmap() of the VMA at a page; the page table entries go once mmap_lock is downgraded."""
    afterwards = [
        Do(Op.ZAP_PTES, "vms_clear_ptes", work=True),
        Do(Op.FREE, "vm_area_free in munmap", work=True),
    ]
    return [
        *lock(traits),
        Do(Op.WALK, "vma_find in munmap", "unlock", arg=page, work=True),
        *mark(traits, "munmap", changes),
        *detach(traits, "munmap"),
        Do(Op.CLEAR_TREE, "vma_iter_clear_gfp", work=True),
        *_downgraded(traits, changes, afterwards),
    ]


def split(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """__split_vma(): a VMA of both pages keeps page 0, a new one has page 1."""
    body = [
        Do(Op.WALK, "vma_find in split", "unlock", arg=0, work=True),
        Do(Op.ALLOC, "vm_area_dup", "unlock", arg=0b11 | new(changes), second=True, work=True),
        *mark(traits, "split", changes),
        *mark_new(traits, "split", second=True),
        Do(Op.SET_LAST, "store of vm_end in split", arg=0, work=True),
        *attach(traits, "split", second=True),
        Do(Op.STORE_TREE, "vma_iter_store in split", arg=1, second=True, work=True),
    ]
    return _operation(traits, changes, body)


def merge(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """vma_expand(): the VMA of page 0 takes over page 1, whose VMA goes."""
    body = [
        Do(Op.WALK, "vma_find in merge", "unlock", arg=0, work=True),
        Do(Op.WALK, "vma_next in merge", "unlock", arg=1, second=True, work=True),
        *mark(traits, "merge", changes),
        *mark(traits, "merge of the VMA that goes", changes, second=True),
        Do(Op.SET_LAST, "store of vm_end in merge", arg=1, work=True),
        Do(Op.STORE_TREE, "vma_iter_store in merge", arg=1, work=True),
        *detach(traits, "merge", second=True),
        Do(Op.FREE, "vm_area_free in merge", second=True, work=True),
    ]
    return _operation(traits, changes, body)


def grow(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """expand_downwards(): a stack that has page 1 takes page 0; mmap_lock is downgraded then.

    As in 6.4 with `GROWS_AS_READER`: nobody is a writer, and no VMA can be write-locked.
    """
    found = Do(Op.WALK, "vma_find in growth", "unlock", arg=1, work=True)
    grows = [
        Do(Op.SET_START, "store of vm_start", arg=0, work=True),
        Do(Op.SET_PGOFF, "store of vm_pgoff", arg=0, work=True),
        Do(Op.STORE_TREE, "vma_iter_store in growth", arg=0, work=True),
    ]
    if GROWS_AS_READER in changes:
        return [
            Do(Op.MMAP_READ_LOCK, "mmap_read_lock of growth", by=(LOCK,)),
            found,
            *grows,
            "unlock",
            Do(Op.MMAP_READ_UNLOCK, "mmap_read_unlock of growth", by=(LOCK,)),
        ]
    return [
        *lock(traits),
        found,
        *mark(traits, "stack growth", changes),
        *grows,
        *_downgraded(traits, changes, []),
    ]


def fork(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """dup_mmap(): the child gets anon_vma and the page table entries, write-protected in both."""
    body = [
        Do(Op.WALK, "for_each_vma in fork", "unlock", arg=0, work=True),
        *mark(traits, "fork", changes),
        Do(Op.COPY_ANON, "anon_vma_fork", work=True),
        Do(Op.COPY_PTE, "copy_present_pte of page 0", arg=0, work=True),
        Do(Op.COPY_PTE, "copy_present_pte of page 1", arg=1, work=True),
        # No step of the kernel's: the parent's entries are held against the child's here.
        Do(Op.COMPARE_CHILD, "flush_tlb_mm", work=True),
    ]
    return _operation(traits, changes, body)


def move(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """mremap(MREMAP_DONTUNMAP): the pages move elsewhere, the VMA stays without anon_vma."""
    body = [
        Do(Op.WALK, "vma_lookup in mremap", "unlock", arg=page, work=True),
        *mark(traits, "mremap", changes),
        Do(Op.MOVE_PTES, "move_page_tables", work=True),
        Do(Op.CLEAR_ANON, "unlink_anon_vmas", work=True),
    ]
    return _operation(traits, changes, body)


def map_page(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """mmap() of one page where nothing is; memory of a freed VMA is taken first."""
    body = [
        Do(Op.IF_UNMAPPED, "get_unmapped_area", "unlock", arg=page, work=True),
        Do(Op.ALLOC, "vm_area_alloc", "unlock", arg=0b11 * page | new(changes), work=True),
        *mark_new(traits, "mmap"),
        *attach(traits, "mmap"),
        Do(Op.STORE_TREE, "vma_iter_store in mmap", arg=page, work=True),
        Do(Op.CLEAR_FLAG, "vm_flags_set after the insertion", work=True),
    ]
    return _operation(traits, changes, body)


def other_process(traits: Traits, page: int, changes: frozenset[str]) -> Program:
    """A second process maps a page, unmaps it and is gone: its VMA may be one freed before.

    Nobody else uses its mmap_lock, and its tree is not looked at.
    """
    begin = Do(Op.OTHER_SEQ_BEGIN, "mm_lock_seqcount_begin of another")
    end = Do(Op.OTHER_SEQ_END, "vma_end_write_all of another")
    own = 0b100 | 0b11 * page | new(changes)
    begins = [begin] if traits.seqcount else []
    return [
        *begins,
        Do(Op.ALLOC, "vm_area_alloc of another", "gone", arg=own, work=True),
        *mark_new(traits, "another's mmap"),
        *attach(traits, "another's mmap"),
        end,
        *begins,
        *mark(traits, "another's exit", changes),
        *detach(traits, "another's exit"),
        Do(Op.FREE, "vm_area_free of another", work=True),
        end,
        "gone",
        Do(Op.PUT_OTHER_MM, "mmput of another", work=True),
    ]


OPERATIONS: dict[str, Callable[[Traits, int, frozenset[str]], Program]] = {
    "flags": flags,
    "unmap": unmap,
    "split": split,
    "merge": merge,
    "grow": grow,
    "fork": fork,
    "move": move,
    "map": map_page,
    "other": other_process,
}
"""Writers by name."""

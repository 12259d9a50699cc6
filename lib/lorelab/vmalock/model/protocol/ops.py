"""The operations by which programs and the search speak of the steps, and an instruction's parts.

What each operation does to the state stands in `steps`.
"""

from enum import IntEnum, auto

from lorelab.numerics import U


class Op(IntEnum):
    """Operations; what each does stands in `steps.execute()`."""

    END = 0
    RCU_READ_LOCK = auto()
    RCU_READ_UNLOCK = auto()
    WALK = auto()
    WALK_AGAIN = auto()
    TAKE_FOUND = auto()
    LOAD_VM_LOCK_SEQ = auto()
    UNLESS_EQUAL = auto()
    DOWN_READ_TRYLOCK = auto()
    UP_READ = auto()
    WAKE = auto()
    INC_NOT_ZERO = auto()
    LOAD_VM_MM = auto()
    IF_OUR_MM = auto()
    MMGRAB = auto()
    MMDROP = auto()
    PUT = auto()
    WAKE_WRITER = auto()
    IF_ATTACHED = auto()
    IF_IN_RANGE = auto()
    IF_ANON = auto()
    PREPARE_ANON = auto()
    LOAD_START = auto()
    LOAD_PGOFF = auto()
    LOAD_FLAGS = auto()
    SET_PTE = auto()
    MMAP_READ_TRYLOCK = auto()
    MMAP_READ_LOCK = auto()
    MMAP_READ_UNLOCK = auto()
    MMAP_WRITE_LOCK = auto()
    MMAP_WRITE_UNLOCK = auto()
    MMAP_DOWNGRADE = auto()
    SEQ_BEGIN = auto()
    SEQ_END = auto()
    OTHER_SEQ_BEGIN = auto()
    OTHER_SEQ_END = auto()
    IF_NOT_MARKED = auto()
    DOWN_WRITE = auto()
    WAIT_FOR_READERS = auto()
    EXCLUDE_READERS = auto()
    STORE_VM_LOCK_SEQ = auto()
    UP_WRITE = auto()
    SET_DETACHED = auto()
    PUT_ATTACHED = auto()
    MARK_ATTACHED = auto()
    IF_UNMAPPED = auto()
    ALLOC = auto()
    FREE = auto()
    CLEAR_TREE = auto()
    STORE_TREE = auto()
    CLEAR_FLAG = auto()
    PROTECT_PTES = auto()
    ZAP_PTES = auto()
    MOVE_PTES = auto()
    CLEAR_ANON = auto()
    SET_LAST = auto()
    SET_START = auto()
    SET_PGOFF = auto()
    COPY_ANON = auto()
    COPY_PTE = auto()
    COMPARE_CHILD = auto()
    PUT_OTHER_MM = auto()


# As unsigned numbers, by which the compiled functions tell them apart.
(
    END, RCU_READ_LOCK, RCU_READ_UNLOCK, WALK, WALK_AGAIN, TAKE_FOUND, LOAD_VM_LOCK_SEQ,
    UNLESS_EQUAL, DOWN_READ_TRYLOCK, UP_READ, WAKE, INC_NOT_ZERO, LOAD_VM_MM, IF_OUR_MM, MMGRAB,
    MMDROP, PUT, WAKE_WRITER,
    IF_ATTACHED, IF_IN_RANGE, IF_ANON, PREPARE_ANON, LOAD_START, LOAD_PGOFF, LOAD_FLAGS, SET_PTE,
    MMAP_READ_TRYLOCK, MMAP_READ_LOCK, MMAP_READ_UNLOCK, MMAP_WRITE_LOCK, MMAP_WRITE_UNLOCK,
    MMAP_DOWNGRADE, SEQ_BEGIN, SEQ_END, OTHER_SEQ_BEGIN, OTHER_SEQ_END, IF_NOT_MARKED, DOWN_WRITE,
    WAIT_FOR_READERS, EXCLUDE_READERS, STORE_VM_LOCK_SEQ, UP_WRITE, SET_DETACHED, PUT_ATTACHED,
    MARK_ATTACHED, IF_UNMAPPED, ALLOC, FREE, CLEAR_TREE, STORE_TREE, CLEAR_FLAG, PROTECT_PTES,
    ZAP_PTES, MOVE_PTES, CLEAR_ANON, SET_LAST, SET_START, SET_PGOFF, COPY_ANON, COPY_PTE,
    COMPARE_CHILD, PUT_OTHER_MM,
) = (U(op) for op in Op)  # fmt: skip

# How a step ends: it can't be taken yet, the next one follows, or one of two others does.
BLOCKED, NEXT, OTHERWISE, ELSEWHERE = U(0), U(1), U(2), U(3)
# An instruction: the operation, where it goes on in three ways, an argument, which VMA.
NEXT_AT, OTHERWISE_AT, ELSEWHERE_AT, ARG_AT, SECOND_AT = U(8), U(16), U(24), U(32), U(40)
BYTE = U(0xFF)

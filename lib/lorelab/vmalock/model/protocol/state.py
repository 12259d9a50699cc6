"""The state of the protocol, packed into four words, and what reads and writes it.

    word 0       the address space: sequence, mmap_lock, tree, page tables; the child's of a fork;
                 the sequence of a second process
    word 1       three `vm_area_struct`s
    words 2, 3   eight threads

Addresses are two pages, 0 and 1. A VMA is called by its number, 1 to 3, and 0 is none; the tree
says for each page which VMA covers it. A reader loads one entry of the tree, so a reader that walks
an old node is one that walked earlier: the tree needs no nodes here.

A VMA that is freed waits for the threads that were in an RCU section just then, and is gone with
the last of them. A real grace period may last longer; what it then protects is protected no less.
"""

import numpy as np

from lorelab.numerics import ONE, ZERO, U, forceinline

WORDS = 4
PAGES, VMAS, THREADS = U(2), U(3), U(8)


def _field(word: int, shift: int, bits: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    return U(word), U(shift), U((1 << bits) - 1)


# The address space. Of TREE and the like there is one for each page, side by side.
SEQ = _field(0, 0, 4)  # mm_lock_seq
OTHER_SEQ = _field(0, 4, 4)  # that of the second process
MMAP_READERS = _field(0, 8, 4)
MMAP_WRITER = _field(0, 12, 4)  # thread + 1, 0 is none
TREE = _field(0, 16, 2)
PTE = _field(0, 20, 2)  # NONE, READ_ONLY, WRITABLE
CHILD_PTE = _field(0, 24, 1)
ZAPPED = _field(0, 26, 1)  # unmapped, and its page table entries are gone
CHILD_ANON = _field(0, 28, 1)
OTHER_USERS = _field(0, 29, 4)  # mm_count of the second process; 0 when it is freed
BROKEN = _field(0, 33, 4)  # the rule that a step broke
GRACE = _field(0, 40, 8)  # one for each VMA: threads that its end waits for

# A VMA; VMA 2 has the same 21 bits on.
START = _field(1, 0, 1)
LAST = _field(1, 1, 1)  # vm_end - 1
PGOFF = _field(1, 2, 1)
VM_LOCK_SEQ = _field(1, 3, 4)
COUNT = _field(1, 7, 4)  # readers of the semaphore, or vm_refcnt without the flag
EXCLUSIVE = _field(1, 11, 1)  # the semaphore's writer, or VM_REFCNT_EXCLUDE_READERS_FLAG
WAITERS = _field(1, 12, 1)  # RWSEM_FLAG_WAITERS
DETACHED = _field(1, 13, 1)
ANON = _field(1, 14, 1)  # anon_vma is set
MAY_WRITE = _field(1, 15, 1)  # VM_WRITE
LIFE = _field(1, 16, 2)
OTHER = _field(1, 18, 1)  # vm_mm is the second process
MARKED = _field(1, 19, 1)  # a writer that is not done believes that it has write-locked it

# A thread; the next has the same 16 bits on, the fifth begins word 3.
PC = _field(2, 0, 7)
VMA = _field(2, 7, 2)
LOADED_SEQ = _field(2, 9, 4)
LOADED = _field(2, 13, 2)
IN_RCU = _field(2, 15, 1)

NONE, READ_ONLY, WRITABLE = U(0), U(1), U(2)  # PTE
UNUSED, LIVE, WAITING, FREED = U(0), U(1), U(2), U(3)  # LIFE

VMA_BITS, THREAD_BITS = U(21), U(16)


@forceinline
def get(state, field):
    """A field of the address space."""
    return (state[field[0]] >> field[1]) & field[2]


@forceinline
def put(state, field, value):
    """Set a field of the address space."""
    word, shift, mask = field
    state[word] = (state[word] & ~(mask << shift)) | (value << shift)


@forceinline
def _at(field, place, bits):
    return field[0], field[1] + place * bits, field[2]


@forceinline
def page(field, number):
    """The field of one page: TREE, PTE, CHILD_PTE, ZAPPED."""
    return _at(field, number, ONE if field[2] == ONE else U(2))


@forceinline
def grace(vma):
    """Threads that the end of a VMA waits for."""
    return _at(GRACE, vma - ONE, THREADS)


@forceinline
def vget(state, vma, field):
    """A field of a VMA."""
    return get(state, _at(field, vma - ONE, VMA_BITS))


@forceinline
def vput(state, vma, field, value):
    """Set a field of a VMA."""
    put(state, _at(field, vma - ONE, VMA_BITS), value)


@forceinline
def _of(field, thread):
    return field[0] + (thread >> U(2)), field[1] + (thread & U(3)) * THREAD_BITS, field[2]


@forceinline
def tget(state, thread, field):
    """A register of a thread."""
    return get(state, _of(field, thread))


@forceinline
def tput(state, thread, field, value):
    """Set a register of a thread."""
    put(state, _of(field, thread), value)


@forceinline
def covers(state, vma, number):
    """Whether a VMA's range has this page."""
    return vget(state, vma, START) <= number and number <= vget(state, vma, LAST)


# What a search is told: a configuration is data. Per thread SECTION has four places in its code,
# first and last of a reader's section under the VMA's lock and of a writer's under mmap_lock.
SEQ_MASK, RULES, N_THREADS, REFCOUNT, TYPESAFE = U(0), U(1), U(2), U(3), U(4)
SECTION, READER, CODE, CODE_LENGTH = U(8), U(40), U(48), U(128)
SETTING = int(CODE + THREADS * CODE_LENGTH)


@forceinline
def in_section(state, thread, setting):
    """Whether a thread handles a fault under the lock of its VMA."""
    pc = tget(state, thread, PC)
    first = SECTION + U(4) * thread
    return setting[first] <= pc and pc <= setting[first + ONE]


@forceinline
def writes(state, thread, setting):
    """Whether a thread is between taking mmap_lock for writing and giving it back."""
    pc = tget(state, thread, PC)
    first = SECTION + U(4) * thread + U(2)
    return setting[first] <= pc and pc <= setting[first + ONE]


@forceinline
def breaks(state, rule, setting):
    """Note that a step broke a rule, if it is one of those looked for, and the first."""
    if get(state, BROKEN) == ZERO and (setting[RULES] >> rule) & ONE:
        put(state, BROKEN, rule)


@forceinline
def mm_seq(state, vma):
    """The sequence of the process that a VMA belongs to."""
    return get(state, OTHER_SEQ) if vget(state, vma, OTHER) else get(state, SEQ)


@forceinline
def count_up(state, field, setting):
    """A sequence goes on by one, and wraps."""
    put(state, field, (get(state, field) + ONE) & setting[SEQ_MASK])


@forceinline
def end_marks(state, other):
    """A process gives back all its marks."""
    for v in range(VMAS):
        vma = v + ONE
        if vget(state, vma, LIFE) != UNUSED and vget(state, vma, OTHER) == other:
            vput(state, vma, MARKED, ZERO)


@forceinline
def reset_numbers(state, setting):
    """Every VMA of the process gets an even number: a writer's is odd."""
    for v in range(VMAS):
        vma = v + ONE
        if not vget(state, vma, OTHER):
            vput(state, vma, VM_LOCK_SEQ, setting[SEQ_MASK] - ONE)

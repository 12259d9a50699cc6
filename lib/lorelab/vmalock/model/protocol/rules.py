"""What must hold in every state: safety, and that every thread ends."""

from enum import IntEnum

from lorelab.checker import invariant
from lorelab.numerics import ONE, ZERO, U, forceinline
from lorelab.vmalock.model.protocol.state import (
    BROKEN,
    CODE,
    CODE_LENGTH,
    COUNT,
    DETACHED,
    EXCLUSIVE,
    LIFE,
    LIVE,
    MARKED,
    MMAP_READERS,
    MMAP_WRITER,
    N_THREADS,
    OTHER,
    PAGES,
    PC,
    READER,
    REFCOUNT,
    RULES,
    SEQ,
    TREE,
    VM_LOCK_SEQ,
    VMA,
    WAITERS,
    covers,
    get,
    in_section,
    page,
    tget,
    vget,
    writes,
)


class Rule(IntEnum):
    """The rules, by number; those of steps are noted by the step that breaks them."""

    STABLE = 1
    """S1. While a fault is handled under a VMA's lock, the VMA is allocated, attached, of this
    process, covers the address, and nobody changes it."""
    EXCLUDED = 2
    """S2. No fault is handled under the lock of a VMA that a writer has marked and not given
    back."""
    ALIVE = 3
    """S3. Nothing that was freed is used: no VMA, no lock, no mm."""
    ONE_WRITER = 4
    """S4. At most one thread holds mmap_lock for writing."""
    UNMAPPED = 5
    """S5. Once an unmapped range's page table entries are gone, no new one comes."""
    FORKED = 6
    """S6. A child's page tables are its parent's of one moment, write-protected in both."""
    NO_DEADLOCK = 7
    """A thread that is not done can go on, or waits for one that can."""
    BALANCED = 8
    """Nobody gives back a lock that is not held."""
    ENDS = 9
    """From every state, every thread can still come to its end."""
    AGAIN = 10
    """Once every thread has ended, a fault could lock each VMA of the tree, and so could a
    writer."""


STEP_END = U(0)
STABLE, EXCLUDED, ONE_WRITER = U(Rule.STABLE), U(Rule.EXCLUDED), U(Rule.ONE_WRITER)
NO_DEADLOCK, AGAIN = U(Rule.NO_DEADLOCK), U(Rule.AGAIN)


@forceinline
def _locked_for_good(state, setting):
    """Whether a lock is still held, or a VMA of the tree still looks write-locked."""
    if get(state, MMAP_WRITER) or get(state, MMAP_READERS):
        return True
    for number in range(PAGES):
        vma = get(state, page(TREE, number))
        if vma == ZERO:
            continue
        free = vget(state, vma, COUNT) == setting[REFCOUNT] and not vget(state, vma, EXCLUSIVE)
        free &= not vget(state, vma, WAITERS) and not vget(state, vma, DETACHED)
        if not free or vget(state, vma, VM_LOCK_SEQ) == get(state, SEQ):
            return True
    return False


@invariant
def broken(state, followed, setting):
    """The first rule that a state breaks, of those in `setting[RULES]`; 0 when all hold."""
    if get(state, BROKEN):
        return get(state, BROKEN)
    rules = setting[RULES]
    writers = ZERO
    ended = ZERO
    for thread in range(setting[N_THREADS]):
        writers += ONE if writes(state, thread, setting) else ZERO
        code = CODE + thread * CODE_LENGTH
        ended += ONE if setting[code + tget(state, thread, PC)] == STEP_END else ZERO
        if not in_section(state, thread, setting):
            continue
        vma = tget(state, thread, VMA)
        stable = vget(state, vma, LIFE) == LIVE and not vget(state, vma, DETACHED)
        stable &= not vget(state, vma, OTHER) and covers(state, vma, setting[READER + thread])
        if not stable and (rules >> STABLE) & ONE:
            return STABLE
        if vget(state, vma, MARKED) and (rules >> EXCLUDED) & ONE:
            return EXCLUDED
    if writers > ONE and (rules >> ONE_WRITER) & ONE:
        return ONE_WRITER
    if ended < setting[N_THREADS]:
        return NO_DEADLOCK if not followed and (rules >> NO_DEADLOCK) & ONE else ZERO
    return AGAIN if (rules >> AGAIN) & ONE and _locked_for_good(state, setting) else ZERO

"""What one step does: one access to what threads share, as the kernel makes it.

`execute()` is the table: an operation (`ops`), the kernel's statement in words, its effect on the
state. Which steps follow each other is said by the programs (`reader`, `writers`).
"""

from lorelab.numerics import ONE, TWO, ZERO, U, forceinline, outline
from lorelab.vmalock.model.protocol import ops
from lorelab.vmalock.model.protocol import state as st
from lorelab.vmalock.model.protocol.ops import BLOCKED, ELSEWHERE, NEXT, OTHERWISE
from lorelab.vmalock.model.protocol.rules import Rule
from lorelab.vmalock.model.protocol.state import (
    ANON,
    COUNT,
    EXCLUSIVE,
    FREED,
    IN_RCU,
    LAST,
    LIFE,
    LIVE,
    LOADED,
    LOADED_SEQ,
    MARKED,
    MAY_WRITE,
    MMAP_READERS,
    MMAP_WRITER,
    NONE,
    OTHER,
    OTHER_SEQ,
    OTHER_USERS,
    PAGES,
    PGOFF,
    PTE,
    READ_ONLY,
    REFCOUNT,
    SEQ,
    SEQ_MASK,
    START,
    TREE,
    TYPESAFE,
    UNUSED,
    VM_LOCK_SEQ,
    VMA,
    VMAS,
    WAITERS,
    WAITING,
    WRITABLE,
    ZAPPED,
    breaks,
    get,
    grace,
    in_section,
    page,
    put,
    tget,
    tput,
    vget,
    vput,
)

STABLE, ALIVE, UNMAPPED = U(Rule.STABLE), U(Rule.ALIVE), U(Rule.UNMAPPED)
FORKED, BALANCED = U(Rule.FORKED), U(Rule.BALANCED)
# Bits of setting[TYPESAFE]: memory stays a VMA's, and what is freed may be used at once.
STAYS, AT_ONCE = U(1), U(2)


@forceinline
def _touch(state, thread, vma, setting):
    """Any access to a VMA. Freed memory of a type-safe cache may be read inside an RCU section."""
    if vget(state, vma, LIFE) == FREED and not (
        setting[TYPESAFE] & STAYS and tget(state, thread, IN_RCU)
    ):
        breaks(state, ALIVE, setting)


@forceinline
def _changes(state, thread, vma, setting):
    """A writer changes a field that a fault may be reading."""
    for other in range(setting[st.N_THREADS]):
        if other != thread and in_section(state, other, setting) and tget(state, other, VMA) == vma:
            breaks(state, STABLE, setting)


@forceinline
def _end_rcu(state, thread):
    """Leave an RCU section; VMAs that waited for this thread alone are freed."""
    tput(state, thread, IN_RCU, ZERO)
    for v in range(VMAS):
        vma = v + ONE
        waits = get(state, grace(vma)) & ~(ONE << thread)
        put(state, grace(vma), waits)
        if waits == ZERO and vget(state, vma, LIFE) == WAITING:
            vput(state, vma, LIFE, FREED)


@forceinline
def _stops(state, rule, setting):
    """A step that can't be taken further: the search ends here, or the thread stays."""
    breaks(state, rule, setting)
    return NEXT if get(state, st.BROKEN) else BLOCKED


@forceinline
def _put_other(state, setting):
    """The second process' mm has one user less, and is freed with the last."""
    users = get(state, OTHER_USERS)
    if users == ZERO:
        return _stops(state, ALIVE, setting)
    put(state, OTHER_USERS, users - ONE)
    return NEXT


@outline
def _reader(state, thread, op, arg, setting):
    vma = tget(state, thread, VMA)
    if op == ops.RCU_READ_LOCK:  # no program has one inside another
        if tget(state, thread, IN_RCU):
            return _stops(state, BALANCED, setting)
        tput(state, thread, IN_RCU, ONE)
        return NEXT
    if op == ops.RCU_READ_UNLOCK:
        _end_rcu(state, thread)
        return NEXT
    if op == ops.WALK:  # mas_walk(), find_vma(): one entry of the tree
        found = get(state, page(TREE, arg))
        tput(state, thread, VMA, found)
        return NEXT if found else OTHERWISE
    if op == ops.WALK_AGAIN:  # v2's `validate`, kept beside the VMA that is locked
        found = get(state, page(TREE, arg))
        tput(state, thread, LOADED, found)
        return NEXT if found == vma else OTHERWISE
    if op == ops.TAKE_FOUND:  # vma = validate
        tput(state, thread, VMA, tget(state, thread, LOADED))
        return NEXT if tget(state, thread, LOADED) else OTHERWISE
    if op in (ops.MMAP_READ_TRYLOCK, ops.MMAP_READ_LOCK):
        if get(state, MMAP_WRITER):
            return OTHERWISE if op == ops.MMAP_READ_TRYLOCK else BLOCKED
        put(state, MMAP_READERS, get(state, MMAP_READERS) + ONE)
        return NEXT
    if op == ops.MMAP_READ_UNLOCK:
        readers = get(state, MMAP_READERS)
        if readers == ZERO:
            return _stops(state, BALANCED, setting)
        put(state, MMAP_READERS, readers - ONE)
        return NEXT
    if op == ops.MMDROP:
        return _put_other(state, setting) if tget(state, thread, LOADED) else NEXT
    if op == ops.MMGRAB:
        if tget(state, thread, LOADED):
            if get(state, OTHER_USERS) == ZERO:
                breaks(state, ALIVE, setting)
            put(state, OTHER_USERS, get(state, OTHER_USERS) + ONE)
        return NEXT
    if op == ops.WAKE_WRITER:  # rcuwait_wake_up(&mm->vma_writer_wait)
        if tget(state, thread, LOADED) and get(state, OTHER_USERS) == ZERO:
            breaks(state, ALIVE, setting)
        return NEXT
    if vma == ZERO:  # a null pointer, where the walk is left out
        return _stops(state, ALIVE, setting)
    _touch(state, thread, vma, setting)
    if op == ops.LOAD_VM_LOCK_SEQ:
        tput(state, thread, LOADED_SEQ, vget(state, vma, VM_LOCK_SEQ))
        return NEXT
    if op == ops.UNLESS_EQUAL:  # 7.3 reads its own mm's sequence, those before the VMA's mm's
        seq = get(state, SEQ) if setting[REFCOUNT] else st.mm_seq(state, vma)
        return OTHERWISE if tget(state, thread, LOADED_SEQ) == seq else NEXT
    if op == ops.DOWN_READ_TRYLOCK:
        if vget(state, vma, EXCLUSIVE) or vget(state, vma, WAITERS):
            return OTHERWISE
        count = vget(state, vma, COUNT)
        if count == COUNT[2]:
            return _stops(state, BALANCED, setting)
        vput(state, vma, COUNT, count + ONE)
        return NEXT
    if op == ops.INC_NOT_ZERO:  # arg: also from 0
        count = vget(state, vma, COUNT)
        if vget(state, vma, EXCLUSIVE):
            return OTHERWISE
        if count == ZERO and arg == ZERO:
            return ELSEWHERE
        if count == COUNT[2]:
            return _stops(state, BALANCED, setting)
        vput(state, vma, COUNT, count + ONE)
        return NEXT
    if op in (ops.UP_READ, ops.PUT):
        count = vget(state, vma, COUNT)
        if count == ZERO:
            return _stops(state, BALANCED, setting)
        vput(state, vma, COUNT, count - ONE)
        if op == ops.UP_READ:
            return NEXT if vget(state, vma, WAITERS) else OTHERWISE
        return NEXT if vget(state, vma, EXCLUSIVE) and count <= TWO else OTHERWISE
    if op == ops.WAKE:  # rwsem_wake(): the semaphore is used once more
        return NEXT
    if op == ops.LOAD_VM_MM:
        tput(state, thread, LOADED, vget(state, vma, OTHER))
        return NEXT
    if op == ops.IF_OUR_MM:
        return OTHERWISE if vget(state, vma, OTHER) else NEXT
    if op == ops.IF_ATTACHED:
        return OTHERWISE if vget(state, vma, st.DETACHED) else NEXT
    if op == ops.IF_IN_RANGE:
        return NEXT if st.covers(state, vma, arg) else OTHERWISE
    if op == ops.IF_ANON:
        return NEXT if vget(state, vma, ANON) else OTHERWISE
    if op == ops.PREPARE_ANON:
        vput(state, vma, ANON, ONE)
        return NEXT
    if op == ops.LOAD_START:
        tput(state, thread, LOADED, vget(state, vma, START))
        return NEXT
    if op == ops.LOAD_PGOFF:  # linear_page_index(): of a mapping of page 0 at offset 0
        if vget(state, vma, PGOFF) != tget(state, thread, LOADED):
            breaks(state, STABLE, setting)
        return NEXT
    if op == ops.LOAD_FLAGS:
        tput(state, thread, LOADED, vget(state, vma, MAY_WRITE))
        return NEXT
    # SET_PTE
    may_write = tget(state, thread, LOADED)
    if vget(state, vma, MAY_WRITE) != may_write or not vget(state, vma, ANON):
        breaks(state, STABLE, setting)
    if get(state, page(ZAPPED, arg)):
        breaks(state, UNMAPPED, setting)
    put(state, page(PTE, arg), WRITABLE if may_write else READ_ONLY)
    return NEXT


@outline
def _locking(state, thread, op, arg, setting):
    vma = tget(state, thread, VMA)
    if op == ops.MMAP_WRITE_LOCK:
        if get(state, MMAP_WRITER) or get(state, MMAP_READERS):
            return BLOCKED
        put(state, MMAP_WRITER, thread + ONE)
        return NEXT
    if op == ops.MMAP_WRITE_UNLOCK:
        put(state, MMAP_WRITER, ZERO)
        return NEXT
    if op == ops.MMAP_DOWNGRADE:
        put(state, MMAP_WRITER, ZERO)
        put(state, MMAP_READERS, get(state, MMAP_READERS) + ONE)
        return NEXT
    if op == ops.SEQ_BEGIN:
        st.count_up(state, SEQ, setting)
        return NEXT
    if op == ops.SEQ_END:  # arg: at a wrap every VMA's number is reset
        st.count_up(state, SEQ, setting)
        st.end_marks(state, ZERO)
        if arg and get(state, SEQ) == ZERO:
            st.reset_numbers(state, setting)
        return NEXT
    if op == ops.OTHER_SEQ_BEGIN:
        st.count_up(state, OTHER_SEQ, setting)
        return NEXT
    if op == ops.OTHER_SEQ_END:
        st.count_up(state, OTHER_SEQ, setting)
        st.end_marks(state, ONE)
        return NEXT
    if vma == ZERO:
        return _stops(state, ALIVE, setting)
    if op == ops.IF_NOT_MARKED:  # __is_vma_write_locked(): both are the writer's to change
        if vget(state, vma, VM_LOCK_SEQ) != st.mm_seq(state, vma):
            return NEXT
        vput(state, vma, MARKED, ONE)
        return OTHERWISE
    if op == ops.DOWN_WRITE:
        if vget(state, vma, COUNT) or vget(state, vma, EXCLUSIVE):
            vput(state, vma, WAITERS, ONE)
            return NEXT
        vput(state, vma, EXCLUSIVE, ONE)
        return OTHERWISE
    if op == ops.EXCLUDE_READERS:  # refcount_add_not_zero(VM_REFCNT_EXCLUDE_READERS_FLAG)
        if vget(state, vma, EXCLUSIVE):  # a flag that is there already runs into the next bit
            return _stops(state, BALANCED, setting)
        if vget(state, vma, COUNT) == ZERO:
            return OTHERWISE
        vput(state, vma, EXCLUSIVE, ONE)
        return NEXT
    if op == ops.WAIT_FOR_READERS:  # arg: what the count is without readers
        held = not setting[REFCOUNT] and vget(state, vma, EXCLUSIVE)
        if held or vget(state, vma, COUNT) != arg:
            return BLOCKED
        if not setting[REFCOUNT]:  # the semaphore is taken as it becomes free
            vput(state, vma, EXCLUSIVE, ONE)
            vput(state, vma, WAITERS, ZERO)
        return NEXT
    if op == ops.STORE_VM_LOCK_SEQ:
        vput(state, vma, VM_LOCK_SEQ, st.mm_seq(state, vma))
        vput(state, vma, MARKED, ONE)
        return NEXT
    # UP_WRITE, or the count without its flag
    if not vget(state, vma, EXCLUSIVE):
        return _stops(state, BALANCED, setting)
    vput(state, vma, EXCLUSIVE, ZERO)
    return NEXT


@forceinline
def _free(state, thread, vma, setting):
    vput(state, vma, MARKED, ZERO)
    waits = ZERO
    for other in range(setting[st.N_THREADS]):
        waits |= tget(state, other, IN_RCU) << other
    if setting[TYPESAFE] & AT_ONCE or waits == ZERO:
        vput(state, vma, LIFE, FREED)
    else:
        vput(state, vma, LIFE, WAITING)
        put(state, grace(vma), waits)


@forceinline
def _alloc(state, thread, arg, setting):
    """A VMA; arg has its first page, its last one, whose it is, whether its number is even."""
    for life in (FREED, UNUSED):
        for v in range(VMAS):
            vma = v + ONE
            if vget(state, vma, LIFE) == life:
                vput(state, vma, LIFE, LIVE)
                vput(state, vma, START, arg & ONE)
                vput(state, vma, PGOFF, arg & ONE)
                vput(state, vma, LAST, (arg >> ONE) & ONE)
                vput(state, vma, OTHER, (arg >> TWO) & ONE)
                vput(state, vma, VM_LOCK_SEQ, setting[SEQ_MASK] - ((arg >> U(3)) & ONE))
                vput(state, vma, MAY_WRITE, ONE)
                vput(state, vma, ANON, ONE)
                vput(state, vma, MARKED, ZERO)
                # The lock of a type-safe VMA stays as it is. 7.3 has the count for `detached`.
                vput(state, vma, st.DETACHED, ONE if setting[REFCOUNT] else ZERO)
                tput(state, thread, VMA, vma)
                return NEXT
    return OTHERWISE


@outline
def _writer(state, thread, op, arg, setting):
    vma = tget(state, thread, VMA)
    if op == ops.IF_UNMAPPED:
        return OTHERWISE if get(state, page(TREE, arg)) else NEXT
    if op == ops.ALLOC:
        return _alloc(state, thread, arg, setting)
    if op == ops.PUT_OTHER_MM:
        return _put_other(state, setting)
    if vma == ZERO:
        return _stops(state, ALIVE, setting)
    if op == ops.FREE:
        _free(state, thread, vma, setting)
        return NEXT
    if op == ops.SET_DETACHED:
        vput(state, vma, st.DETACHED, ONE)
        _changes(state, thread, vma, setting)
        return NEXT
    if op == ops.PUT_ATTACHED:  # vma_mark_detached(): down by one, detached at 0
        count = vget(state, vma, COUNT)
        if count == ZERO:
            return _stops(state, BALANCED, setting)
        vput(state, vma, COUNT, count - ONE)
        vput(state, vma, st.DETACHED, ONE)
        _changes(state, thread, vma, setting)
        return NEXT if count > ONE else OTHERWISE
    if op == ops.MARK_ATTACHED:
        vput(state, vma, COUNT, ONE)
        vput(state, vma, st.DETACHED, ZERO)
        return NEXT
    if op == ops.CLEAR_TREE:
        for number in range(PAGES):
            if get(state, page(TREE, number)) == vma:
                put(state, page(TREE, number), NONE)
        return NEXT
    if op == ops.STORE_TREE:
        put(state, page(TREE, arg), vma)
        put(state, page(ZAPPED, arg), ZERO)
        return NEXT
    if op == ops.CLEAR_FLAG:
        _changes(state, thread, vma, setting)
        vput(state, vma, MAY_WRITE, ZERO)
        return NEXT
    if op == ops.CLEAR_ANON:
        _changes(state, thread, vma, setting)
        vput(state, vma, ANON, ZERO)
        return NEXT
    if op == ops.SET_LAST:
        _changes(state, thread, vma, setting)
        vput(state, vma, LAST, arg)
        return NEXT
    if op == ops.SET_START:
        _changes(state, thread, vma, setting)
        vput(state, vma, START, arg)
        return NEXT
    if op == ops.SET_PGOFF:
        _changes(state, thread, vma, setting)
        vput(state, vma, PGOFF, arg)
        return NEXT
    if op == ops.COPY_ANON:  # anon_vma_fork()
        put(state, st.CHILD_ANON, vget(state, vma, ANON))
        return NEXT
    if op == ops.COPY_PTE:  # copy_present_pte(), under the page table's lock
        entry = get(state, page(PTE, arg))
        put(state, page(st.CHILD_PTE, arg), ONE if entry else ZERO)
        put(state, page(PTE, arg), min(entry, READ_ONLY))
        return NEXT
    for number in range(PAGES):
        if not st.covers(state, vma, number):
            continue
        entry = get(state, page(PTE, number))
        if op == ops.PROTECT_PTES:
            put(state, page(PTE, number), min(entry, READ_ONLY))
        elif op == ops.COMPARE_CHILD:
            copied = get(state, page(st.CHILD_PTE, number))
            if entry == WRITABLE or copied != (ONE if entry else ZERO):
                breaks(state, FORKED, setting)
            if copied and not get(state, st.CHILD_ANON):
                breaks(state, FORKED, setting)
        else:  # ZAP_PTES, MOVE_PTES
            put(state, page(PTE, number), NONE)
            put(state, page(ZAPPED, number), ONE if op == ops.ZAP_PTES else ZERO)
    return NEXT


@forceinline
def execute(state, thread, op, arg, setting):
    """Take one step in place; says how it ends."""
    if op <= ops.MMAP_READ_UNLOCK:
        return _reader(state, thread, op, arg, setting)
    if op <= ops.UP_WRITE:
        return _locking(state, thread, op, arg, setting)
    return _writer(state, thread, op, arg, setting)

"""What a writer does, one shared access after another, under each variant.

        START  W_DOWN  (W_WAIT)  W_GOT  W_MARK (W_MARK_WAIT) ...  W_END  (W_TAIL)

It follows `mmap_write_lock()`, `vma_start_write()` for each VMA, and `mmap_write_unlock()` or
`mmap_write_downgrade()` of 6.12; what other variants do in their place is said in
`lorelab.vmalock.params.Variant`.
"""

from lorelab.numerics import ONE, ZERO, U, forceinline
from lorelab.vmalock.model import rwsem, sched
from lorelab.vmalock.model.events import never
from lorelab.vmalock.model.lines import read, write
from lorelab.vmalock.model.operation import (
    HELD,
    MARKS,
    OVER,
    VMA_SLEEP,
    VMA_WAIT,
    W_END,
    W_GOT,
    W_MARK,
    W_MARK_WAIT,
    W_TAIL,
    W_WAIT,
    WRITER_WAIT,
    WRITER_WAITS,
    goes_on,
    is_vma_locked,
    lock_line,
    vma_line,
    waits,
)
from lorelab.vmalock.model.state import MM_SEQ, MMAP_LOCK, NEVER, NONE, RANGES, TREE

SEQUENCE = U(0xFFFFFFFF)
"""Sequence numbers have 32 bits."""


@forceinline
def nth(m, thread, n):
    """VMA that a writer marks n-th: its own ones in the order of their addresses."""
    first, marks, vmas = m.task[thread].vma, m.program[m.task[thread].op].marks, m.globals[0].vmas
    around = first + marks - vmas if first + marks > vmas else ZERO
    return n if n < around else first + n - around


@forceinline
def w_down(m, thread):
    """mmap_write_lock()."""
    m.task[thread].waited = m.globals[0].now
    if m.globals[0].range_lock != ZERO:
        return goes_on(m, thread, W_GOT, write(m, RANGES, m.task[thread].cpu))
    time = write(m, MMAP_LOCK, m.task[thread].cpu)
    m.task[thread].pc = W_WAIT
    if rwsem.down_write(m, MMAP_LOCK, thread):
        return goes_on(m, thread, W_GOT, time)
    waits(m, True, True)
    return NEVER


@forceinline
def w_wait(m, thread):
    if not rwsem.goes_on_to_write(m, MMAP_LOCK, thread):
        return NEVER
    waits(m, True, False)
    m.count[WRITER_WAITS] += ONE
    m.count[WRITER_WAIT] += m.globals[0].now - m.task[thread].waited
    return goes_on(m, thread, W_GOT, write(m, MMAP_LOCK, m.task[thread].cpu))


@forceinline
def _write_sequence(m, thread, time):
    m.globals[0].mm_seq = (m.globals[0].mm_seq + ONE) & SEQUENCE
    return time + write(m, MM_SEQ, m.task[thread].cpu) - m.globals[0].now


@forceinline
def w_got(m, thread):
    """mm_lock_seqcount_begin()."""
    g = m.globals[0]
    m.task[thread].waited = g.now
    time = g.now
    if g.seqcount != ZERO:
        time = _write_sequence(m, thread, time)
    return _mark_next(m, thread, time)


@forceinline
def _marks(m):
    return m.globals[0].vma_read_lock != ZERO or m.globals[0].range_lock != ZERO


@forceinline
def _mark_next(m, thread, time):
    """Go on to the next VMA to mark, or with what the writer came for."""
    op = m.program[m.task[thread].op]
    if m.task[thread].marked < op.marks and _marks(m):
        return goes_on(m, thread, W_MARK, time)
    if op.marks > ZERO:
        # the maple tree changes
        time += write(m, TREE, m.task[thread].cpu) - m.globals[0].now
    return goes_on(m, thread, W_END, time + op.hold)


@forceinline
def w_mark(m, thread):
    """vma_start_write() of the next VMA."""
    g, cpu = m.globals[0], m.task[thread].cpu
    vma = nth(m, thread, m.task[thread].marked)
    time = read(m, vma_line(vma), cpu, g.now)
    if g.sequences != ZERO and is_vma_locked(m, vma):
        m.task[thread].marked += ONE
        return _mark_next(m, thread, time)
    time += write(m, lock_line(vma), cpu) - g.now
    m.task[thread].pc = W_MARK_WAIT
    m.task[thread].seq = g.now
    if g.refcount != ZERO:
        # __vma_enter_locked()
        m.sem[vma + ONE].writer = thread
        if m.sem[vma + ONE].readers != ZERO:
            m.count[VMA_SLEEP] += ONE
            m.task[thread].since = NEVER
            never(m, thread)
            sched.leave(m, thread)
            rwsem.stop_spinning_on(m, thread)
            return NEVER
    elif not rwsem.down_write(m, vma + ONE, thread):
        return NEVER
    return _marked(m, thread, vma, time)


@forceinline
def w_mark_wait(m, thread):
    vma = nth(m, thread, m.task[thread].marked)
    if m.globals[0].refcount == ZERO and not rwsem.goes_on_to_write(m, vma + ONE, thread):
        return NEVER
    m.count[VMA_WAIT] += m.globals[0].now - m.task[thread].seq
    return _marked(m, thread, vma, write(m, lock_line(vma), m.task[thread].cpu))


@forceinline
def _marked(m, thread, vma, time):
    """No reader is inside: note the sequence, and let go, unless the variant has no sequences."""
    g = m.globals[0]
    m.count[MARKS] += ONE
    m.task[thread].marked += ONE
    if g.refcount != ZERO:
        m.sem[vma + ONE].writer = NONE
    if g.sequences != ZERO:
        m.vma[vma].vm_lock_seq = g.mm_seq
        write(m, vma_line(vma), m.task[thread].cpu)
        if g.refcount == ZERO:
            time = rwsem.up_write(m, vma + ONE, time)
    return _mark_next(m, thread, time + g.mark)


@forceinline
def w_end(m, thread):
    """mmap_write_unlock(), or mmap_write_downgrade() where there is a tail."""
    g, cpu = m.globals[0], m.task[thread].cpu
    op = m.program[m.task[thread].op]
    time = g.now
    if op.fresh != ZERO:
        for n in range(op.marks):
            m.vma[nth(m, thread, n)].anon_vma = ZERO
    if _marks(m) and g.sequences == ZERO:
        for n in range(op.marks):
            vma = nth(m, thread, n)
            time += write(m, lock_line(vma), cpu) - g.now
            time = rwsem.up_write(m, vma + ONE, time)
    elif g.sequences != ZERO or g.seqcount != ZERO:
        time = _write_sequence(m, thread, time)
    m.count[HELD] += g.now - m.task[thread].waited
    if g.range_lock != ZERO:
        time += write(m, RANGES, cpu) - g.now
        return goes_on(m, thread, OVER, time + op.tail)
    time += write(m, MMAP_LOCK, cpu) - g.now
    if op.tail != ZERO:
        return goes_on(m, thread, W_TAIL, rwsem.downgrade_write(m, MMAP_LOCK, time) + op.tail)
    return goes_on(m, thread, OVER, rwsem.up_write(m, MMAP_LOCK, time))


@forceinline
def w_tail(m, thread):
    time = write(m, MMAP_LOCK, m.task[thread].cpu)
    return goes_on(m, thread, OVER, rwsem.up_read(m, MMAP_LOCK, time))

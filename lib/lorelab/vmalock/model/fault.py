"""What a page fault does, one shared access after another, under each variant.

        START  EARLY  TRY  LATE  (ANON ANON_END)  END     under the VMA's lock
        START  EARLY  CHECK                               speculative
        START  DOWN  (WOKEN)  GOT  UP                     under mmap_lock

It follows `lock_vma_under_rcu()` and `vma_start_read()` of 6.12; what other variants do in their
place is said in `lorelab.vmalock.params.Variant`.
"""

from lorelab.numerics import ONE, ZERO, forceinline
from lorelab.vmalock.model import rwsem, sched
from lorelab.vmalock.model.lines import read, write
from lorelab.vmalock.model.operation import (
    ABORT_EARLY,
    ABORT_LATE,
    ABORT_TRYLOCK,
    ANON,
    ANON_END,
    BY_MMAP,
    BY_VMA,
    CHECK,
    DOWN,
    END,
    GOT,
    LATE,
    OVER,
    READER_WAIT,
    READER_WAITS,
    RETRY,
    TRY,
    UP,
    WOKEN,
    goes_on,
    is_vma_locked,
    lock_line,
    vma_line,
    waits,
)
from lorelab.vmalock.model.state import MM_SEQ, MMAP_LOCK, NEVER, NONE, RANGES, TREE


@forceinline
def _body(m, thread):
    return m.program[m.task[thread].op].body


@forceinline
def _abort(m, thread, why, time):
    """The fault starts again under mmap_lock."""
    m.count[why] += ONE
    return goes_on(m, thread, DOWN, time)


@forceinline
def _drop_vma(m, thread, vma, time):
    """vma_end_read(); returns when the thread goes on [ns]."""
    sem = vma + ONE
    time += write(m, lock_line(vma), m.task[thread].cpu) - m.globals[0].now
    if m.globals[0].refcount == ZERO:
        return rwsem.up_read(m, sem, time)
    # vma_refcount_put()
    m.sem[sem].readers -= ONE
    if m.sem[sem].readers == ZERO and m.sem[sem].writer != NONE:
        time += m.globals[0].wake
        sched.ready(m, m.sem[sem].writer, time + m.globals[0].start)
    return time


@forceinline
def early(m, thread):
    """The check before locking; of a speculative fault, the sequence that it begins with."""
    g, vma, cpu = m.globals[0], m.task[thread].vma, m.task[thread].cpu
    time = read(m, MM_SEQ, cpu, read(m, vma_line(vma), cpu, g.now))
    if g.speculative != ZERO:
        m.task[thread].seq = g.mm_seq
        if g.mm_seq & ONE:
            return _abort(m, thread, ABORT_EARLY, time)
        if m.vma[vma].anon_vma == ZERO:
            return _abort(m, thread, RETRY, time + g.copy)
        return goes_on(m, thread, CHECK, time + g.copy + _body(m, thread))
    if is_vma_locked(m, vma):
        return _abort(m, thread, ABORT_EARLY, time)
    return goes_on(m, thread, TRY, time + g.checks)


@forceinline
def trylock(m, thread):
    """down_read_trylock() of the VMA's rwsem, or a reference to the VMA."""
    g, vma = m.globals[0], m.task[thread].vma
    time = write(m, lock_line(vma), m.task[thread].cpu)
    if not rwsem.down_read_trylock(m, vma + ONE):
        return _abort(m, thread, ABORT_TRYLOCK, time)
    if g.sequences == ZERO and m.vma[vma].anon_vma != ZERO:
        return goes_on(m, thread, END, time + _body(m, thread))
    return goes_on(m, thread, LATE, time)


@forceinline
def late(m, thread):
    """The check once it is locked, and what the fault needs beside the lock."""
    g, vma, cpu = m.globals[0], m.task[thread].vma, m.task[thread].cpu
    time = g.now
    if g.sequences != ZERO:
        time = read(m, MM_SEQ, cpu, time)
        if is_vma_locked(m, vma):
            return _abort(m, thread, ABORT_LATE, _drop_vma(m, thread, vma, time))
    if m.vma[vma].anon_vma != ZERO:
        return goes_on(m, thread, END, time + _body(m, thread))
    if g.anon_vma_prepare == ZERO:
        return _abort(m, thread, RETRY, _drop_vma(m, thread, vma, time))
    return goes_on(m, thread, ANON, time)


@forceinline
def anon(m, thread):
    """__vmf_anon_prepare(): an anon_vma takes mmap_lock, if that can be had at once."""
    time = write(m, MMAP_LOCK, m.task[thread].cpu)
    if rwsem.down_read_trylock(m, MMAP_LOCK):
        return goes_on(m, thread, ANON_END, time + m.globals[0].anon_vma)
    return _abort(m, thread, RETRY, _drop_vma(m, thread, m.task[thread].vma, time))


@forceinline
def anon_end(m, thread):
    m.vma[m.task[thread].vma].anon_vma = ONE
    time = rwsem.up_read(m, MMAP_LOCK, write(m, MMAP_LOCK, m.task[thread].cpu))
    return goes_on(m, thread, END, time + _body(m, thread))


@forceinline
def end(m, thread):
    time = _drop_vma(m, thread, m.task[thread].vma, m.globals[0].now)
    m.count[BY_VMA] += ONE
    return goes_on(m, thread, OVER, time)


@forceinline
def check(m, thread):
    """A speculative fault is about to install its page: nobody may have written since."""
    time = read(m, MM_SEQ, m.task[thread].cpu, m.globals[0].now)
    if m.globals[0].mm_seq != m.task[thread].seq:
        return _abort(m, thread, ABORT_LATE, time)
    m.count[BY_VMA] += ONE
    return goes_on(m, thread, OVER, time)


@forceinline
def _classic(m, thread):
    """Semaphore and cache line that a fault takes without per-VMA locks."""
    if m.globals[0].range_lock != ZERO:
        return m.task[thread].vma + ONE, RANGES
    return MMAP_LOCK, MMAP_LOCK


@forceinline
def down(m, thread):
    sem, line = _classic(m, thread)
    time = write(m, line, m.task[thread].cpu)
    m.task[thread].waited = m.globals[0].now
    if rwsem.down_read(m, sem, thread):
        return goes_on(m, thread, GOT, time)
    m.task[thread].pc = WOKEN
    waits(m, False, True)
    return NEVER


@forceinline
def got(m, thread):
    """The walk through the tree and the fault, under mmap_lock."""
    g = m.globals[0]
    time = read(m, TREE, m.task[thread].cpu, g.now + g.walk)
    if m.vma[m.task[thread].vma].anon_vma == ZERO:
        time += g.anon_vma
    return goes_on(m, thread, UP, time + _body(m, thread))


@forceinline
def woken(m, thread):
    """A reader that slept has the semaphore, and a CPU again."""
    waits(m, False, False)
    m.count[READER_WAITS] += ONE
    m.count[READER_WAIT] += m.globals[0].now - m.task[thread].waited
    return got(m, thread)


@forceinline
def up(m, thread):
    sem, line = _classic(m, thread)
    m.vma[m.task[thread].vma].anon_vma = ONE
    m.count[BY_MMAP] += ONE
    return goes_on(m, thread, OVER, rwsem.up_read(m, sem, write(m, line, m.task[thread].cpu)))

"""What a page fault and a writer do, one shared access after another, under each policy.

A thread is at one `pc`, and `step` does what comes there: it touches one cache line or semaphore,
says when the next step is due, and moves the pc. What the kernel does between two shared accesses
is a time, from the costs of the run.

        fault   START  EARLY  TRY  LATE  (ANON ANON_END)  END            under the VMA's lock
                START  EARLY  CHECK                                      speculative
                START  DOWN  (WOKEN)  GOT  UP                                 under mmap_lock
        writer  START  W_DOWN  (W_WAIT)  W_GOT  W_MARK (W_MARK_WAIT) ...  W_END  (W_TAIL)

The fault follows `lock_vma_under_rcu()` and `vma_start_read()`, the writer `mmap_write_lock()`,
`vma_start_write()` for each VMA, and `mmap_write_unlock()` or `mmap_write_downgrade()` of 6.12;
what other policies do in their place is said in `lorelab.vmalock.params.Variant`.
"""

from lorelab.numbers import GOLDEN, ONE, ZERO, U, forceinline, outline, splitmix64
from lorelab.vmalock.model import rwsem, sched
from lorelab.vmalock.model.events import at, never
from lorelab.vmalock.model.lines import read, write
from lorelab.vmalock.model.state import (
    BUCKETS,
    COUNT,
    EITHER,
    MM_SEQ,
    MMAP_LOCK,
    NEVER,
    NONE,
    RANGES,
    SPAWN,
    TREE,
    VMA_LINES,
    WRITE,
)
from lorelab.vmalock.params import Variant

START, EARLY, TRY, LATE, ANON, ANON_END, END, CHECK, DOWN, GOT, UP = (U(i) for i in range(11))
W_DOWN, W_WAIT, W_GOT, W_MARK, W_MARK_WAIT, W_END, W_TAIL = (U(i) for i in range(11, 18))
ARRIVE, WOKEN = U(18), U(19)
PCS = [
    "start",
    "early",
    "try",
    "late",
    "anon",
    "anon_end",
    "end",
    "check",
    "down",
    "got",
    "up",
    "w_down",
    "w_wait",
    "w_got",
    "w_mark",
    "w_mark_wait",
    "w_end",
    "w_tail",
    "arrive",
    "woken",
]

SPF, VMA_RWSEM, V2 = U(Variant.SPF), U(Variant.VMA_RWSEM), U(Variant.V2)
RANGE, V6_12, REFCOUNT = U(Variant.RANGE), U(Variant.V6_12), U(Variant.V7_3)
MMAP = U(Variant.MMAP_LOCK)
SEQUENCE = U(0xFFFFFFFF)
"""Sequence numbers have 32 bits."""
TWO = U(2)
MINUS_ONE = U(0xFFFFFFFFFFFFFFFF)
STREAM = U(0xD1342543DE82EF95)
"""Between the random numbers of two threads."""

FAULTS, WRITES, BY_VMA, BY_MMAP = (COUNT[n] for n in ("faults", "writes", "vma", "mmap"))
ABORT_EARLY, ABORT_TRYLOCK = COUNT["abort_early"], COUNT["abort_trylock"]
ABORT_LATE, RETRY, MARKS = COUNT["abort_late"], COUNT["retry"], COUNT["marks"]
READER_WAIT, WRITER_WAIT, VMA_WAIT = (COUNT[n] for n in ("reader_wait", "writer_wait", "vma_wait"))
READER_WAITS, WRITER_WAITS = COUNT["reader_waits"], COUNT["writer_waits"]
FAULT_TIME, WRITE_TIME, THINK_TIME = (COUNT[n] for n in ("fault_time", "write_time", "think_time"))
STARTED, LAST, HELD, VMA_SLEEP = (COUNT[n] for n in ("started", "last", "held", "vma_sleep"))


@forceinline
def draw(m, thread):
    """The thread's next random number."""
    m.task[thread].drawn += ONE
    return splitmix64(m.one[0].seed + thread * STREAM + m.task[thread].drawn * GOLDEN)


@forceinline
def vma_line(vma):
    return VMA_LINES + TWO * vma


@forceinline
def lock_line(vma):
    return VMA_LINES + TWO * vma + ONE


@forceinline
def bucket(value):
    """Bucket of a histogram with 32 buckets an octave; below 64 each value has its own."""
    octave = ZERO
    for step in (U(16), U(8), U(4), U(2), U(1)):
        if value >> (octave + step) >= U(32):
            octave += step
    return min(octave * U(32) + (value >> octave), U(BUCKETS - 1))


@forceinline
def is_vma_locked(m, vma):
    """Whether a writer has marked a VMA: the two sequence numbers are equal."""
    return m.vma[vma].vm_lock_seq == m.one[0].mm_seq


@forceinline
def _next(m, thread, pc, time):
    m.task[thread].pc = pc
    at(m, thread, time)


@outline
def waits(m, writes, begins):
    """A thread begins or ceases to wait for mmap_lock, asleep or spinning.

    What has passed is added to the areas under the numbers of those that wait, for Little's law.
    """
    one = m.one[0]
    passed = one.now - one.waiting_since
    one.reader_area += passed * one.readers_waiting
    one.writer_area += passed * one.writers_waiting
    one.waiting_since = one.now
    if writes:
        one.writers_waiting += ONE if begins else MINUS_ONE
    else:
        one.readers_waiting += ONE if begins else MINUS_ONE


# operations


@forceinline
def _advance(m, thread):
    m.task[thread].op += ONE
    if m.task[thread].op == m.task[thread].end:
        m.task[thread].op = m.task[thread].first
        m.task[thread].left -= ONE


@outline
def start(m, thread):
    """Begin the thread's next operation, unless it has none left or its slice is over."""
    one = m.one[0]
    now = one.now
    if now >= one.stop or m.task[thread].left == ZERO:
        m.task[thread].ended = now
        never(m, thread)
        sched.leave(m, thread)
        return
    if one.queued > ZERO and now - m.task[thread].ran >= one.slice:
        sched.leave(m, thread)
        sched.ready(m, thread, now)
        return
    op = m.program[m.task[thread].op]
    kind = op.kind
    if kind == SPAWN:
        sched.ready(m, op.vma, now + op.body + one.start)
        _advance(m, thread)
        _next(m, thread, START, now + op.body)
        return
    if kind == EITHER:
        kind = WRITE if draw(m, thread) >> U(32) < op.share else ZERO
    vma = op.vma
    if op.spread > ONE:
        vma += draw(m, thread) % op.spread
    m.task[thread].vma = vma
    m.task[thread].writing = kind
    m.task[thread].began = now
    m.count[STARTED] += ONE
    if kind == WRITE:
        m.task[thread].marked = ZERO
        _next(m, thread, W_DOWN, now)
    elif one.policy == MMAP or one.policy == RANGE:
        _next(m, thread, DOWN, now)
    else:
        pc = TRY if one.policy == VMA_RWSEM else EARLY
        _next(m, thread, pc, read(m, TREE, m.task[thread].cpu, now + one.walk))


@outline
def finish(m, thread, time):
    """End an operation at `time`: count it, and think before the next one."""
    took = time - m.task[thread].began
    if m.task[thread].writing != ZERO:
        m.count[WRITES] += ONE
        m.count[WRITE_TIME] += took
        m.write_latency[bucket(took)] += ONE
    else:
        m.count[FAULTS] += ONE
        m.count[FAULT_TIME] += took
        m.fault_latency[bucket(took)] += ONE
    m.count[LAST] = max(m.count[LAST], time)
    mean = m.program[m.task[thread].op].think
    thinks = (mean >> ONE) + draw(m, thread) % (mean + ONE)
    m.count[THINK_TIME] += thinks
    _advance(m, thread)
    _next(m, thread, START, time + thinks)


# a fault


@forceinline
def _body(m, thread):
    return m.program[m.task[thread].op].body


@forceinline
def _abort(m, thread, why, time):
    """The fault starts again under mmap_lock."""
    m.count[why] += ONE
    _next(m, thread, DOWN, time)


@forceinline
def _drop_vma(m, thread, vma, time):
    """vma_end_read(); returns when the thread goes on [ns]."""
    sem = vma + ONE
    time += write(m, lock_line(vma), m.task[thread].cpu) - m.one[0].now
    if m.one[0].policy != REFCOUNT:
        return rwsem.up_read(m, sem, time)
    # vma_refcount_put()
    m.sem[sem].readers -= ONE
    if m.sem[sem].readers == ZERO and m.sem[sem].writer != NONE:
        time += m.one[0].wake
        sched.ready(m, m.sem[sem].writer, time + m.one[0].start)
    return time


@forceinline
def early(m, thread):
    """The check before locking; of a speculative fault, the sequence that it begins with."""
    one, vma, cpu = m.one[0], m.task[thread].vma, m.task[thread].cpu
    time = read(m, MM_SEQ, cpu, read(m, vma_line(vma), cpu, one.now))
    if one.policy == SPF:
        m.task[thread].seq = one.mm_seq
        if one.mm_seq & ONE:
            _abort(m, thread, ABORT_EARLY, time)
        elif m.vma[vma].anon_vma == ZERO:
            _abort(m, thread, RETRY, time + one.copy)
        else:
            _next(m, thread, CHECK, time + one.copy + _body(m, thread))
    elif is_vma_locked(m, vma):
        _abort(m, thread, ABORT_EARLY, time)
    else:
        _next(m, thread, TRY, time + one.checks)


@forceinline
def trylock(m, thread):
    """down_read_trylock() of the VMA's rwsem, or a reference to the VMA."""
    one, vma = m.one[0], m.task[thread].vma
    time = write(m, lock_line(vma), m.task[thread].cpu)
    if not rwsem.down_read_trylock(m, vma + ONE):
        _abort(m, thread, ABORT_TRYLOCK, time)
    elif one.policy == VMA_RWSEM and m.vma[vma].anon_vma != ZERO:
        _next(m, thread, END, time + _body(m, thread))
    else:
        _next(m, thread, LATE, time)


@forceinline
def late(m, thread):
    """The check once it is locked, and what the fault needs beside the lock."""
    one, vma, cpu = m.one[0], m.task[thread].vma, m.task[thread].cpu
    time = one.now
    if one.policy != VMA_RWSEM:
        time = read(m, MM_SEQ, cpu, time)
        if is_vma_locked(m, vma):
            _abort(m, thread, ABORT_LATE, _drop_vma(m, thread, vma, time))
            return
    if m.vma[vma].anon_vma != ZERO:
        _next(m, thread, END, time + _body(m, thread))
    elif one.policy == V2 or one.policy == VMA_RWSEM:
        _abort(m, thread, RETRY, _drop_vma(m, thread, vma, time))
    else:
        _next(m, thread, ANON, time)


@forceinline
def anon(m, thread):
    """__vmf_anon_prepare(): an anon_vma takes mmap_lock, if that can be had at once."""
    time = write(m, MMAP_LOCK, m.task[thread].cpu)
    if rwsem.down_read_trylock(m, MMAP_LOCK):
        _next(m, thread, ANON_END, time + m.one[0].anon_vma)
    else:
        _abort(m, thread, RETRY, _drop_vma(m, thread, m.task[thread].vma, time))


@forceinline
def anon_end(m, thread):
    m.vma[m.task[thread].vma].anon_vma = ONE
    time = rwsem.up_read(m, MMAP_LOCK, write(m, MMAP_LOCK, m.task[thread].cpu))
    _next(m, thread, END, time + _body(m, thread))


@forceinline
def end(m, thread):
    m.count[BY_VMA] += ONE
    finish(m, thread, _drop_vma(m, thread, m.task[thread].vma, m.one[0].now))


@forceinline
def check(m, thread):
    """A speculative fault is about to install its page: nobody may have written since."""
    time = read(m, MM_SEQ, m.task[thread].cpu, m.one[0].now)
    if m.one[0].mm_seq != m.task[thread].seq:
        _abort(m, thread, ABORT_LATE, time)
    else:
        m.count[BY_VMA] += ONE
        finish(m, thread, time)


@forceinline
def _classic(m, thread):
    """Semaphore and cache line that a fault takes without per-VMA locks."""
    if m.one[0].policy == RANGE:
        return m.task[thread].vma + ONE, RANGES
    return MMAP_LOCK, MMAP_LOCK


@outline
def down(m, thread):
    sem, line = _classic(m, thread)
    time = write(m, line, m.task[thread].cpu)
    m.task[thread].waited = m.one[0].now
    if rwsem.down_read(m, sem, thread):
        _next(m, thread, GOT, time)
    else:
        m.task[thread].pc = WOKEN
        waits(m, False, True)


@outline
def got(m, thread):
    """The walk through the tree and the fault, under mmap_lock."""
    one = m.one[0]
    time = read(m, TREE, m.task[thread].cpu, one.now + one.walk)
    if m.vma[m.task[thread].vma].anon_vma == ZERO:
        time += one.anon_vma
    _next(m, thread, UP, time + _body(m, thread))


@outline
def woken(m, thread):
    """A reader that slept has the semaphore, and a CPU again."""
    waits(m, False, False)
    m.count[READER_WAITS] += ONE
    m.count[READER_WAIT] += m.one[0].now - m.task[thread].waited
    got(m, thread)


@outline
def up(m, thread):
    sem, line = _classic(m, thread)
    m.vma[m.task[thread].vma].anon_vma = ONE
    m.count[BY_MMAP] += ONE
    finish(m, thread, rwsem.up_read(m, sem, write(m, line, m.task[thread].cpu)))


# a writer


@forceinline
def nth(m, thread, n):
    """VMA that a writer marks n-th: its own ones in the order of their addresses."""
    first, marks, vmas = m.task[thread].vma, m.program[m.task[thread].op].marks, m.one[0].vmas
    around = first + marks - vmas if first + marks > vmas else ZERO
    return n if n < around else first + n - around


@outline
def w_down(m, thread):
    """mmap_write_lock()."""
    m.task[thread].waited = m.one[0].now
    if m.one[0].policy == RANGE:
        _next(m, thread, W_GOT, write(m, RANGES, m.task[thread].cpu))
        return
    time = write(m, MMAP_LOCK, m.task[thread].cpu)
    m.task[thread].pc = W_WAIT
    if rwsem.down_write(m, MMAP_LOCK, thread):
        _next(m, thread, W_GOT, time)
    else:
        waits(m, True, True)


@outline
def w_wait(m, thread):
    if rwsem.goes_on_to_write(m, MMAP_LOCK, thread):
        waits(m, True, False)
        m.count[WRITER_WAITS] += ONE
        m.count[WRITER_WAIT] += m.one[0].now - m.task[thread].waited
        _next(m, thread, W_GOT, write(m, MMAP_LOCK, m.task[thread].cpu))


@forceinline
def _write_sequence(m, thread, time):
    m.one[0].mm_seq = (m.one[0].mm_seq + ONE) & SEQUENCE
    return time + write(m, MM_SEQ, m.task[thread].cpu) - m.one[0].now


@outline
def w_got(m, thread):
    """mm_lock_seqcount_begin()."""
    one = m.one[0]
    m.task[thread].waited = one.now
    time = one.now
    if one.policy == V6_12 or one.policy == REFCOUNT or one.policy == SPF:
        time = _write_sequence(m, thread, time)
    _mark_next(m, thread, time)


@forceinline
def _marks(m):
    return m.one[0].policy != MMAP and m.one[0].policy != SPF


@forceinline
def _mark_next(m, thread, time):
    """Go on to the next VMA to mark, or with what the writer came for."""
    op = m.program[m.task[thread].op]
    if m.task[thread].marked < op.marks and _marks(m):
        _next(m, thread, W_MARK, time)
        return
    if op.marks > ZERO:
        # the maple tree changes
        time += write(m, TREE, m.task[thread].cpu) - m.one[0].now
    _next(m, thread, W_END, time + op.hold)


@outline
def w_mark(m, thread):
    """vma_start_write() of the next VMA."""
    one, cpu = m.one[0], m.task[thread].cpu
    vma = nth(m, thread, m.task[thread].marked)
    time = read(m, vma_line(vma), cpu, one.now)
    sequences = one.policy != RANGE and one.policy != VMA_RWSEM
    if sequences and is_vma_locked(m, vma):
        m.task[thread].marked += ONE
        _mark_next(m, thread, time)
        return
    time += write(m, lock_line(vma), cpu) - one.now
    m.task[thread].pc = W_MARK_WAIT
    m.task[thread].seq = one.now
    if one.policy == REFCOUNT:
        # __vma_enter_locked()
        m.sem[vma + ONE].writer = thread
        if m.sem[vma + ONE].readers != ZERO:
            m.count[VMA_SLEEP] += ONE
            m.task[thread].since = NEVER
            never(m, thread)
            sched.leave(m, thread)
            rwsem.stop_spinning_on(m, thread)
            return
    elif not rwsem.down_write(m, vma + ONE, thread):
        return
    _marked(m, thread, vma, time)


@outline
def w_mark_wait(m, thread):
    vma = nth(m, thread, m.task[thread].marked)
    if m.one[0].policy == REFCOUNT or rwsem.goes_on_to_write(m, vma + ONE, thread):
        m.count[VMA_WAIT] += m.one[0].now - m.task[thread].seq
        _marked(m, thread, vma, write(m, lock_line(vma), m.task[thread].cpu))


@forceinline
def _marked(m, thread, vma, time):
    """No reader is inside: note the sequence, and let go, unless the policy has no sequences."""
    one = m.one[0]
    m.count[MARKS] += ONE
    m.task[thread].marked += ONE
    if one.policy == REFCOUNT:
        m.sem[vma + ONE].writer = NONE
    if one.policy != RANGE and one.policy != VMA_RWSEM:
        m.vma[vma].vm_lock_seq = one.mm_seq
        write(m, vma_line(vma), m.task[thread].cpu)
        if one.policy != REFCOUNT:
            time = rwsem.up_write(m, vma + ONE, time)
    _mark_next(m, thread, time + one.mark)


@outline
def w_end(m, thread):
    """mmap_write_unlock(), or mmap_write_downgrade() where there is a tail."""
    one, cpu = m.one[0], m.task[thread].cpu
    op = m.program[m.task[thread].op]
    time = one.now
    if op.fresh != ZERO:
        for n in range(op.marks):
            m.vma[nth(m, thread, n)].anon_vma = ZERO
    if one.policy == RANGE or one.policy == VMA_RWSEM:
        for n in range(op.marks):
            vma = nth(m, thread, n)
            time += write(m, lock_line(vma), cpu) - one.now
            time = rwsem.up_write(m, vma + ONE, time)
    elif one.policy != MMAP:
        time = _write_sequence(m, thread, time)
    m.count[HELD] += one.now - m.task[thread].waited
    if one.policy == RANGE:
        time += write(m, RANGES, cpu) - one.now
        finish(m, thread, time + op.tail)
        return
    time += write(m, MMAP_LOCK, cpu) - one.now
    if op.tail != ZERO:
        _next(m, thread, W_TAIL, rwsem.downgrade_write(m, MMAP_LOCK, time) + op.tail)
    else:
        finish(m, thread, rwsem.up_write(m, MMAP_LOCK, time))


@outline
def w_tail(m, thread):
    time = write(m, MMAP_LOCK, m.task[thread].cpu)
    finish(m, thread, rwsem.up_read(m, MMAP_LOCK, time))

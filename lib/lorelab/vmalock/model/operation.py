"""What a page fault and a writer have in common: how an operation begins, goes on and ends.

A thread is at one `pc`, and its step does what comes there: it touches one cache line or semaphore,
moves the pc, and returns when the next step is due; or NEVER, where the semaphore or the scheduler
has already said when the thread goes on. What the kernel does between two shared accesses is a
time, from the costs of the run. The steps of a fault stand in `fault`, those of a writer in
`writer`.
"""

from lorelab.numerics import GOLDEN, ONE, TWO, ZERO, U, forceinline, outline, splitmix64
from lorelab.vmalock.model import sched
from lorelab.vmalock.model.events import never
from lorelab.vmalock.model.lines import read
from lorelab.vmalock.model.state import (
    BUCKETS,
    COUNT,
    EITHER,
    NEVER,
    SPAWN,
    TREE,
    VMA_LINES,
    WRITE,
)

START, EARLY, TRY, LATE, ANON, ANON_END, END, CHECK, DOWN, GOT, UP = (U(i) for i in range(11))
W_DOWN, W_WAIT, W_GOT, W_MARK, W_MARK_WAIT, W_END, W_TAIL = (U(i) for i in range(11, 18))
ARRIVE, WOKEN = U(18), U(19)
OVER = U(20)
"""Not a place where a thread waits: its operation has ended, and `finish` comes."""
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
    return splitmix64(m.globals[0].seed + thread * STREAM + m.task[thread].drawn * GOLDEN)


@forceinline
def vma_line(vma):
    return VMA_LINES + TWO * vma


@forceinline
def lock_line(vma):
    return VMA_LINES + TWO * vma + ONE


@forceinline
def bucket(value):
    """Bucket of a histogram with 32 buckets an octave; below 64 each value has its own."""
    bits, rest = ZERO, value
    while rest != ZERO:  # one instruction, once compiled
        rest >>= ONE
        bits += ONE
    octave = max(bits, U(6)) - U(6)
    return min(octave * U(32) + (value >> octave), U(BUCKETS - 1))


@forceinline
def is_vma_locked(m, vma):
    """Whether a writer has marked a VMA: the two sequence numbers are equal."""
    return m.vma[vma].vm_lock_seq == m.globals[0].mm_seq


@forceinline
def goes_on(m, thread, pc, time):
    m.task[thread].pc = pc
    return time


@outline
def waits(m, writes, begins):
    """A thread begins or ceases to wait for mmap_lock, asleep or spinning.

    What has passed is added to the areas under the numbers of those that wait, for Little's law.
    """
    g = m.globals[0]
    passed = g.now - g.waiting_since
    g.reader_area += passed * g.readers_waiting
    g.writer_area += passed * g.writers_waiting
    g.waiting_since = g.now
    if writes:
        g.writers_waiting += ONE if begins else MINUS_ONE
    else:
        g.readers_waiting += ONE if begins else MINUS_ONE


# operations


@forceinline
def _advance(m, thread):
    m.task[thread].op += ONE
    if m.task[thread].op == m.task[thread].end:
        m.task[thread].op = m.task[thread].first
        m.task[thread].left -= ONE


@forceinline
def start(m, thread):
    """Begin the thread's next operation, unless it has none left or its slice is over."""
    g = m.globals[0]
    now = g.now
    if now >= g.stop or m.task[thread].left == ZERO:
        m.task[thread].ended = now
        never(m, thread)
        sched.leave(m, thread)
        return NEVER
    if g.queued > ZERO and now - m.task[thread].ran >= g.slice:
        sched.leave(m, thread)
        sched.ready(m, thread, now)
        return NEVER
    op = m.program[m.task[thread].op]
    kind = op.kind
    if kind == SPAWN:
        sched.ready(m, op.vma, now + op.body + g.start)
        _advance(m, thread)
        return goes_on(m, thread, START, now + op.body)
    if kind == EITHER:
        kind = WRITE if draw(m, thread) >> U(32) < op.share else ZERO
    vma = op.vma
    if op.spread > ONE:
        vma += draw(m, thread) % op.spread
    m.task[thread].vma = vma
    m.task[thread].writing = kind
    m.task[thread].began = now
    # Not drawn when it ends: a division takes long, and that ending has to wait for it. This one
    # does not.
    m.task[thread].thinks = (op.think >> ONE) + draw(m, thread) % (op.think + ONE)
    m.count[STARTED] += ONE
    if kind == WRITE:
        m.task[thread].marked = ZERO
        return goes_on(m, thread, W_DOWN, now)
    checks = g.sequences != ZERO or g.speculative != ZERO
    if g.vma_read_lock == ZERO and not checks:
        return goes_on(m, thread, DOWN, now)
    pc = EARLY if checks else TRY
    return goes_on(m, thread, pc, read(m, TREE, m.task[thread].cpu, now + g.walk))


@forceinline
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
    m.count[THINK_TIME] += m.task[thread].thinks
    _advance(m, thread)
    return goes_on(m, thread, START, time + m.task[thread].thinks)

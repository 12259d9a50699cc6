"""The kernel's rwsem (kernel/locking/rwsem.c of 6.12), function by function.

Readers share, a writer excludes. Who doesn't get it at once spins, if it is a writer whose owner
runs, or joins one queue for both kinds. Whoever leaves the semaphore free wakes the head of the
queue: a writer, which then has to take it; or all waiting readers, up to `MAX_READERS_WAKEUP` and
past the writers between them, which have it when they wake. A writer that waited for longer than
`RWSEM_WAIT_TIMEOUT` sets the handoff bit, which ends stealing.

        readers, writer      the count: reader bias, RWSEM_WRITER_LOCKED
        waiter_head          RWSEM_FLAG_WAITERS is set as long as there is one
        handoff              RWSEM_FLAG_HANDOFF
        owner, reader_owned, nonspinnable       the owner field
        osq_head             who spins first; those behind it spin until it is their turn

Functions take what the kernel's take and return whether the caller has the semaphore. `False` means
that it sleeps or spins: its thread has been taken out of the events, and goes on when someone lets
it. What a caller pays for wakeups comes back as the time that it goes on.

Simplifications, and what each changes:

- The wait lock costs nothing. It is held for some 50 ns a waiter, on a path that wakes or sleeps.
- A spinner notices a change one cache line transfer later; the releasing CPU's own next step, a
  grant to waiting readers, comes before that. The kernel leaves the same order to a race, which
  the releasing CPU mostly wins.
- `need_resched()` ends the spinning of the first spinner alone, not of those queued behind it.
"""

from lorelab.numerics import ONE, ZERO, U, forceinline, outline
from lorelab.vmalock.model import sched
from lorelab.vmalock.model.events import at, never
from lorelab.vmalock.model.state import COUNT, MMAP_LOCK, NEVER, NONE

MAX_READERS_WAKEUP = U(256)
ANY, READERS, READ_OWNED = U(0), U(1), U(2)
"""enum rwsem_wake_type."""
MICROSECOND = U(1000)

HANDOFF, OPT_LOCK, STEAL = COUNT["handoff"], COUNT["opt_lock"], COUNT["steal"]
SLEEP_READER, SLEEP_WRITER = COUNT["sleep_reader"], COUNT["sleep_writer"]
VMA_SLEEP = COUNT["vma_sleep"]


@forceinline
def down_read_trylock(m, sem):
    if m.sem[sem].writer != NONE or m.sem[sem].waiter_head != NONE or m.sem[sem].handoff != ZERO:
        return False
    m.sem[sem].readers += ONE
    m.sem[sem].reader_owned = ONE
    m.sem[sem].owner = NONE
    return True


@forceinline
def down_write_trylock(m, sem, thread):
    if m.sem[sem].readers != ZERO or m.sem[sem].writer != NONE:
        return False
    if m.sem[sem].waiter_head != NONE or m.sem[sem].handoff != ZERO:
        return False
    _set_owner(m, sem, thread)
    return True


@forceinline
def _set_owner(m, sem, thread):
    m.sem[sem].writer = thread
    m.sem[sem].owner = thread
    m.sem[sem].reader_owned = ZERO
    m.sem[sem].nonspinnable = ZERO


# the queue


@forceinline
def rwsem_add_waiter(m, sem, thread, writes):
    m.task[thread].waits_to_write = writes
    m.task[thread].deadline = m.globals[0].now + m.globals[0].handoff
    m.task[thread].handoff_set = ZERO
    m.task[thread].follower = NONE
    if m.sem[sem].waiter_head == NONE:
        m.sem[sem].waiter_head = thread
    else:
        m.task[m.sem[sem].waiter_tail].follower = thread
    m.sem[sem].waiter_tail = thread


@outline
def rwsem_mark_wake(m, sem, wake_type, time):
    """Wake the head of the queue, or all readers; returns `time` and what that costs."""
    head = m.sem[sem].waiter_head
    if m.task[head].waits_to_write != ZERO:
        if wake_type == ANY:
            time += m.globals[0].wake
            _wake(m, head, time)
        return time
    if wake_type != READ_OWNED and m.sem[sem].writer != NONE:
        # a writer has stolen it: a reader that has waited for too long asks for it
        if m.globals[0].now > m.task[head].deadline:
            m.sem[sem].handoff = ONE
            m.task[head].handoff_set = ONE
        return time
    m.sem[sem].reader_owned = ONE
    m.sem[sem].owner = NONE
    woken, before, waiter = ZERO, NONE, head
    m.sem[sem].waiter_head = NONE
    while waiter != NONE:
        after = m.task[waiter].follower
        if m.task[waiter].waits_to_write == ZERO and woken < MAX_READERS_WAKEUP:
            woken += ONE
            m.sem[sem].readers += ONE
            time += m.globals[0].wake
            _wake(m, waiter, time)
        else:
            if before == NONE:
                m.sem[sem].waiter_head = waiter
            else:
                m.task[before].follower = waiter
            before = waiter
        waiter = after
    if before != NONE:
        m.task[before].follower = NONE
        m.sem[sem].waiter_tail = before
    m.sem[sem].handoff = ZERO
    return time


@forceinline
def _wake(m, thread, time):
    """Wake a task that sleeps; one that runs, or is on its way, is left alone."""
    if m.task[thread].cpu == NONE and m.task[thread].since == NEVER:
        sched.ready(m, thread, time + m.globals[0].start)


@forceinline
def _sleep(m, sem, thread, counter):
    if sem == MMAP_LOCK:
        m.count[counter] += ONE
    else:
        m.count[VMA_SLEEP] += ONE
    m.task[thread].since = NEVER
    never(m, thread)
    sched.leave(m, thread)
    stop_spinning_on(m, thread)


@outline
def rwsem_try_write_lock(m, sem, thread):
    first = m.sem[sem].waiter_head
    if m.sem[sem].handoff != ZERO and m.task[first].handoff_set != ZERO and thread != first:
        return False
    if m.sem[sem].readers != ZERO or m.sem[sem].writer != NONE:
        if m.sem[sem].handoff == ZERO and m.globals[0].now > m.task[thread].deadline:
            m.sem[sem].handoff = ONE
            m.task[first].handoff_set = ONE
            m.count[HANDOFF] += ONE
        return False
    m.sem[sem].handoff = ZERO
    # rwsem_del_waiter()
    if first == thread:
        m.sem[sem].waiter_head = m.task[thread].follower
    else:
        before = first
        while m.task[before].follower != thread:
            before = m.task[before].follower
        m.task[before].follower = m.task[thread].follower
        if m.sem[sem].waiter_tail == thread:
            m.sem[sem].waiter_tail = before
    _set_owner(m, sem, thread)
    return True


# spinning


@forceinline
def _owner_on_cpu(m, thread):
    return m.task[thread].cpu != NONE


@forceinline
def rwsem_can_spin_on_owner(m, sem):
    owner = m.sem[sem].owner
    if m.sem[sem].nonspinnable != ZERO:
        return False
    return owner == NONE or _owner_on_cpu(m, owner)


@forceinline
def tell_spinner(m, sem):
    """Let who spins first have a look, when the line has come to it."""
    head = m.sem[sem].osq_head
    if head != NONE:
        at(m, head, m.globals[0].now + m.globals[0].remote)


@forceinline
def stop_spinning_on(m, thread):
    """A task went to sleep: who spins on a semaphore that it owns has to see that.

    A task that sleeps owns mmap_lock or none: of a VMA's rwsem a writer gives up before it sleeps.
    """
    if m.sem[MMAP_LOCK].owner == thread:
        tell_spinner(m, MMAP_LOCK)


@forceinline
def _spins_on(m, thread):
    """Spin until something changes, or the slice is over and another task waits: need_resched()."""
    now, over = m.globals[0].now, m.task[thread].ran + m.globals[0].slice
    if now >= over and m.globals[0].queued > ZERO:
        return False
    at(m, thread, over if now < over else now + m.globals[0].slice)
    return True


@outline
def spin(m, sem, thread):
    """One look of rwsem_optimistic_spin(): True if it has the semaphore.

    `spins_on` tells a thread that goes on spinning from one that gave up.
    """
    taken = False
    goes_on = True
    owner = m.sem[sem].owner
    if m.sem[sem].reader_owned == ZERO and owner != NONE:
        m.task[thread].threshold = ZERO
        goes_on = _owner_on_cpu(m, owner) and _spins_on(m, thread)  # rwsem_spin_on_owner()
    elif m.sem[sem].readers == ZERO and m.sem[sem].writer == NONE and m.sem[sem].handoff == ZERO:
        _set_owner(m, sem, thread)
        if sem == MMAP_LOCK:
            m.count[OPT_LOCK] += ONE
        taken = True
    elif m.sem[sem].reader_owned == ZERO:
        goes_on = _spins_on(m, thread)  # OWNER_NULL, but the handoff bit is set
    elif m.task[thread].threshold == ZERO:
        if m.sem[sem].nonspinnable != ZERO:
            goes_on = False
        else:
            # rwsem_rspin_threshold()
            readers = min(m.sem[sem].readers, U(30))
            m.task[thread].threshold = m.globals[0].now + ((U(20) + readers) * MICROSECOND >> ONE)
            at(m, thread, m.task[thread].threshold)
    elif m.globals[0].now >= m.task[thread].threshold:
        m.sem[sem].nonspinnable = ONE
        goes_on = False
    else:
        at(m, thread, m.task[thread].threshold)
    if taken or not goes_on:
        # osq_unlock()
        m.task[thread].spins_on = NONE
        m.sem[sem].osq_head = m.task[thread].follower
        if m.sem[sem].osq_head == NONE:
            m.sem[sem].osq_tail = NONE
        else:
            m.task[m.sem[sem].osq_head].threshold = ZERO
            tell_spinner(m, sem)
    return taken


@outline
def rwsem_optimistic_spin(m, sem, thread):
    m.task[thread].follower = NONE
    m.task[thread].spins_on = sem
    m.task[thread].threshold = ZERO
    if m.sem[sem].osq_head == NONE:
        m.sem[sem].osq_head = thread
        m.sem[sem].osq_tail = thread
        return spin(m, sem, thread)
    m.task[m.sem[sem].osq_tail].follower = thread
    m.sem[sem].osq_tail = thread
    never(m, thread)
    return False


# down and up


@outline
def rwsem_cond_wake_waiter(m, sem, time):
    if m.sem[sem].writer != NONE:
        return time
    if m.sem[sem].readers != ZERO:
        return rwsem_mark_wake(m, sem, READERS, time)
    m.sem[sem].nonspinnable = ZERO
    return rwsem_mark_wake(m, sem, ANY, time)


@outline
def rwsem_down_read_slowpath(m, sem, thread):
    """Called with the reader's bias in the count."""
    now = m.globals[0].now
    queues = (
        m.sem[sem].reader_owned != ZERO and m.sem[sem].readers > ONE and m.sem[sem].writer == NONE
    )
    if not queues and m.sem[sem].writer == NONE and m.sem[sem].handoff == ZERO:
        # reader optimistic lock stealing
        m.sem[sem].reader_owned = ONE
        m.sem[sem].owner = NONE
        m.count[STEAL] += ONE
        if m.sem[sem].readers == ONE and m.sem[sem].waiter_head != NONE:
            rwsem_mark_wake(m, sem, READ_OWNED, now)
        tell_spinner(m, sem)
        return True
    if m.sem[sem].waiter_head == NONE and m.sem[sem].writer == NONE:
        m.sem[sem].reader_owned = ONE
        m.sem[sem].owner = NONE
        return True
    m.sem[sem].readers -= ONE
    rwsem_add_waiter(m, sem, thread, ZERO)
    m.task[thread].since = ZERO
    before = m.sem[sem].readers
    rwsem_cond_wake_waiter(m, sem, now)
    if m.sem[sem].readers > before and not _queued(m, sem, thread):
        return True
    _sleep(m, sem, thread, SLEEP_READER)
    return False


@forceinline
def _queued(m, sem, thread):
    waiter = m.sem[sem].waiter_head
    while waiter != NONE and waiter != thread:
        waiter = m.task[waiter].follower
    return waiter == thread


@forceinline
def down_read(m, sem, thread):
    if down_read_trylock(m, sem):
        return True
    m.sem[sem].readers += ONE
    return rwsem_down_read_slowpath(m, sem, thread)


@outline
def queue_to_write(m, sem, thread):
    """Second half of rwsem_down_write_slowpath(): no spinning, or no longer."""
    first = m.sem[sem].waiter_head == NONE
    m.task[thread].since = ZERO
    rwsem_add_waiter(m, sem, thread, ONE)
    if not first:
        rwsem_cond_wake_waiter(m, sem, m.globals[0].now)
    if rwsem_try_write_lock(m, sem, thread):
        return True
    _sleep(m, sem, thread, SLEEP_WRITER)
    return False


@outline
def rwsem_down_write_slowpath(m, sem, thread):
    taken = False
    if rwsem_can_spin_on_owner(m, sem):
        taken = rwsem_optimistic_spin(m, sem, thread)
        if not taken and m.task[thread].spins_on != NONE:
            return False
    return taken or queue_to_write(m, sem, thread)


@outline
def goes_on_to_write(m, sem, thread):
    """A writer that spun or slept looks again: True once it has the semaphore."""
    if m.task[thread].spins_on != NONE:
        taken = spin(m, sem, thread)
        if not taken and m.task[thread].spins_on != NONE:
            return False
        if not taken:
            taken = queue_to_write(m, sem, thread)
    else:
        taken = rwsem_try_write_lock(m, sem, thread)
        if not taken:
            _sleep(m, sem, thread, SLEEP_WRITER)
    return taken


@forceinline
def down_write(m, sem, thread):
    if down_write_trylock(m, sem, thread):
        return True
    return rwsem_down_write_slowpath(m, sem, thread)


@forceinline
def up_read(m, sem, time):
    """Leave as a reader; returns when the caller goes on [ns]."""
    m.sem[sem].readers -= ONE
    if m.sem[sem].readers == ZERO:
        m.sem[sem].nonspinnable = ZERO
        if m.sem[sem].waiter_head != NONE:
            time = rwsem_mark_wake(m, sem, ANY, time)
        tell_spinner(m, sem)
    return time


@forceinline
def up_write(m, sem, time):
    """Leave as the writer; returns when the caller goes on [ns]."""
    m.sem[sem].writer = NONE
    m.sem[sem].owner = NONE
    if m.sem[sem].waiter_head != NONE:
        time = rwsem_mark_wake(m, sem, ANY, time)
    tell_spinner(m, sem)
    return time


@outline
def downgrade_write(m, sem, time):
    """Go on as a reader; returns when the caller goes on [ns]."""
    m.sem[sem].writer = NONE
    m.sem[sem].owner = NONE
    m.sem[sem].readers += ONE
    m.sem[sem].reader_owned = ONE
    if m.sem[sem].waiter_head != NONE:
        time = rwsem_mark_wake(m, sem, READ_OWNED, time)
    tell_spinner(m, sem)
    return time

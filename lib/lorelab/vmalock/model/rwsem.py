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

from lorelab.numbers import ONE, ZERO, U, forceinline, outline
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
    if m.writer[sem] != NONE or m.waiter_head[sem] != NONE or m.handoff[sem] != ZERO:
        return False
    m.readers[sem] += ONE
    m.reader_owned[sem] = ONE
    m.owner[sem] = NONE
    return True


@forceinline
def down_write_trylock(m, sem, thread):
    if m.readers[sem] != ZERO or m.writer[sem] != NONE:
        return False
    if m.waiter_head[sem] != NONE or m.handoff[sem] != ZERO:
        return False
    _set_owner(m, sem, thread)
    return True


@forceinline
def _set_owner(m, sem, thread):
    m.writer[sem] = thread
    m.owner[sem] = thread
    m.reader_owned[sem] = ZERO
    m.nonspinnable[sem] = ZERO


# the queue


@forceinline
def rwsem_add_waiter(m, sem, thread, writes):
    m.waits_to_write[thread] = writes
    m.deadline[thread] = m.one[0].now + m.one[0].handoff
    m.handoff_set[thread] = ZERO
    m.follower[thread] = NONE
    if m.waiter_head[sem] == NONE:
        m.waiter_head[sem] = thread
    else:
        m.follower[m.waiter_tail[sem]] = thread
    m.waiter_tail[sem] = thread


@outline
def rwsem_mark_wake(m, sem, wake_type, time):
    """Wake the head of the queue, or all readers; returns `time` and what that costs."""
    head = m.waiter_head[sem]
    if m.waits_to_write[head] != ZERO:
        if wake_type == ANY:
            time += m.one[0].wake
            _wake(m, head, time)
        return time
    if wake_type != READ_OWNED and m.writer[sem] != NONE:
        # a writer has stolen it: a reader that has waited for too long asks for it
        if m.one[0].now > m.deadline[head]:
            m.handoff[sem] = ONE
            m.handoff_set[head] = ONE
        return time
    m.reader_owned[sem] = ONE
    m.owner[sem] = NONE
    woken, before, waiter = ZERO, NONE, head
    m.waiter_head[sem] = NONE
    while waiter != NONE:
        after = m.follower[waiter]
        if m.waits_to_write[waiter] == ZERO and woken < MAX_READERS_WAKEUP:
            woken += ONE
            m.readers[sem] += ONE
            time += m.one[0].wake
            _wake(m, waiter, time)
        else:
            if before == NONE:
                m.waiter_head[sem] = waiter
            else:
                m.follower[before] = waiter
            before = waiter
        waiter = after
    if before != NONE:
        m.follower[before] = NONE
        m.waiter_tail[sem] = before
    m.handoff[sem] = ZERO
    return time


@forceinline
def _wake(m, thread, time):
    """Wake a task that sleeps; one that runs, or is on its way, is left alone."""
    if m.cpu[thread] == NONE and m.since[thread] == NEVER:
        sched.ready(m, thread, time + m.one[0].start)


@forceinline
def _sleep(m, sem, thread, counter):
    if sem == MMAP_LOCK:
        m.count[counter] += ONE
    else:
        m.count[VMA_SLEEP] += ONE
    m.since[thread] = NEVER
    never(m, thread)
    sched.leave(m, thread)
    stop_spinning_on(m, thread)


@outline
def rwsem_try_write_lock(m, sem, thread):
    first = m.waiter_head[sem]
    if m.handoff[sem] != ZERO and m.handoff_set[first] != ZERO and thread != first:
        return False
    if m.readers[sem] != ZERO or m.writer[sem] != NONE:
        if m.handoff[sem] == ZERO and m.one[0].now > m.deadline[thread]:
            m.handoff[sem] = ONE
            m.handoff_set[first] = ONE
            m.count[HANDOFF] += ONE
        return False
    m.handoff[sem] = ZERO
    # rwsem_del_waiter()
    if first == thread:
        m.waiter_head[sem] = m.follower[thread]
    else:
        before = first
        while m.follower[before] != thread:
            before = m.follower[before]
        m.follower[before] = m.follower[thread]
        if m.waiter_tail[sem] == thread:
            m.waiter_tail[sem] = before
    _set_owner(m, sem, thread)
    return True


# spinning


@forceinline
def _owner_on_cpu(m, thread):
    return m.cpu[thread] != NONE


@forceinline
def rwsem_can_spin_on_owner(m, sem):
    owner = m.owner[sem]
    if m.nonspinnable[sem] != ZERO:
        return False
    return owner == NONE or _owner_on_cpu(m, owner)


@forceinline
def tell_spinner(m, sem):
    """Let who spins first have a look, when the line has come to it."""
    head = m.osq_head[sem]
    if head != NONE:
        at(m, head, m.one[0].now + m.one[0].remote)


@forceinline
def stop_spinning_on(m, thread):
    """A task went to sleep: who spins on a semaphore that it owns has to see that.

    A task that sleeps owns mmap_lock or none: of a VMA's rwsem a writer gives up before it sleeps.
    """
    if m.owner[MMAP_LOCK] == thread:
        tell_spinner(m, MMAP_LOCK)


@forceinline
def _spins_on(m, thread):
    """Spin until something changes, or the slice is over and another task waits: need_resched()."""
    now, over = m.one[0].now, m.ran[thread] + m.one[0].slice
    if now >= over and m.one[0].queued > ZERO:
        return False
    at(m, thread, over if now < over else now + m.one[0].slice)
    return True


@outline
def spin(m, sem, thread):
    """One look of rwsem_optimistic_spin(): True if it has the semaphore.

    `spins_on` tells a thread that goes on spinning from one that gave up.
    """
    taken = False
    goes_on = True
    owner = m.owner[sem]
    if m.reader_owned[sem] == ZERO and owner != NONE:
        m.threshold[thread] = ZERO
        goes_on = _owner_on_cpu(m, owner) and _spins_on(m, thread)  # rwsem_spin_on_owner()
    elif m.readers[sem] == ZERO and m.writer[sem] == NONE and m.handoff[sem] == ZERO:
        _set_owner(m, sem, thread)
        if sem == MMAP_LOCK:
            m.count[OPT_LOCK] += ONE
        taken = True
    elif m.reader_owned[sem] == ZERO:
        goes_on = _spins_on(m, thread)  # OWNER_NULL, but the handoff bit is set
    elif m.threshold[thread] == ZERO:
        if m.nonspinnable[sem] != ZERO:
            goes_on = False
        else:
            # rwsem_rspin_threshold()
            readers = min(m.readers[sem], U(30))
            m.threshold[thread] = m.one[0].now + ((U(20) + readers) * MICROSECOND >> ONE)
            at(m, thread, m.threshold[thread])
    elif m.one[0].now >= m.threshold[thread]:
        m.nonspinnable[sem] = ONE
        goes_on = False
    else:
        at(m, thread, m.threshold[thread])
    if taken or not goes_on:
        # osq_unlock()
        m.spins_on[thread] = NONE
        m.osq_head[sem] = m.follower[thread]
        if m.osq_head[sem] == NONE:
            m.osq_tail[sem] = NONE
        else:
            m.threshold[m.osq_head[sem]] = ZERO
            tell_spinner(m, sem)
    return taken


@outline
def rwsem_optimistic_spin(m, sem, thread):
    m.follower[thread] = NONE
    m.spins_on[thread] = sem
    m.threshold[thread] = ZERO
    if m.osq_head[sem] == NONE:
        m.osq_head[sem] = thread
        m.osq_tail[sem] = thread
        return spin(m, sem, thread)
    m.follower[m.osq_tail[sem]] = thread
    m.osq_tail[sem] = thread
    never(m, thread)
    return False


# down and up


@outline
def rwsem_cond_wake_waiter(m, sem, time):
    if m.writer[sem] != NONE:
        return time
    if m.readers[sem] != ZERO:
        return rwsem_mark_wake(m, sem, READERS, time)
    m.nonspinnable[sem] = ZERO
    return rwsem_mark_wake(m, sem, ANY, time)


@outline
def rwsem_down_read_slowpath(m, sem, thread):
    """Called with the reader's bias in the count."""
    now = m.one[0].now
    queues = m.reader_owned[sem] != ZERO and m.readers[sem] > ONE and m.writer[sem] == NONE
    if not queues and m.writer[sem] == NONE and m.handoff[sem] == ZERO:
        # reader optimistic lock stealing
        m.reader_owned[sem] = ONE
        m.owner[sem] = NONE
        m.count[STEAL] += ONE
        if m.readers[sem] == ONE and m.waiter_head[sem] != NONE:
            rwsem_mark_wake(m, sem, READ_OWNED, now)
        tell_spinner(m, sem)
        return True
    if m.waiter_head[sem] == NONE and m.writer[sem] == NONE:
        m.reader_owned[sem] = ONE
        m.owner[sem] = NONE
        return True
    m.readers[sem] -= ONE
    rwsem_add_waiter(m, sem, thread, ZERO)
    m.since[thread] = ZERO
    before = m.readers[sem]
    rwsem_cond_wake_waiter(m, sem, now)
    if m.readers[sem] > before and not _queued(m, sem, thread):
        return True
    _sleep(m, sem, thread, SLEEP_READER)
    return False


@forceinline
def _queued(m, sem, thread):
    waiter = m.waiter_head[sem]
    while waiter != NONE and waiter != thread:
        waiter = m.follower[waiter]
    return waiter == thread


@forceinline
def down_read(m, sem, thread):
    if down_read_trylock(m, sem):
        return True
    m.readers[sem] += ONE
    return rwsem_down_read_slowpath(m, sem, thread)


@outline
def queue_to_write(m, sem, thread):
    """Second half of rwsem_down_write_slowpath(): no spinning, or no longer."""
    first = m.waiter_head[sem] == NONE
    m.since[thread] = ZERO
    rwsem_add_waiter(m, sem, thread, ONE)
    if not first:
        rwsem_cond_wake_waiter(m, sem, m.one[0].now)
    if rwsem_try_write_lock(m, sem, thread):
        return True
    _sleep(m, sem, thread, SLEEP_WRITER)
    return False


@outline
def rwsem_down_write_slowpath(m, sem, thread):
    taken = False
    if rwsem_can_spin_on_owner(m, sem):
        taken = rwsem_optimistic_spin(m, sem, thread)
        if not taken and m.spins_on[thread] != NONE:
            return False
    return taken or queue_to_write(m, sem, thread)


@outline
def goes_on_to_write(m, sem, thread):
    """A writer that spun or slept looks again: True once it has the semaphore."""
    if m.spins_on[thread] != NONE:
        taken = spin(m, sem, thread)
        if not taken and m.spins_on[thread] != NONE:
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
    m.readers[sem] -= ONE
    if m.readers[sem] == ZERO:
        m.nonspinnable[sem] = ZERO
        if m.waiter_head[sem] != NONE:
            time = rwsem_mark_wake(m, sem, ANY, time)
        tell_spinner(m, sem)
    return time


@forceinline
def up_write(m, sem, time):
    """Leave as the writer; returns when the caller goes on [ns]."""
    m.writer[sem] = NONE
    m.owner[sem] = NONE
    if m.waiter_head[sem] != NONE:
        time = rwsem_mark_wake(m, sem, ANY, time)
    tell_spinner(m, sem)
    return time


@outline
def downgrade_write(m, sem, time):
    """Go on as a reader; returns when the caller goes on [ns]."""
    m.writer[sem] = NONE
    m.owner[sem] = NONE
    m.readers[sem] += ONE
    m.reader_owned[sem] = ONE
    if m.waiter_head[sem] != NONE:
        time = rwsem_mark_wake(m, sem, READ_OWNED, time)
    tell_spinner(m, sem)
    return time

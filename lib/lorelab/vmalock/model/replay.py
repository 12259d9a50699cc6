"""The path that 6.12 takes, step by step, through the order of events that a run had.

A recorded run says in which order its threads took steps, and which VMA each was about. From that
alone the model knows the sequence numbers, the marks, and who holds which VMA, and says what each
step comes to: whether a reader is let in or refused, and why; whether a writer marks a VMA, has
marked it before, or waits; which way each fault and each receive then goes, and how it ends; that
readers of mmap_lock and its writer keep each other out, and that who marks is its writer. The
kernel's own answer is held against it, step by step.

What it does not say:

- In which order steps come, whose they are and which VMA they are about; whether a fault finds a
  VMA (`no_vma`), finds it detached or elsewhere (`detached`, `range`), and whether a trylock of
  mmap_lock fails (`mmap_try`). Such steps are taken from the kernel, and of
  them nothing is compared but the mm's sequence.
- A fault that has to wait for a page of a file drops its VMA's lock where nothing is logged, and
  says only that it starts again. A writer that waits for readers joins the queue of the VMA's rwsem
  a moment after it said so; until then a reader may still come in, and the first one that does not
  tells that the writer has. Where either answer is right, the kernel's is taken, and the step is
  counted as open.
- mmap_lock counts its sequence up just before or after the step that says so, outside of the log's
  lock. And a reader's step reads it twice: `vma_start_read()` for its check, and then the log for
  its entry. Where it is counted up between these two, the check has found the VMA marked and the
  entry has the next number. So the first step that shows a writer's end to another thread may have
  found the VMAs of that writer marked, or not. Nothing orders the two: such a step is counted as
  unordered, at most one for each end of a writer.
"""

import numpy as np

from lorelab.numerics import ONE, TWO, ZERO, U, njit

NAMES = (
    *("no_vma", "early", "trylock", "late", "detached", "range", "locked", "unlocked"),
    *("marked", "marked_again", "wait", "waited", "done", "retry", "mmap", "mmap_read"),
    *("mmap_write", "mmap_read_end", "mmap_write_end", "downgrade", "mmap_try"),
)
"""enum vmalock_event of the kernel's patch, in its order."""
(
    NO_VMA,
    EARLY,
    TRYLOCK,
    LATE,
    DETACHED,
    RANGE,
    LOCKED,
    UNLOCKED,
    MARKED,
    MARKED_AGAIN,
    WAIT,
    WAITED,
    DONE,
    RETRY,
    MMAP,
    MMAP_READ,
    MMAP_WRITE,
    MMAP_READ_END,
    MMAP_WRITE_END,
    DOWNGRADE,
    MMAP_TRY,
) = (U(n) for n in range(len(NAMES)))

SEQUENCE = U(0xFFFFFFFF)
SAME, OPEN, UNORDERED, FROM_KERNEL, OTHER = (U(n) for n in range(5))
"""What came of a step: as the model says; one of two answers that are right, because of a queue or
because the log does not order it; taken from the kernel; or another one than the model's."""

STEP = np.dtype([(name, "u8") for name in ("event", "task", "vma", "vm_lock_seq", "mm_lock_seq")])
"""A step of the log. Tasks and VMAs are numbered from 0; VMA 0 stands for none. The sequence
numbers are those that the kernel wrote down as it took the step."""
VMA = np.dtype(
    [
        ("seen", "u8"),  # whether a step was about it
        ("vm_lock_seq", "u8"),
        ("readers", "u8"),  # who hold its lock
        ("writer", "u8"),  # 1 if one waits for the readers, 2 once it is in the rwsem's queue
    ]
)
TASK = np.dtype(
    [
        ("place", "u8"),  # where it is in its fault or receive
        ("vma", "u8"),  # that it locked
        ("mmap_lock", "u8"),  # what it has of it
    ]
)

# `place` of a task
OUTSIDE, REFUSED, INSIDE, LEFT, FAILED_TRY, WANTS = (U(n) for n in range(6))
RECEIVES, TURNED_AWAY, ELSEWHERE, GONE = (U(n) for n in range(6, 10))
NOBODY = U(0xFFFFFFFFFFFFFFFF)
# `mmap_lock` of a task
NOTHING, SHARED, ALONE = (U(n) for n in range(3))


@njit
def due(place):
    """What a thread does next, of all that is logged, from some places; 0 where that is open."""
    if place == REFUSED:
        return MMAP
    if place == LEFT:
        return DONE
    # lock_mm_and_find_vma(), which may try first or have to grow a stack; find_tcp_vma()
    return MMAP_READ if place in (WANTS, TURNED_AWAY) else NO_VMA


@njit
def follow(log, received, model, outcome, vmas, tasks):
    """Go through a log.

    Parameters
    ----------
    log : ndarray of `STEP`
    received : uint64
        The VMA that TCP is received in, where no page faults; 0 for none.
    model, outcome : ndarray of uint64, as long as the log
        Filled in: the event that the model has there, and `SAME`, `OPEN`, `UNORDERED`,
        `FROM_KERNEL` or `OTHER`.
    vmas, tasks : ndarray of `VMA` and of `TASK`, zeroed
        State of each.

    Returns
    -------
    int
        Steps that read the mm's sequence in the moment between a writer's word and its counting.
    """
    mm_lock_seq = log[0].mm_lock_seq
    ended = False
    ender = NOBODY
    between = 0
    readers = writers = ZERO
    for n in range(len(log)):
        step = log[n]
        event, vma, task = step.event, vmas[step.vma], tasks[step.task]
        place = task.place
        ends = event in (MMAP_WRITE_END, DOWNGRADE)
        legal = True
        before = mm_lock_seq
        # the mm's sequence, as the writers' steps have it
        if ended:
            if step.mm_lock_seq == mm_lock_seq:
                between += 1
            else:
                mm_lock_seq = (mm_lock_seq + ONE) & SEQUENCE
                ended = False
        if not ended and step.mm_lock_seq != mm_lock_seq:
            begins = step.mm_lock_seq == (mm_lock_seq + ONE) & SEQUENCE
            legal = mm_lock_seq & ONE == ZERO and begins
            if event != MMAP_WRITE:
                between += 1
            mm_lock_seq = step.mm_lock_seq
        # the check of a reader's step may have read what the mm's sequence was before
        unordered = mm_lock_seq != before and vma.vm_lock_seq == before and step.task != ender
        if ends:
            ended, ender = True, step.task
        if step.vma != ZERO and vma.seen == ZERO:
            # its first step: what happened to it before the log began is taken from there
            vma.seen, vma.vm_lock_seq = ONE, step.vm_lock_seq
            if event in (MARKED, WAITED):
                vma.vm_lock_seq = mm_lock_seq + ONE  # it was anything but what it is marked with
        answer, is_open = event, False
        expected = due(place)
        from_kernel = (
            event in (NO_VMA, RANGE, DETACHED, MMAP_TRY, MMAP_READ_END) and expected == NO_VMA
        )
        either = False
        if event in (EARLY, TRYLOCK, LATE, LOCKED):
            either = unordered
            if vma.vm_lock_seq == mm_lock_seq or (unordered and event == EARLY):
                answer = EARLY
            elif vma.writer != ZERO:
                answer, is_open = TRYLOCK, vma.writer == ONE
                if event == TRYLOCK:
                    vma.writer = TWO
            else:
                answer = LOCKED
            if is_open and (event in (LOCKED, TRYLOCK)):
                answer = event
            if event == LOCKED:
                vma.readers += ONE
                task.place = RECEIVES if step.vma == received else INSIDE
                task.vma = step.vma
            else:
                task.place = TURNED_AWAY if step.vma == received else REFUSED
        elif event == NO_VMA:
            task.place = REFUSED
        elif event == RANGE:
            task.place = ELSEWHERE  # unlocks it and is refused
        elif event == DETACHED:
            task.place = GONE  # unlocks it and begins anew
        elif event == UNLOCKED:
            inside = place in (INSIDE, FAILED_TRY, RECEIVES, ELSEWHERE, GONE)
            legal &= inside and task.vma == step.vma
            if vma.readers != ZERO:
                vma.readers -= ONE
            if place == INSIDE:
                task.place = LEFT
            elif place in (RECEIVES, GONE):
                task.place = OUTSIDE
            elif place == ELSEWHERE:
                task.place = TURNED_AWAY if step.vma == received else REFUSED
        elif event == MMAP_TRY:
            if place == INSIDE:
                task.place = FAILED_TRY
        elif event in (MARKED, MARKED_AGAIN, WAIT):
            legal &= task.mmap_lock == ALONE
            if vma.vm_lock_seq == mm_lock_seq:
                answer = MARKED_AGAIN
            elif vma.readers != ZERO:
                answer = WAIT
            else:
                answer = MARKED
            if event == WAIT:
                vma.writer = ONE
            elif event == MARKED:
                vma.vm_lock_seq = mm_lock_seq
        elif event == WAITED:
            # the last reader has left
            answer = WAITED if vma.readers == ZERO else WAIT
            vma.vm_lock_seq, vma.writer = mm_lock_seq, ZERO
        elif event in (DONE, RETRY, MMAP):
            if place in (LEFT, INSIDE):
                answer = DONE
            # with path=mmap a fault goes there at once, which the log does not say
            from_kernel = event == MMAP and place == OUTSIDE
            task.place = WANTS if event == MMAP else OUTSIDE
            if event == RETRY:
                answer = RETRY if place in (FAILED_TRY, INSIDE) else DONE
                task.place = REFUSED
                if place == INSIDE:
                    # the handler has dropped the lock, to wait for a page of a file
                    vmas[task.vma].readers -= ONE
                    is_open = True
        elif event == MMAP_READ:
            legal &= writers == ZERO
            readers, task.mmap_lock = readers + ONE, SHARED
        elif event == MMAP_READ_END:
            # of one that had it before the log began nothing is known
            if task.mmap_lock == SHARED:
                readers, task.mmap_lock = readers - ONE, NOTHING
        elif event == MMAP_WRITE:
            legal &= readers == ZERO and writers == ZERO
            writers, task.mmap_lock = ONE, ALONE
            # a writer's sequence is odd, and one more than the last one's
            answer = MMAP_WRITE if mm_lock_seq & ONE == ONE else MMAP_WRITE_END
        elif ends:
            if task.mmap_lock == ALONE:
                writers, task.mmap_lock = ZERO, NOTHING
            if event == DOWNGRADE:
                readers, task.mmap_lock = readers + ONE, SHARED
            if mm_lock_seq & ONE == ZERO:
                answer = MMAP_WRITE
        if place in (WANTS, TURNED_AWAY) and event in (MMAP_READ, MMAP_WRITE):
            task.place = OUTSIDE
        tries = place == WANTS and event in (MMAP_TRY, MMAP_WRITE)
        if expected != NO_VMA and event != expected and not tries:
            answer = expected
        model[n] = answer
        if answer != event or not legal:
            outcome[n] = OTHER
        elif either:
            outcome[n] = UNORDERED
        elif is_open:
            outcome[n] = OPEN
        else:
            outcome[n] = FROM_KERNEL if from_kernel else SAME
    return between

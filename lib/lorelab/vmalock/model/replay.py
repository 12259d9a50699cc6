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
  mmap_lock fails (`mmap_try`). Such steps are given, and nothing of them is compared but the mm's
  sequence.
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
SAME, OPEN, UNORDERED, GIVEN, OTHER = (U(n) for n in range(5))
"""What came of a step: as the model says; one of two answers that are right, because of a queue or
because the log does not order it; taken from the kernel; or another one than the model's."""

# where a thread is in its fault or receive
OUTSIDE, REFUSED, INSIDE, LEFT, FAILED_TRY, WANTS = (U(n) for n in range(6))
RECEIVES, TURNED_AWAY, ELSEWHERE, GONE = (U(n) for n in range(6, 10))
NOBODY = U(0xFFFFFFFFFFFFFFFF)
# what it has of mmap_lock
NOTHING, SHARED, ALONE = (U(n) for n in range(3))


@njit
def due(at):
    """What a thread does next, of all that is logged, from some places; 0 where that is open."""
    if at == REFUSED:
        return MMAP
    if at == LEFT:
        return DONE
    # lock_mm_and_find_vma(), which may try first or have to grow a stack; find_tcp_vma()
    return MMAP_READ if at in (WANTS, TURNED_AWAY) else NO_VMA


@njit
def follow(event, task, vma, vm_lock_seq, mm_lock_seq, received, said, judged, vmas, tasks):
    """Go through a log.

    Parameters
    ----------
    event, task, vma, vm_lock_seq, mm_lock_seq : ndarray of uint64
        The log, one entry a step. Tasks and VMAs are numbered from 0; VMA 0 stands for none. The
        sequence numbers are those that the kernel wrote down as it took the step.
    received : uint64
        The VMA that TCP is received in, where no page faults; 0 for none.
    said, judged : ndarray of uint64
        Filled in: the event that the model has there, and `SAME`, `OPEN`, `UNORDERED`, `GIVEN` or
        `OTHER`.
    vmas, tasks : ndarray of shape (number, 4) and (number, 3), uint64, zeroed
        State: of a VMA whether it was seen, its sequence, its readers, and whether a writer waits
        for them (1, or 2 once it is in the queue); of a task where it is in its fault, the VMA that
        it locked, and what it has of mmap_lock.

    Returns
    -------
    int
        Steps that read the mm's sequence in the moment between a writer's word and its counting.
    """
    seq = mm_lock_seq[0]
    ended = False
    ender = NOBODY
    between = 0
    readers = writers = ZERO
    for n in range(len(event)):
        what, who, which, read = event[n], task[n], vma[n], mm_lock_seq[n]
        here, at = vmas[which], tasks[who, 0]
        ends = what in (MMAP_WRITE_END, DOWNGRADE)
        legal = True
        before = seq
        # the mm's sequence, as the writers' steps have it
        if ended:
            if read == seq:
                between += 1
            else:
                seq = (seq + ONE) & SEQUENCE
                ended = False
        if not ended and read != seq:
            legal = seq & ONE == ZERO and read == (seq + ONE) & SEQUENCE
            if what != MMAP_WRITE:
                between += 1
            seq = read
        # the check of a reader's step may have read what the mm's sequence was before
        unordered = seq != before and here[1] == before and who != ender
        if ends:
            ended, ender = True, who
        if which != ZERO and here[0] == ZERO:
            # its first step: what happened to it before the log began is taken from there
            here[0], here[1] = ONE, vm_lock_seq[n]
            if what in (MARKED, WAITED):
                here[1] = seq + ONE  # it was anything but what it is marked with
        answer, is_open = what, False
        owed = due(at)
        given = owed == NO_VMA and what in (NO_VMA, RANGE, DETACHED, MMAP_TRY, MMAP_READ_END)
        either = False
        if what in (EARLY, TRYLOCK, LATE, LOCKED):
            either = unordered
            if here[1] == seq or (unordered and what == EARLY):
                answer = EARLY
            elif here[3] != ZERO:
                answer, is_open = TRYLOCK, here[3] == ONE
                if what == TRYLOCK:
                    here[3] = TWO
            else:
                answer = LOCKED
            if is_open and (what in (LOCKED, TRYLOCK)):
                answer = what
            if what == LOCKED:
                here[2] += ONE
                tasks[who, 0] = RECEIVES if which == received else INSIDE
                tasks[who, 1] = which
            else:
                tasks[who, 0] = TURNED_AWAY if which == received else REFUSED
        elif what == NO_VMA:
            tasks[who, 0] = REFUSED
        elif what == RANGE:
            tasks[who, 0] = ELSEWHERE  # unlocks it and is refused
        elif what == DETACHED:
            tasks[who, 0] = GONE  # unlocks it and begins anew
        elif what == UNLOCKED:
            inside = at in (INSIDE, FAILED_TRY, RECEIVES, ELSEWHERE, GONE)
            legal &= inside and tasks[who, 1] == which
            if here[2] != ZERO:
                here[2] -= ONE
            if at == INSIDE:
                tasks[who, 0] = LEFT
            elif at in (RECEIVES, GONE):
                tasks[who, 0] = OUTSIDE
            elif at == ELSEWHERE:
                tasks[who, 0] = TURNED_AWAY if which == received else REFUSED
        elif what == MMAP_TRY:
            if at == INSIDE:
                tasks[who, 0] = FAILED_TRY
        elif what in (MARKED, MARKED_AGAIN, WAIT):
            legal &= tasks[who, 2] == ALONE
            if here[1] == seq:
                answer = MARKED_AGAIN
            elif here[2] != ZERO:
                answer = WAIT
            else:
                answer = MARKED
            if what == WAIT:
                here[3] = ONE
            elif what == MARKED:
                here[1] = seq
        elif what == WAITED:
            # the last reader has left
            answer = WAITED if here[2] == ZERO else WAIT
            here[1], here[3] = seq, ZERO
        elif what in (DONE, RETRY, MMAP):
            if at in (LEFT, INSIDE):
                answer = DONE
            # with path=mmap a fault goes there at once, which the log does not say
            given = what == MMAP and at == OUTSIDE
            tasks[who, 0] = WANTS if what == MMAP else OUTSIDE
            if what == RETRY:
                answer = RETRY if at in (FAILED_TRY, INSIDE) else DONE
                tasks[who, 0] = REFUSED
                if at == INSIDE:
                    # the handler has dropped the lock, to wait for a page of a file
                    vmas[tasks[who, 1], 2] -= ONE
                    is_open = True
        elif what == MMAP_READ:
            legal &= writers == ZERO
            readers, tasks[who, 2] = readers + ONE, SHARED
        elif what == MMAP_READ_END:
            # of one that had it before the log began nothing is known
            if tasks[who, 2] == SHARED:
                readers, tasks[who, 2] = readers - ONE, NOTHING
        elif what == MMAP_WRITE:
            legal &= readers == ZERO and writers == ZERO
            writers, tasks[who, 2] = ONE, ALONE
            # a writer's sequence is odd, and one more than the last one's
            answer = MMAP_WRITE if seq & ONE == ONE else MMAP_WRITE_END
        elif ends:
            if tasks[who, 2] == ALONE:
                writers, tasks[who, 2] = ZERO, NOTHING
            if what == DOWNGRADE:
                readers, tasks[who, 2] = readers + ONE, SHARED
            if seq & ONE == ZERO:
                answer = MMAP_WRITE
        if at in (WANTS, TURNED_AWAY) and what in (MMAP_READ, MMAP_WRITE):
            tasks[who, 0] = OUTSIDE
        if owed != NO_VMA and what != owed and not (at == WANTS and what in (MMAP_TRY, MMAP_WRITE)):
            answer = owed
        said[n] = answer
        if answer != what or not legal:
            judged[n] = OTHER
        elif either:
            judged[n] = UNORDERED
        elif is_open:
            judged[n] = OPEN
        else:
            judged[n] = GIVEN if given else SAME
    return between

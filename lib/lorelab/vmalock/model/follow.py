"""The path that 6.12 takes, step by step, through the order of events that a run had.

A recorded run says in which order its threads took steps, and which VMA each was about. From that
alone the model knows the sequence numbers, the marks, and who holds which VMA, and says what each
step comes to: whether a reader is let in or refused, and why; whether a writer marks a VMA, has
marked it before, or waits; which way each fault then ends. The kernel's own answer is held against
it, step by step.

Three things it does not say. A fault that has to wait for a page of a file drops its VMA's lock
where nothing is logged, and says only that it starts again. A writer that waits for readers joins
the queue of the VMA's rwsem a moment after it said so; until then a reader may still come in. And
mmap_lock counts its sequence up just before or after the step that says so, so that a reader in
between reads the other number. Where either answer is right, the kernel's is taken, and the step is
counted as open.
"""

from lorelab.numbers import ONE, ZERO, U, njit

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
SAME, OPEN, OTHER = U(0), U(1), U(2)
"""What came of a step: as the model says, one of two answers that are right, or another one."""

# where a thread is in its fault
OUTSIDE, REFUSED, INSIDE, LEFT, FAILED_TRY = (U(n) for n in range(5))


@njit
def follow(event, task, vma, vm_lock_seq, mm_lock_seq, said, judged, vmas, tasks):
    """Go through a log.

    Parameters
    ----------
    event, task, vma, vm_lock_seq, mm_lock_seq : ndarray of uint64
        The log, one entry a step. Tasks and VMAs are numbered from 0; VMA 0 stands for none. The
        sequence numbers are those that the kernel wrote down as it took the step.
    said, judged : ndarray of uint64
        Filled in: the event that the model has there, and `SAME`, `OPEN` or `OTHER`.
    vmas, tasks : ndarray of shape (number, 4) and (number, 2), uint64, zeroed
        State: of a VMA whether it was seen, its sequence, its readers, and whether a writer waits
        for them; of a task where it is in its fault, and the VMA that it locked.

    Returns
    -------
    int
        Steps that read the mm's sequence in the moment between a writer's word and its counting.
    """
    seq = mm_lock_seq[0]
    ended = False
    between = 0
    for n in range(len(event)):
        what, who, which, read = event[n], task[n], vma[n], mm_lock_seq[n]
        here = vmas[which]
        ends = what in (MMAP_WRITE_END, DOWNGRADE)
        legal = True
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
        if ends:
            ended = True
        if which != ZERO and here[0] == ZERO:
            # its first step: what happened to it before the log began is taken from there
            here[0], here[1] = ONE, vm_lock_seq[n]
            if what in (MARKED, WAITED):
                here[1] = seq + ONE  # it was anything but what it is marked with
        answer, is_open = what, False
        if what in (EARLY, TRYLOCK, LATE, LOCKED):
            if here[1] == seq:
                answer = EARLY
            elif here[3] != ZERO:
                answer, is_open = TRYLOCK, True
            else:
                answer = LOCKED
            if is_open and (what in (LOCKED, TRYLOCK)):
                answer = what
            if what == LOCKED:
                here[2] += ONE
                tasks[who, 0], tasks[who, 1] = INSIDE, which
            else:
                tasks[who, 0] = REFUSED
        elif what in (NO_VMA, RANGE):
            tasks[who, 0] = REFUSED
        elif what == UNLOCKED:
            here[2] -= ONE
            if tasks[who, 0] == INSIDE:
                tasks[who, 0] = LEFT
        elif what == MMAP_TRY:
            if tasks[who, 0] == INSIDE:
                tasks[who, 0] = FAILED_TRY
        elif what in (MARKED, MARKED_AGAIN, WAIT):
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
            at = tasks[who, 0]
            if at in (LEFT, INSIDE):
                answer = DONE
            elif at == REFUSED:
                answer = MMAP
            tasks[who, 0] = OUTSIDE
            if what == RETRY:
                answer = RETRY if at in (FAILED_TRY, INSIDE) else DONE
                tasks[who, 0] = REFUSED
                if at == INSIDE:
                    # the handler has dropped the lock, to wait for a page of a file
                    vmas[tasks[who, 1], 2] -= ONE
                    is_open = True
        elif what == MMAP_WRITE:
            # a writer's sequence is odd, and one more than the last one's
            answer = MMAP_WRITE if seq & ONE == ONE else MMAP_WRITE_END
        elif ends and seq & ONE == ZERO:
            answer = MMAP_WRITE
        said[n] = answer
        judged[n] = OTHER if answer != what or not legal else (OPEN if is_open else SAME)
    return between

"""The loop: take the next event, let its thread go on."""

from lorelab.numbers import ONE, ZERO, U, njit
from lorelab.vmalock.model import paths, sched
from lorelab.vmalock.model.events import at, first
from lorelab.vmalock.model.paths import (
    ANON,
    ANON_END,
    ARRIVE,
    CHECK,
    DOWN,
    EARLY,
    END,
    GOT,
    LATE,
    START,
    TRY,
    UP,
    W_DOWN,
    W_END,
    W_GOT,
    W_MARK,
    W_MARK_WAIT,
    W_TAIL,
    W_WAIT,
    WOKEN,
)
from lorelab.vmalock.model.state import NEVER

LATER = U(1 << 63)
"""Start of a thread that another one starts."""


@njit
def run(m):
    """Run a machine (`lorelab.vmalock.model.state.Machine`) until no thread goes on any more.

    Returns
    -------
    bool
        False where threads are left that nothing wakes, or `limit` events are over.
    """
    for thread in range(m.one[0].threads):
        m.task[thread].pc = ARRIVE
        if m.task[thread].since < LATER:
            at(m, thread, m.task[thread].since)
        else:
            m.task[thread].pc = START
    one = m.one[0]
    while one.events < one.limit:
        time, thread = first(m)
        if time == NEVER:
            break
        pc = m.task[thread].pc
        one.now = time
        if one.events < one.traced:
            m.trace[one.events, 0] = time
            m.trace[one.events, 1] = thread
            m.trace[one.events, 2] = pc
        one.events += ONE
        if pc == START:
            paths.start(m, thread)
        elif pc == EARLY:
            paths.early(m, thread)
        elif pc == TRY:
            paths.trylock(m, thread)
        elif pc == LATE:
            paths.late(m, thread)
        elif pc == END:
            paths.end(m, thread)
        elif pc == CHECK:
            paths.check(m, thread)
        elif pc == DOWN:
            paths.down(m, thread)
        elif pc == GOT:
            paths.got(m, thread)
        elif pc == WOKEN:
            paths.woken(m, thread)
        elif pc == UP:
            paths.up(m, thread)
        elif pc == W_DOWN:
            paths.w_down(m, thread)
        elif pc == W_WAIT:
            paths.w_wait(m, thread)
        elif pc == W_GOT:
            paths.w_got(m, thread)
        elif pc == W_MARK:
            paths.w_mark(m, thread)
        elif pc == W_MARK_WAIT:
            paths.w_mark_wait(m, thread)
        elif pc == W_END:
            paths.w_end(m, thread)
        elif pc == W_TAIL:
            paths.w_tail(m, thread)
        elif pc == ANON:
            paths.anon(m, thread)
        elif pc == ANON_END:
            paths.anon_end(m, thread)
        else:
            sched.ready(m, thread, time)
            m.task[thread].pc = START
    done = ZERO
    for thread in range(one.threads):
        if m.task[thread].ended != ZERO:
            done += ONE
    return done == one.threads

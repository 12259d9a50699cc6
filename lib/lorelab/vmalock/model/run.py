"""The loop: take the next event, let its thread go on."""

from lorelab.numbers import ONE, ZERO, U, njit
from lorelab.vmalock.model import fault, sched, writer
from lorelab.vmalock.model.events import at, first
from lorelab.vmalock.model.operation import (
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
    start,
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
            start(m, thread)
        elif pc == EARLY:
            fault.early(m, thread)
        elif pc == TRY:
            fault.trylock(m, thread)
        elif pc == LATE:
            fault.late(m, thread)
        elif pc == END:
            fault.end(m, thread)
        elif pc == CHECK:
            fault.check(m, thread)
        elif pc == DOWN:
            fault.down(m, thread)
        elif pc == GOT:
            fault.got(m, thread)
        elif pc == WOKEN:
            fault.woken(m, thread)
        elif pc == UP:
            fault.up(m, thread)
        elif pc == W_DOWN:
            writer.w_down(m, thread)
        elif pc == W_WAIT:
            writer.w_wait(m, thread)
        elif pc == W_GOT:
            writer.w_got(m, thread)
        elif pc == W_MARK:
            writer.w_mark(m, thread)
        elif pc == W_MARK_WAIT:
            writer.w_mark_wait(m, thread)
        elif pc == W_END:
            writer.w_end(m, thread)
        elif pc == W_TAIL:
            writer.w_tail(m, thread)
        elif pc == ANON:
            fault.anon(m, thread)
        elif pc == ANON_END:
            fault.anon_end(m, thread)
        else:
            sched.ready(m, thread, time)
            m.task[thread].pc = START
    done = ZERO
    for thread in range(one.threads):
        if m.task[thread].ended != ZERO:
            done += ONE
    return done == one.threads

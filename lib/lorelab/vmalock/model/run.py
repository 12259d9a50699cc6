"""The loop: take the next event, let its thread go on."""

from lorelab.numerics import ONE, ZERO, U, njit
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
    OVER,
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
    finish,
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
    for thread in range(m.globals[0].threads):
        m.task[thread].pc = ARRIVE
        if m.task[thread].since < LATER:
            at(m, thread, m.task[thread].since)
        else:
            m.task[thread].pc = START
    g = m.globals[0]
    events = ZERO
    time, thread = first(m)
    while time != NEVER and events < g.limit:
        pc = m.task[thread].pc
        if events < g.traced:
            m.trace[events, 0] = time
            m.trace[events, 1] = thread
            m.trace[events, 2] = pc
        events += ONE
        g.now = time
        if pc == START:
            time = start(m, thread)
        elif pc == EARLY:
            time = fault.early(m, thread)
        elif pc == TRY:
            time = fault.trylock(m, thread)
        elif pc == LATE:
            time = fault.late(m, thread)
        elif pc == END:
            time = fault.end(m, thread)
        elif pc == CHECK:
            time = fault.check(m, thread)
        elif pc == DOWN:
            time = fault.down(m, thread)
        elif pc == GOT:
            time = fault.got(m, thread)
        elif pc == WOKEN:
            time = fault.woken(m, thread)
        elif pc == UP:
            time = fault.up(m, thread)
        elif pc == W_DOWN:
            time = writer.w_down(m, thread)
        elif pc == W_WAIT:
            time = writer.w_wait(m, thread)
        elif pc == W_GOT:
            time = writer.w_got(m, thread)
        elif pc == W_MARK:
            time = writer.w_mark(m, thread)
        elif pc == W_MARK_WAIT:
            time = writer.w_mark_wait(m, thread)
        elif pc == W_END:
            time = writer.w_end(m, thread)
        elif pc == W_TAIL:
            time = writer.w_tail(m, thread)
        elif pc == ANON:
            time = fault.anon(m, thread)
        elif pc == ANON_END:
            time = fault.anon_end(m, thread)
        else:
            m.task[thread].pc = START
            sched.ready(m, thread, time)
            time = NEVER
        if m.task[thread].pc == OVER:
            time = finish(m, thread, time)
        time, thread = at(m, thread, time) if time != NEVER else first(m)
    g.events = events
    done = ZERO
    for thread in range(g.threads):
        if m.task[thread].ended != ZERO:
            done += ONE
    return done == g.threads

"""Which task has which CPU: one run queue for all of them, first come, first served.

A task that is woken takes an idle CPU, or waits for the first that becomes free; one that has run
for its slice gives way between two operations. Spinning on a lock keeps the CPU, sleeping gives it
back.

Simplification: the kernel has a run queue a CPU and moves tasks between them; here that costs
nothing, and no CPU is idle while a task waits for one.
"""

from lorelab.numerics import ONE, ZERO, forceinline, outline
from lorelab.vmalock.model.events import at, never
from lorelab.vmalock.model.state import COUNT, NONE

RUN_WAIT = COUNT["run_wait"]


@forceinline
def _run(m, thread, cpu, time):
    m.task[thread].cpu = cpu
    m.task[thread].ran = time
    m.count[RUN_WAIT] += time - m.task[thread].since
    at(m, thread, time)


@outline
def ready(m, thread, time):
    """Make a task runnable at `time`, which is when it gets on if a CPU is idle."""
    m.task[thread].since = time
    if m.globals[0].idle > ZERO:
        m.globals[0].idle -= ONE
        _run(m, thread, m.idle[m.globals[0].idle], time)
        return
    tail = m.globals[0].head + m.globals[0].queued
    if tail >= m.globals[0].threads:
        tail -= m.globals[0].threads
    m.queue[tail] = thread
    m.globals[0].queued += ONE
    never(m, thread)


@outline
def leave(m, thread):
    """Give a task's CPU to the next one; it goes to sleep, or to the end of the queue."""
    cpu = m.task[thread].cpu
    m.task[thread].cpu = NONE
    if m.globals[0].queued == ZERO:
        m.idle[m.globals[0].idle] = cpu
        m.globals[0].idle += ONE
        return
    other = m.queue[m.globals[0].head]
    m.globals[0].head += ONE
    if m.globals[0].head == m.globals[0].threads:
        m.globals[0].head = ZERO
    m.globals[0].queued -= ONE
    # one that was woken just now may not have begun to run
    _run(m, other, cpu, max(m.globals[0].now, m.task[other].since) + m.globals[0].switch)

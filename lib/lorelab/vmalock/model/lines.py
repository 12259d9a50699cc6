"""Who has which cache line, and what it costs to get it.

A line is with the CPU that wrote it last, until another one writes or reads it. Fetching it costs
`remote`, having it costs `local`, and one line goes to one CPU at a time: whoever comes while it is
on its way waits behind those that came before. That queue is what an atomic operation of many CPUs
on one word is slow by, whether it waits for anything else or not.

Simplifications: a line costs the same from any CPU, and the last-level cache is large enough for
all of them. So there are no sockets, and what is fetched is only what another CPU wrote.
"""

from lorelab.numbers import ONE, ZERO, forceinline
from lorelab.vmalock.model.state import COUNT, NONE

REMOTE = COUNT["remote"]


@forceinline
def write(m, line, cpu):
    """Do an atomic operation on a line; returns when it is done [ns]."""
    now = m.one[0].now
    if m.line_owner[line] == cpu and m.line_shared[line] == ZERO:
        done = max(now, m.line_free[line]) + m.one[0].local
    else:
        done = max(now, m.line_free[line]) + m.one[0].remote
        m.line_free[line] = done
        m.line_owner[line] = cpu
        m.line_shared[line] = ZERO
        m.count[REMOTE] += ONE
    m.line_stamp[line] += ONE
    m.copy[cpu, line] = m.line_stamp[line]
    return done


@forceinline
def read(m, line, cpu, done):
    """Read a line, not before `done`; returns when that is done [ns]."""
    if m.copy[cpu, line] == m.line_stamp[line]:
        return done
    if m.line_owner[line] == NONE:
        m.copy[cpu, line] = m.line_stamp[line]
        return done
    done = max(done, m.line_free[line]) + m.one[0].remote
    m.line_free[line] = done
    m.line_shared[line] = ONE
    m.copy[cpu, line] = m.line_stamp[line]
    m.count[REMOTE] += ONE
    return done

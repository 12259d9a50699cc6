"""Who has which cache line, and what it costs to get it.

A line is with the CPU that wrote it last, until another one writes or reads it. Fetching it costs
`remote`, having it costs `local`, and one line goes to one CPU at a time: whoever comes while it is
on its way waits behind those that came before. That queue is what an atomic operation of many CPUs
on one word is slow by, whether it waits for anything else or not.

Simplifications: a line costs the same from any CPU, and the last-level cache is large enough for
all of them. So there are no sockets, and what is fetched is only what another CPU wrote.
"""

from lorelab.numerics import ONE, ZERO, forceinline
from lorelab.vmalock.model.state import COUNT, NONE

REMOTE = COUNT["remote"]


@forceinline
def write(m, line, cpu):
    """Do an atomic operation on a line; returns when it is done [ns]."""
    now = m.one[0].now
    if m.line[line].owner == cpu and m.line[line].shared == ZERO:
        done = max(now, m.line[line].free) + m.one[0].local
    else:
        done = max(now, m.line[line].free) + m.one[0].remote
        m.line[line].free = done
        m.line[line].owner = cpu
        m.line[line].shared = ZERO
        m.count[REMOTE] += ONE
    m.line[line].stamp += ONE
    m.copy[cpu, line] = m.line[line].stamp
    return done


@forceinline
def read(m, line, cpu, done):
    """Read a line, not before `done`; returns when that is done [ns]."""
    if m.copy[cpu, line] == m.line[line].stamp:
        return done
    if m.line[line].owner == NONE:
        m.copy[cpu, line] = m.line[line].stamp
        return done
    done = max(done, m.line[line].free) + m.one[0].remote
    m.line[line].free = done
    m.line[line].shared = ONE
    m.copy[cpu, line] = m.line[line].stamp
    m.count[REMOTE] += ONE
    return done

"""Who has which cache line, and what it costs to get it.

A line is with the CPU that wrote it last, until another one writes or reads it. Fetching it costs
`remote`, having it costs `local`. To write it a CPU must have it alone, and the first to read what
another has written takes it from there: these go one at a time, and whoever comes while it is on
its way waits behind those that came before. That queue is what an atomic operation of many CPUs on
one word is slow by, whether it waits for anything else or not. Once it has been read the line is
shared and unmodified, and any number of CPUs fetch it at the same time.

Simplifications: a line costs the same from any CPU, a write does not wait for copies that are on
their way to readers, nor the longer the more of them it invalidates, and the last-level cache is
large enough for all lines. So there are no sockets, and what is fetched is only what another CPU
wrote.
"""

from lorelab.numerics import ONE, ZERO, forceinline
from lorelab.vmalock.model.state import COUNT, NONE

REMOTE = COUNT["remote"]


@forceinline
def write(m, line, cpu):
    """Do an atomic operation on a line; returns when it is done [ns]."""
    now = m.globals[0].now
    if m.line[line].owner == cpu and m.line[line].shared == ZERO:
        done = max(now, m.line[line].free) + m.globals[0].local
    else:
        done = max(now, m.line[line].free) + m.globals[0].remote
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
    done = max(done, m.line[line].free) + m.globals[0].remote
    if m.line[line].shared == ZERO:
        m.line[line].free = done
        m.line[line].shared = ONE
    m.copy[cpu, line] = m.line[line].stamp
    m.count[REMOTE] += ONE
    return done

"""When which thread goes on: a tournament of as many leaves as there are threads.

A thread has one time at most at which it goes on by itself. Leaf t is that time, and each node
above is the earlier of the two below, so that the root is the next event. Setting a time costs one
comparison a level, a thread that is woken early takes its old time back by setting a new one, and
nothing has to be searched or thrown away.

The time of an event is `ns << 24 | number`, and the number that of events set so far, modulo 2^24:
of two at the same ns the one that was set first comes first, unless they were set 16 million events
apart.
"""

from lorelab.numbers import ONE, U, forceinline
from lorelab.vmalock.model.state import NEVER

TIE = U(24)
TIES = U((1 << 24) - 1)


@forceinline
def _put(m, thread, key):
    leaf = m.one[0].leaves + thread
    m.tournament[leaf] = key
    while leaf > ONE:
        other = m.tournament[leaf ^ ONE]
        leaf >>= ONE
        key = min(key, other)
        m.tournament[leaf] = key


@forceinline
def at(m, thread, time):
    """Let a thread go on at a time [ns]; it forgets any other."""
    m.one[0].sequence += ONE
    _put(m, thread, time << TIE | m.one[0].sequence & TIES)


@forceinline
def never(m, thread):
    """Let a thread wait until something else lets it go on."""
    _put(m, thread, NEVER)


@forceinline
def first(m):
    """Time of the next event and its thread; time `NEVER` if there is none."""
    key = m.tournament[ONE]
    node = ONE
    leaves = m.one[0].leaves
    while node < leaves:
        node <<= ONE
        if m.tournament[node] != key:
            node += ONE
    time = key >> TIE if key != NEVER else NEVER
    return time, node - leaves

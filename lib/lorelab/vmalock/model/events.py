"""When which thread goes on: a tournament of as many leaves as there are threads.

A thread has one time at most at which it goes on by itself. Leaf t is that time, and each node
above is the earlier of the two below, with its thread, so that the root is the next event. Setting
a time costs one comparison a level, a thread that is woken early takes its old time back by setting
a new one, and nothing has to be searched or thrown away.

The key of an event is `ns << 23 | number`, and the number that of events set so far, modulo 2^23:
of two at the same ns the one that was set first comes first, unless the numbers have wrapped
between them, which they do every 8 million events. Times are below `LONGEST`, 18 minutes.
"""

from lorelab.numerics import ONE, ZERO, U, forceinline
from lorelab.vmalock.model.state import NEVER, WAITS

TIE = U(23)
TIES = U((1 << 23) - 1)
SIGN = U(63)
LONGEST = 1 << 40
"""Times are below that [ns]: a key has no more bits for them."""


@forceinline
def _put(m, thread, key):
    """Set the key of a thread; returns the earliest key and its thread."""
    node = m.globals[0].leaves + thread
    m.tournament[node].key = key
    while node > ONE:
        other = m.tournament[node ^ ONE]
        # All ones where the other comes first, else 0. A branch would be guessed by the processor,
        # and who comes first is hard to guess.
        first = ZERO - (other.key - key >> SIGN)
        thread ^= (thread ^ other.thread) & first
        key = min(key, other.key)
        node >>= ONE
        m.tournament[node].key = key
        m.tournament[node].thread = thread
    return key, thread


@forceinline
def _event(key, thread):
    return key >> TIE if key != WAITS else NEVER, thread


@forceinline
def at(m, thread, time):
    """Let a thread go on at a time [ns]; it forgets any other. Returns what `first` does."""
    m.globals[0].sequence += ONE
    key, thread = _put(m, thread, time << TIE | m.globals[0].sequence & TIES)
    return _event(key, thread)


@forceinline
def never(m, thread):
    """Let a thread wait until something else lets it go on."""
    _put(m, thread, WAITS)


@forceinline
def first(m):
    """Time of the next event and its thread; time `NEVER` if there is none."""
    return _event(m.tournament[ONE].key, m.tournament[ONE].thread)

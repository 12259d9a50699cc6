"""netem's random decisions, number by number (net/sched/sch_netem.c, lib/random32.c, Linux 6.12).

netem has taken a seed since 6.7; from then on what it drops and reorders is known beforehand.
"""

import numpy as np

from lorelab.numerics import U, forceinline, njit

MASK = U(0xFFFFFFFF)


@njit
def prandom_seed_state(seed):
    """State of the generator for a seed; shape (4,)."""
    i = ((seed >> U(32)) ^ (seed << U(10)) ^ seed) & MASK
    state = np.empty(4, np.uint64)
    for n, least in enumerate((2, 8, 16, 128)):
        state[n] = i + U(least) if i < U(least) else i
    return state


@forceinline
def _tausworthe(s, a, b, c, d):
    return (((s & c) << d) & MASK) ^ ((((s << a) & MASK) ^ s) >> b)


@forceinline
def prandom_u32_state(state):
    """The next number, 32 bits; `state` goes on."""
    state[0] = _tausworthe(state[0], U(6), U(13), U(4294967294), U(18))
    state[1] = _tausworthe(state[1], U(2), U(27), U(4294967288), U(2))
    state[2] = _tausworthe(state[2], U(13), U(21), U(4294967280), U(7))
    state[3] = _tausworthe(state[3], U(3), U(12), U(4294967168), U(13))
    return state[0] ^ state[1] ^ state[2] ^ state[3]


@njit
def probability(percent):
    """A share as tc hands it to netem: of 2**32 - 1, rounded to the nearest."""
    return np.int64(np.rint(percent / 100 * 0xFFFFFFFF))


@forceinline
def loss_event(state, loss):
    """Whether a packet is dropped; draws only where there is a loss at all."""
    return loss > U(0) and loss >= prandom_u32_state(state)


@forceinline
def overtakes(state, reorder):
    """Whether a packet goes to the front, with a gap of 1 (netem_enqueue)."""
    return reorder > U(0) and reorder >= prandom_u32_state(state)

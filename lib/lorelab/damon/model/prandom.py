"""The kernel's fast generator of 32-bit numbers, which 7.3's DAMON draws from.

A combined Tausworthe generator of four words (lib/random32.c, include/linux/prandom.h), in 7.3.4 as
in 6.12.117.
"""

from lorelab.numerics import U, njit

U32 = U(0xFFFFFFFF)


@njit
def tausworthe(s, a, b, c, d):
    """One of the four parts of prandom_u32_state() (the macro TAUSWORTHE)."""
    s = U(s)
    return (s & U(c)) << U(d) & U32 ^ (s << U(a) & U32 ^ s) >> U(b)


@njit
def prandom_u32_state(state):
    """Next number of the generator whose four words are in `state` (lib/random32.c)."""
    state[0] = tausworthe(state[0], 6, 13, 4294967294, 18)
    state[1] = tausworthe(state[1], 2, 27, 4294967288, 2)
    state[2] = tausworthe(state[2], 13, 21, 4294967280, 7)
    state[3] = tausworthe(state[3], 3, 12, 4294967168, 13)
    return U(state[0] ^ state[1] ^ state[2] ^ state[3])


@njit
def prandom_seed_state(state, seed):
    """Begin with a seed of 64 bits (include/linux/prandom.h); each word has a least value."""
    i = (seed >> U(32) ^ seed << U(10) ^ seed) & U32
    least = (U(2), U(8), U(16), U(128))
    for k in range(4):
        state[k] = i + least[k] if i < least[k] else i

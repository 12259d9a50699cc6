"""Numbers as the kernel has them, and how models are compiled.

Unsigned everywhere: numba checks signed indices for wrap-around, and a signed operand would turn a
uint64 into a float. So constants of a model are made with `U`.
"""

import numba
import numpy as np

U = np.uint64
ZERO, ONE, TWO = U(0), U(1), U(2)
PAGE = 4096
"""Bytes."""

njit = numba.njit(cache=True, error_model="numpy")
"""For functions that may make arrays. Divisions are not checked for a divisor of 0."""
outline = numba.njit(cache=True, error_model="numpy", _nrt=False)
"""Without numba's reference counts: a call passes each array of a state by value, and would count
each up and down atomically, 3 us a call instead of 0.03. Such functions can't make arrays."""
forceinline = numba.njit(cache=True, error_model="numpy", _nrt=False, forceinline=True)
"""The same, and the call is gone. Long functions off the common path stay `outline`: inlined they
would only take long to compile."""
inline_always = numba.njit(cache=True, error_model="numpy", inline="always")
"""Pasted by numba itself before types are known: for small functions that `njit` ones call."""

GOLDEN = U(0x9E3779B97F4A7C15)
"""What splitmix64 adds to its state before each number: 2**64 over the golden ratio."""


@forceinline
def splitmix64(state):
    """The number that splitmix64 has for a state (Steele, Lea and Flood, 2014).

    The n-th number of a seed is that of the state seed + n * GOLDEN, so it can be had without those
    before it.

    Examples
    --------
    The first number of the seed 1234567, as Vigna's splitmix64.c gives it:

    >>> int(splitmix64(U(1234567) + GOLDEN))
    6457827717110365317
    """
    z = (state ^ (state >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return z ^ (z >> U(31))

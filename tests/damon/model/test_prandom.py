"""The kernel's generator, against the values that its own test has (lib/tests/random32_kunit.c)."""

import numpy as np
import pytest

from lorelab.damon.model.prandom import prandom_seed_state, prandom_u32_state
from lorelab.numerics import U
from tests.damon.oracle_v7_3 import Random

LEAST = (2, 8, 16, 128)
WARM_UP = 10


def begun(seed):
    """prandom_state_selftest_seed(), and prandom_warmup()."""
    state, before = np.zeros(4, np.uint32), seed
    for k, least in enumerate(LEAST):
        word = before * 69069 % 2**32
        state[k] = before = word + least if word < least else word
    for _ in range(WARM_UP):
        prandom_u32_state(state)
    return state


# Seeds at which a word is at its least value: test1.
@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (1, 3484351685), (2, 2623130059), (3, 3125133893), (4, 984847254),
    ],
)  # fmt: skip
def test_the_first_number(seed, number):
    assert prandom_u32_state(begun(seed)) == number


# Values of GSL's taus113: test2.
@pytest.mark.parametrize(
    ("seed", "iteration", "number"),
    [
        (931557656, 959, 2975593782),
        (1339693295, 876, 3887776532),
        (1545556285, 961, 1615538833),
        (601730776, 723, 1776162651),
        (47485338, 558, 3521120834),
        (407983964, 921, 728767059),
    ],
)
def test_a_number_far_on(seed, iteration, number):
    state = begun(seed)
    for _ in range(iteration - 1):
        prandom_u32_state(state)
    assert prandom_u32_state(state) == number


@pytest.mark.parametrize("seed", [0, 1, 7 << 32 | 7, 2**63 + 12345, 2**64 - 1])
def test_a_seed_of_64_bits(seed):
    state = np.zeros(4, np.uint32)
    prandom_seed_state(state, U(seed))
    oracle = Random.seeded(seed)
    assert state.tolist() == oracle.words
    assert (state >= LEAST).all()
    drawn = [int(prandom_u32_state(state)) for _ in range(100)]
    assert drawn == [oracle.u32() for _ in range(100)] and len(set(drawn)) == 100

"""netem's numbers and what is decided by them, at each bound."""

import pytest

from lorelab.gso.model import netem
from lorelab.numerics import U


def tausworthe(seed: int):
    """The kernel's generator, on Python's integers (lib/random32.c)."""
    i = ((seed >> 32) ^ (seed << 10) ^ seed) & 0xFFFFFFFF
    s = [i + least if i < least else i for least in (2, 8, 16, 128)]
    rows = [(6, 13, 0xFFFFFFFE, 18), (2, 27, 0xFFFFFFF8, 2)]
    rows += [(13, 21, 0xFFFFFFF0, 7), (3, 12, 0xFFFFFF80, 13)]
    while True:
        for n, (a, b, c, d) in enumerate(rows):
            s[n] = (((s[n] & c) << d) & 0xFFFFFFFF) ^ ((((s[n] << a) & 0xFFFFFFFF) ^ s[n]) >> b)
        yield s[0] ^ s[1] ^ s[2] ^ s[3]


@pytest.mark.parametrize("small", [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 127, 128, 129, 2**32 - 1])
@pytest.mark.parametrize("low", [0, 1, 2**22 - 1])
def test_a_seed_whose_state_would_be_too_small(small, low):
    """__seed() adds what each of the four takes at least; `low` cancels itself out."""
    high = small ^ ((low << 10) & 0xFFFFFFFF) ^ low
    state, numbers = netem.prandom_seed_state(U(high << 32 | low)), tausworthe(high << 32 | low)
    at_least = (2, 8, 16, 128)
    assert state.tolist() == [small + one if small < one else small for one in at_least]
    assert [int(netem.prandom_u32_state(state)) for _ in range(5)] == [
        next(numbers) for _ in range(5)
    ]


@pytest.mark.parametrize("decides", [netem.loss_event, netem.overtakes])
def test_a_share_decides_up_to_the_number_itself(decides):
    number = next(tausworthe(7))
    for share, expected in ((number - 1, False), (number, True), (number + 1, True), (0, False)):
        state = netem.prandom_seed_state(U(7))
        untouched = state.copy()
        assert bool(decides(state, U(share))) is expected
        assert (state == untouched).all() == (share == 0)


@pytest.mark.parametrize(
    ("percent", "share"),
    [(0, 0), (100, 2**32 - 1), (50, 2**31), (5, 214_748_365), (0.1, 4_294_967), (1e-9, 0)],
)
def test_shares_as_tc_rounds_them(percent, share):
    assert netem.probability(percent) == share

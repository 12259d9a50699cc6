"""The flag: every order of loads and stores, played one by one."""

from itertools import permutations

import pytest

from lorelab.gso.experiments import flag
from lorelab.gso.model.flag import interleavings
from lorelab.gso.params import Flag


def played(sent, copied, mended):
    """All orders, and those after which the flag is not what it should be."""
    orders = set(permutations([cpu for cpu in range(sent + copied) for _ in range(2)]))
    lost = 0
    for order in orders:
        flag_, loaded = True, {}
        for cpu in order:
            success = cpu < sent
            if cpu not in loaded:
                loaded[cpu] = flag_
            elif mended:
                flag_ = flag_ and success
            else:
                flag_ = loaded[cpu] and success
        lost += flag_ == (copied > 0)
    return len(orders), lost


@pytest.mark.parametrize("mended", [False, True])
@pytest.mark.parametrize(
    ("sent", "copied"), [(n, m) for n in range(4) for m in range(4) if n + m < 4]
)
def test_every_order_is_counted(sent, copied, mended):
    assert interleavings(sent, copied, mended) == played(sent, copied, mended)


def test_three_and_three():
    """Of 12 steps any six pairs: 12! / 2**6 orders; with the patch none of them loses it."""
    assert interleavings(3, 3).all == interleavings(3, 3, mended=True).all == 7_484_400
    assert interleavings(3, 3, mended=True).lost == 0
    assert interleavings(4, 0).lost == interleavings(0, 4).lost == 0


def test_the_experiment_counts_them():
    for params in (Flag(sent=2, copied=1), Flag(sent=1, copied=2, mended=True)):
        table = flag.simulate(params)
        assert set(table["variant"]) == {"mended" if params.mended else "upstream"}
        orders, lost = interleavings(params.sent, params.copied, params.mended)
        assert dict(zip(table["counter"], table["value"], strict=True)) == {
            "interleavings": orders,
            "lost": lost,
        }

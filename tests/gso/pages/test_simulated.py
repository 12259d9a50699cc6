"""What a send costs, by hand, and the shares of the last segment."""

import pytest

from lorelab.gso.experiments import traffic
from lorelab.gso.pages import simulated
from lorelab.gso.params import TRAITS, Traffic, Variant
from lorelab.params import label
from tests.gso.model.test_lastsegment import drawn


def test_what_a_send_costs():
    """By hand: 40 segments of 1400 bytes, copied into one buffer or each with a reference."""
    table = simulated.costs(length=56_000, segment=1400)
    assert list(table.index) == [label(variant) for variant in Variant]
    assert table.index.name == "variant"
    for variant in Variant:
        counted = traffic.count(Traffic(variant=variant, length=56_000, segment=1400, sends=5))
        row = table.loc[label(variant)]
        by_send = 56_000 if TRAITS[variant].at_send else 0
        expected = {name: value / 5 for name, value in counted.items()}
        assert row.to_dict() == expected | {"copied_bytes": expected["copied_bytes"] + by_send}


def test_costs_by_hand():
    """40 segments of 1400 bytes in 14 pages, of which 13 segments touch two: 53 fragments.

    A head of a segment takes 640 bytes and its sk_buff 256; a shared info is 48 bytes in front of
    its fragments of 16, and the parent's pointer makes it 56.
    """
    table = simulated.costs(length=56_000, segment=1400)
    counted, orphan, none = (table.loc[v] for v in ("shared-count", "orphan", "no-zerocopy"))
    # In skb_copy_ubufs() or in send(): the bytes are the same.
    assert orphan["copied_bytes"] == none["copied_bytes"] == 56_000
    assert counted["copied_bytes"] == 0
    # The packet's sk_buff and head, its notification, and both again of each segment.
    assert counted["allocations"] == 2 + 1 + 2 * 40
    assert orphan["allocations"] == none["allocations"] == 2 + 1 + 2 * 40 + 14
    # Taken and put: each page at the send, each fragment, each segment's count; the last put.
    assert counted["atomics"] == 2 * 14 + 2 * 53 + 2 * 40 + 1
    assert orphan["atomics"] == 2 * 14 + 2 * 53 + 2 * 14
    assert none["atomics"] == 2 * 14 + 2 * 53
    assert counted["lines"] == 40 + 13
    assert table.loc["parent", "lines"] == 2 * 40
    assert counted["truesize"] == 40 * (640 + 256 + 1400)
    assert counted["completions"] == 41
    copied = simulated.costs(length=56_000, segment=1400, zerocopy=False).loc["shared-count"]
    assert copied["allocations"] == 2 + 2 * 40 + 14
    # A page of its own for what is copied of each segment, and a clone for a tap.
    late = [Variant.SHARED_COUNT]
    received = simulated.costs(late, length=56_000, segment=1400, received=True).iloc[0]
    assert received["allocations"] == counted["allocations"] + 40
    tapped = simulated.costs(late, length=56_000, segment=1400, tap=True).iloc[0]
    assert tapped["allocations"] == counted["allocations"] + 40 + 2 * 40
    assert tapped["atomics"] == counted["atomics"] + 2 * 40 + 2 * 40


def test_shares():
    table = simulated.shares([1, 4], packets=50, seed=3).set_index("segments")
    assert table.loc[1].tolist() == [0, 0, 0]
    share = 1 - drawn(4, 50, 3)[-1] / 50
    assert table.loc[4, ["drawn", "expected"]].tolist() == [share, 0.75]
    assert table.loc[4, "sigma"] == pytest.approx((share - 0.75) / (0.75 * 0.25 / 50) ** 0.5)

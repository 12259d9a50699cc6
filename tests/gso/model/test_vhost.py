"""vhost-net's choice at each bound of its two counts, and what becomes of packets."""

import pytest

from lorelab.gso.experiments import vhost
from lorelab.gso.model.vhost import zerocopies
from lorelab.gso.params import Vhost


def test_one_in_64_is_tried():
    for packets in [*range(1, 131), *range(1022, 1092), 2048, 2049]:
        assert zerocopies(packets, refcnt=False) == -(-packets // 64)
        assert zerocopies(packets, refcnt=True) == packets


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # 128 packets of three segments, two of them tried, and copied; with the count all are.
        (
            {"refcnt": False},
            {"segmentations": 128, "copies": 2, "copied_bytes": 2 * 2808, "completions": 2},
        ),
        (
            {"refcnt": True},
            {"segmentations": 128, "copies": 0, "copied_bytes": 0, "completions": 128 * 4},
        ),
    ],
)
def test_what_becomes_of_packets(given, expected):
    table = vhost.simulate(Vhost(sends=128, length=2808, **given))
    values = dict(zip(table["counter"], table["value"], strict=True))
    failed = {"completions_copied": expected["copies"]}
    assert values == {"told": 128, "sent": 3 * 128, "wrong": 0} | expected | failed
    assert set(table["variant"]) == {"refcnt" if given["refcnt"] else "upstream"}

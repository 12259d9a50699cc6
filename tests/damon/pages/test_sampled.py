"""What sampled accesses find beside accessed bits: on a program of two seconds, and by hand."""

import numpy as np
import pytest

from lorelab.damon.pages import sampled


@pytest.mark.parametrize(
    ("counts", "share"),
    [
        ([20, 0, 0], 1),
        ([0, 20, 0], 1 / 4),
        ([3, 2, 1], 1),
        ([1, 2, 0], 2 / 4),
        ([5, 5, 5], 4 / 10),
        ([0, 7, 7], 0),
    ],
)
def test_as_many_pages_as_are_hot_are_taken_by_count(counts, share):
    hot = np.arange(10) < 4
    low, high = np.array([0, 4, 6]), np.array([4, 6, 10])
    assert sampled.share_found(low, high, np.array(counts), hot) == pytest.approx(share)


def test_regions_outside_of_the_memory_have_nothing_hot():
    hot = np.array([True, False])
    low, high = np.array([-5, 0]), np.array([0, 2])
    assert sampled.share_found(low, high, np.array([9, 1]), hot) == 0


def test_each_way_stands_beside_the_null(small):
    found = sampled.compared([small], 1)[small]
    assert found.loc["no monitor", "found"].nunique() == 1
    null = found.loc[("no monitor", "all cold"), "found"]
    assert null == pytest.approx(100 * 8 / 18, abs=0.1), "8 MiB of 18, in whole blocks of 2 MiB"
    assert found.loc[("accessed bit", "5 ms"), "found"] > 90
    hidden = found.loc[("accessed bit", "5 ms, TLB of 4,096 pages"), "found"]
    assert abs(hidden - null) < 15, "8 MiB fit the TLB"
    sent = found.loc["samples", "per second"].to_numpy()
    assert sent == pytest.approx([500, 1000, 5003, 5003, 50_000], rel=0.1)
    lost = found.loc[("5,003/s, 50 ms", "half lost"), "per second"]
    assert lost == pytest.approx(2500, rel=0.15)

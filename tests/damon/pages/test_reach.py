"""The part of a region that 32 bits reach."""

import pytest

from lorelab.damon.pages import reach


def test_the_remainder_by_4_gib():
    """A region's size by 4 GiB, or all 4 where nothing is left over."""
    table = reach.reached([1, 3, 4, 5, 6, 8, 13])
    assert table["reached"].tolist() == pytest.approx([1, 3, 4, 1, 2, 4, 1], abs=0.01)
    assert (table["reached"] < table["region"]).all()

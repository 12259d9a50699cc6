"""swap/paths: where the modes of 6.12 look."""

from lorelab.swap.experiments import paths
from lorelab.swap.params import AllocatorTest, AllocMode


def test_modes_go_other_ways():
    """Except v3 and v6.10: on one CPU order 0 takes from no current cluster of the tool's."""
    found = {
        mode: tuple(paths.simulate(AllocatorTest(iterations=5, alloc_mode=mode))["value"])
        for mode in AllocMode
    }
    assert found[AllocMode.V3] == found[AllocMode.V6_10]
    assert len(set(found.values())) == len(AllocMode) - 1

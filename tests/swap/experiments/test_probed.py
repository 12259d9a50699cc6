"""swap/probed: what probes see of the model's run adds up to what its allocator counted."""

from lorelab.swap.experiments import probed
from lorelab.swap.model.state import PATHS
from lorelab.swap.params import AllocatorTest


def test_each_call_is_in_a_histogram_and_each_slot_that_was_taken_again():
    """Without slot caches a call takes one range; 960 folios of 64 KiB fill the memory."""
    table = probed.simulate(AllocatorTest(iterations=2, slot_cache=False, large_swapin=False))
    by = table.groupby("counter")
    units = by["unit"].first()
    total = by["value"].sum()
    for order in (0, 4):
        assert (units[f"read_{order}"], units[f"swapouts_{order}"]) == ("calls", "slots")
        paths = [f"{path}_{order}" for path in PATHS if f"{path}_{order}" in total.index]
        assert total[f"read_{order}"] == total[paths].sum()
    # Of 64 MiB each slot is taken for the first time once; what was taken more often, was again.
    taken = sum(
        (total[[f"{path}_{order}" for path in PATHS[:5]]].sum()) << order for order in (0, 4)
    )
    again = total["swapouts_0"] + total["swapouts_4"]
    assert 0 < again < taken <= again + (64 << 8) - 1
    assert total["read_4"] >= 960

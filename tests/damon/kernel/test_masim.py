"""`damon/masim` as it was recorded."""

from lorelab.damon.params import Masim
from lorelab.lab import records


def test_a_stale_tlb_entry_hides_a_hot_megabyte_from_the_kernel():
    def seen(**changes):
        record = records.load("damon/masim", Masim(workload="whole", mib=1, **changes))
        total = record.counters.groupby("counter")["value"].sum()
        return total["hot_seen"] / total["hot"]

    assert seen(tlb=0) > 0.9
    assert seen(tlb=264) < 0.01
    assert seen(tlb=264) < seen(tlb=264, switch_us=10_000) < seen(tlb=264, switch_us=1_000)

"""swap/usemem: one tidy table."""

from lorelab.swap.experiments import usemem
from lorelab.swap.model.reclaim import UNITS
from lorelab.swap.params import Usemem


def test_the_counters_are_one_tidy_table():
    params = Usemem(processes=2, cpus=2, mib_each=8, memcg_mib=8, swap_mib=32)
    found = usemem.simulate(params)
    assert list(found["counter"]) == list(UNITS)
    assert list(found["unit"]) == list(UNITS.values())
    assert set(found["step"]) == {0}
    assert set(found["variant"]) == {"v3"}
    assert dict(zip(found["counter"], found["value"], strict=True)) == usemem.count(params)

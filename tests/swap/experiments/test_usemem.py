"""swap/usemem: one tidy table."""

from lorelab.swap.experiments import usemem
from lorelab.swap.params import Usemem
from lorelab.swap.workload.usemem import UNITS


def test_the_counters_are_one_tidy_table():
    params = Usemem(processes=2, cpus=2, mib_each=8, memcg_mib=8, swap_mib=32)
    found = usemem.simulate(params)
    assert list(found["counter"]) == list(UNITS)
    assert list(found["unit"]) == list(UNITS.values())
    assert set(found["step"]) == {0}
    assert set(found["variant"]) == {"v3"}
    assert dict(zip(found["counter"], found["value"], strict=True)) == usemem.count(params)


def test_each_path_is_told_for_64_kib():
    small = Usemem(processes=2, cpus=2, mib_each=8, memcg_mib=8, swap_mib=32)
    table = usemem.per_64k(small, usemem.PATHS)
    assert list(table.index) == list(usemem.PATHS) and list(table.columns) == list(UNITS)
    assert (table["swapped"] == 16).all()
    assert table["invalidations"].tolist()[:4] == [16, 32, 32, 16]
    assert table["flushes"].tolist()[:4] == [16, 32, 17, 1]
    assert table.loc["2M whole", "invalidations"] == 513 / 32

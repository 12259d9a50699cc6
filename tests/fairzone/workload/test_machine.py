"""The zones that parameters ask for: a real layout, and the machine of June 2014 in any size."""

import pytest

from lorelab.fairzone.experiments import tiobench
from lorelab.fairzone.model import filemap, vmscan, zones
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.workload.machine import node_of


def test_dma32_ends_at_4_gib_however_much_there_is_above():
    for mib in (4096, 8192, 32768):
        dma, dma32, normal = zones.managed_pages(mib, True, 2967)
        assert dma + dma32 == 2967 * 256 and normal == (mib - 2967) * 256
        assert zones.managed_pages(mib, False, 2967)[:2] == [0, 2967 * 256]


def test_without_a_layout_the_machine_of_june_is_made_smaller():
    pages = zones.managed_pages(7973, True)
    for found, posted in zip(pages, zones.JUNE_2014, strict=True):
        assert found == pytest.approx(posted, rel=1e-4)
    assert zones.managed_pages(64, True)[1] < 64 * 256 // 2


def test_the_layout_of_june_is_the_machine_of_june():
    node = node_of(Tiobench(below_4g_mib=2967))
    assert node.zone["managed"].tolist() == pytest.approx(zones.JUNE_2014, rel=1e-3)


@pytest.mark.parametrize(("mib", "below"), [(7973, 31), (2967, 2967)])
def test_a_layout_without_dma32_or_normal_is_refused(mib, below):
    with pytest.raises(ValueError, match=f"below_4g_mib={below}: takes 0, or from 32 to less"):
        Tiobench(mib=mib, below_4g_mib=below)
    assert Tiobench(mib=mib + 1, below_4g_mib=max(32, below))


def slept(spread, seed=1, times=300):
    node = zones.make([0, 500, 900], Variant.V1, 2, 64)
    mm = filemap.make(node, 10, 100)
    mm.kswapd["nap_spread"], mm.kswapd["nap_draws"] = spread, seed
    naps = []
    for _ in range(times):
        vmscan.kswapd_try_to_sleep(mm)
        naps.append(int(mm.kswapd["nap"][0]))
    return naps


def test_naps_are_exact_without_a_spread_and_within_it_with_one():
    assert set(slept(0)) == {100}
    naps = slept(25)
    assert min(naps) == 75 and max(naps) == 125
    assert sum(naps) / len(naps) == pytest.approx(100, abs=3)
    assert naps == slept(25) != slept(25, seed=2)


def test_a_nap_of_no_pages_is_sleep():
    assert 0 in slept(100, times=1000)


def test_a_spread_reaches_the_run():
    given = {"mib": 64, "min_free_kib": 1024, "random_ops": 0, "steps": 1, "variant": Variant.V1}
    runs = [
        tiobench.run(Tiobench(disk_mb_s=10, nap_spread=spread, seed=seed, **given)).count
        for spread, seed in ((0, 1), (0, 2), (100, 1), (100, 2))
    ]
    assert (runs[0] == runs[1]).all() and (runs[2] != runs[3]).any()

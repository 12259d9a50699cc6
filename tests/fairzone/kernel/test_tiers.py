"""A near node and a slower far one: what the guest is asked, and what its counters come to."""

import numpy as np
import pandas as pd
import pytest

from lorelab.errors import BadInput
from lorelab.fairzone.kernel import tiers
from lorelab.fairzone.pages import tiers as pages
from lorelab.fairzone.params import Tiers
from lorelab.fairzone.workload.tiers import PARTS


def test_the_laboratory_s_kernel_has_one_tier():
    with pytest.raises(BadInput, match="takes --kernel PATH"):
        tiers.measure([Tiers()])


def test_the_far_node_is_slower_and_above_the_4_gib_line():
    machine = tiers.with_tiers(Tiers(near_mib=400, far_mib=200))
    assert machine.memory_mib == 600 and "hmat=on,max-ram-below-4g=400M" in machine.qemu
    assert "node,nodeid=1,memdev=node1,initiator=0" in machine.qemu
    told = [word.partition("hierarchy=memory,")[2] for word in machine.qemu if "hmat-lb" in word]
    assert told == [
        "data-type=access-latency,latency=100",
        "data-type=access-bandwidth,bandwidth=100G",
        "data-type=access-latency,latency=300",
        "data-type=access-bandwidth,bandwidth=30G",
    ]


def test_weights_are_the_sizes_in_lowest_terms():
    assert tiers.run(Tiers())["weights"] == []
    assert tiers.run(Tiers(interleave=True))["weights"] == [5, 3]


def test_each_page_is_read_once_and_all_are_mapped():
    fill, read = tiers.run(Tiers(near_mib=256, far_mib=128, turnovers=3))["phases"]
    memory = 384 * 256
    assert (fill["reads"], read["reads"]) == ([0, memory], [memory, 3 * memory])
    assert fill["maps"] == read["maps"] == [4 * memory, PARTS]


def said(**more):
    """In steady state: 300 pages enter the near node, 100 the far one, and 150 are demoted."""
    counted = {
        "zone_0_dma_free": 10,
        "zone_0_dma32_free": 590,
        "zone_1_normal_free": 400,
        "read_pgalloc_dma": 20,
        "read_pgalloc_dma32": 280,
        "read_pgalloc_normal": 250,
        "read_pgdemote_kswapd": 120,
        "read_pgdemote_direct": 30,
        "read_pgsteal_kswapd": 360,
        "read_pgsteal_direct": 40,
        "read_pageoutrun": 8,
        "read_kswapd_high_wmark_hit_quickly": 2,
    }
    cached = {f"read_cached_{part:02}": 0 for part in range(PARTS - 1)}
    return pd.Series(counted | cached | {f"read_cached_{PARTS - 1}": 64} | more, dtype=float)


def test_what_enters_the_far_node_by_itself_is_told_from_what_is_demoted():
    found = pages.kernel_shares(Tiers(), said())
    expected = {"size": 40, "far": 25, "demoted": 50, "stale": 0, "by naps": 25, "direct": 10}
    assert found == expected
    timed = pages.kernel_shares(
        Tiers(near_mib=300, far_mib=200, turnovers=1), said(read_ms=52428.8)
    )
    assert timed == {**expected, "MB/s": 10}


def test_stale_is_what_one_lru_of_that_size_would_have_let_go():
    params = Tiers(near_mib=256, far_mib=128, turnovers=1)
    each = 2 * 384 * 256 // PARTS
    cached = np.zeros(PARTS)
    cached[-2:] = each
    assert pages.stale(cached, params) == 0
    cached[-2:] = each, each / 2
    assert pages.stale(cached, params) == pytest.approx(100 / 3), "half a part of one and a half"
    cached[-1], cached[0] = each, each
    assert pages.stale(cached, params) == pytest.approx(100 / 3)


@pytest.mark.parametrize("name", pages.SETTINGS)
def test_each_setting_has_a_name(name):
    assert pages.setting(Tiers(**pages.SETTINGS[name])) == name


def test_a_range_is_least_and_most():
    each = pd.DataFrame({"far": [10.4, 12.6], "stale": [3.2, 2.9], "direct": [np.nan, np.nan]})
    assert each.agg(pages._range).tolist() == ["10-13", "3", ""]


def test_what_is_beyond_blocks_is_counted_per_zone_and_without_demotion(monkeypatch):
    wide = pd.DataFrame([said(read_pgalloc_dma32=3 * 512 + 7, read_pgalloc_normal=1024)])
    runs = [("7.3.4", Tiers(demotion=demotion), wide) for demotion in (False, True)]
    monkeypatch.setattr(pages, "measured", lambda: runs)
    found = pages.beyond_blocks()
    assert found.reset_index().to_numpy().tolist() == [["7.3.4", 20, 7, 0]]


def test_runs_of_a_setting_are_one_row_whichever_record_has_them(monkeypatch):
    more = said(read_pgalloc_normal=350, **{f"read_cached_{PARTS - 1}": 128})
    runs = [("7.3.4", Tiers(), pd.DataFrame([each])) for each in (said(), more)]
    monkeypatch.setattr(pages, "measured", lambda: runs)
    found = pages.table()
    assert found.loc[("plain", "7.3.4"), ["runs", "far"]].tolist() == ["2", "25-40"]
    ages = pages.ages()
    assert len(ages) == PARTS and ages["cached"].iloc[-1] == round(100 * 96 / 8192, 1)

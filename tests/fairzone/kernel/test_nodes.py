"""Recorded runs on two nodes: where a nap of kswapd decides, one node's pages stay longer."""

import pandas as pd

from lorelab.fairzone.pages import kernel_views as views


def test_what_a_row_says():
    said = pd.Series(
        {
            "zone_0_dma_free": 100.0,
            "zone_0_dma32_free": 500.0,
            "zone_1_dma32_free": 400.0,
            "zone_0_dma_low": 5.0,
            "zone_0_dma_high": 10.0,
            "zone_0_dma32_low": 50.0,
            "zone_0_dma32_high": 75.0,
            "zone_1_dma32_low": 40.0,
            "zone_1_dma32_high": 60.0,
            "read_pages_of_node0": 900.0,
            "read_pages_of_node1": 300.0,
            "read_kswapd_high_wmark_hit_quickly": 3.0,
            "read_pageoutrun": 4.0,
        }
    )
    expected = {"a nap": 0.5, "size": 40.0, "share": 25.0, "residency": 2.0, "by naps": 75.0}
    assert views._nodes(said, 25) == expected


def test_the_inversion_is_there_where_the_nap_decides():
    table = views.nodes().query("mode == 'unpatched'")
    inside = table["a nap"].between(0.2, 0.65)
    assert inside.sum() >= 3 and (~inside).any()
    assert (table[inside]["residency"] > 1.3).all()
    # That a nap decides means that most runs of kswapd begin at the end of one.
    assert (table[inside]["by naps"] > 50).all()
    assert (table[~inside]["residency"] < 1.1).all() and (table[~inside]["by naps"] < 5).all()

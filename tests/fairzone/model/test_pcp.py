"""Page lists of a CPU: their sizes in a guest, and how they are filled and emptied."""

import numpy as np
import pytest

from lorelab.fairzone.experiments import reread
from lorelab.fairzone.model import pcp
from lorelab.fairzone.params import Reread
from lorelab.numbers import U

MANAGED = [3840, 8943, 58683]
MARKS = [(38, 47, 56), (90, 112, 134), (594, 742, 890)]
RESERVES = np.array([[0, 0, 261], [0, 0, 229], [0, 0, 0]])
"""Of the guest of 384 MiB whose runs are recorded."""
NORMAL = 2


@pytest.fixture
def node():
    return reread.node_of(Reread(), MANAGED, MANAGED, MARKS, RESERVES)


def pages(node) -> list[int]:
    zone = node.zone
    return (zone["free"] + zone["free_diff"] + zone["pcp_count"]).tolist()


def test_lists_are_as_large_as_the_guest_says(node):
    # /proc/zoneinfo there: batch 1, 1 and 15; high of a zone under pressure 47, 112 and 742.
    assert node.zone["pcp_batch"].tolist() == [1, 1, 15]
    assert node.zone["pcp_high_min"].tolist() == [47, 112, 742]
    assert node.zone["pcp_high_max"].tolist() == [480, 1117, 7335]
    assert node.zone["free_threshold"].tolist() == node.zone["threshold"].tolist() == [2, 2, 4]


def test_a_list_is_filled_with_twice_as_much_each_time(node):
    zone = node.zone[NORMAL : NORMAL + 1]
    zone["below_high"] = 1
    filled = []
    for _ in range(400):
        if zone["pcp_count"][0] == 0:
            before = pages(node)[NORMAL]
            pcp.rmqueue_pcplist(zone[0])
            filled.append(int(zone["pcp_count"][0]) + 1)
            assert pages(node)[NORMAL] == before - 1
        else:
            pcp.rmqueue_pcplist(zone[0])
    assert filled == [15, 30, 60, 120, 240]


def test_while_kswapd_is_awake_a_list_is_kept_short(node):
    node.zone["reclaim_active"] = 1
    before = pages(node)
    for _ in range(300):
        for z in range(3):
            pcp.free_page(node, U(z))
    assert pages(node) == [count + 300 for count in before]
    assert (node.zone["pcp_count"] < 4 * node.zone["pcp_batch"]).all()


def test_a_zone_far_from_its_marks_keeps_what_is_freed(node):
    for _ in range(40):
        pcp.free_page(node, U(0))
    assert node.zone["pcp_count"][0] == 40
    pcp.drain_all_pages(node)
    pcp.quiet_vmstat(node)
    assert (node.zone["pcp_count"][0], node.zone["free"][0]) == (0, MANAGED[0] + 40)
    assert not node.zone["free_diff"].any()


def test_a_list_with_a_batch_of_one_page_has_none_to_spare(node):
    """nr_pcp_alloc() rounds a batch up to 2 only where it is more than 1 (mm/page_alloc.c)."""
    pcp.rmqueue_pcplist(node.zone[0])
    assert node.zone["pcp_count"][0] == 0


def test_a_list_takes_no_more_than_is_free(node):
    """What the CPU has not folded yet is counted, too: 3 pages less 1."""
    zone = node.zone[NORMAL : NORMAL + 1]
    zone["free"], zone["free_diff"] = 3, -1
    pcp.rmqueue_pcplist(zone[0])
    assert zone["pcp_count"][0] + 1 == 2
    assert zone["free"][0] + zone["free_diff"][0] == 0

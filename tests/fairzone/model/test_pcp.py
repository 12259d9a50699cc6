"""Page lists of a CPU: their sizes in a guest, and how they are filled and emptied."""

import numpy as np
import pytest

from lorelab.fairzone.experiments import reread
from lorelab.fairzone.model import pcp
from lorelab.fairzone.params import Reread

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


def taken(zone, which=pcp.CACHE, pages=1) -> int:
    """Pages that the lists got of the zone as a block was taken."""
    before = int(zone["free"] + zone["free_diff"])
    pcp.rmqueue_pcplist(zone, which, pages)
    return before - int(zone["free"] + zone["free_diff"])


def test_lists_are_as_large_as_the_guest_says(node):
    # /proc/zoneinfo there: batch 1, 1 and 15.
    assert node.zone["pcp_batch"].tolist() == [1, 1, 15]
    assert node.zone["free_threshold"].tolist() == node.zone["threshold"].tolist() == [2, 2, 4]


def test_a_list_is_filled_with_twice_as_much_up_to_three_batches(node):
    zone = node.zone[NORMAL]
    filled = [taken(zone) for _ in range(400)]
    assert [pages for pages in filled if pages][:5] == [15, 30, 45, 45, 45]
    assert sum(filled) - zone["pcp_count"] == 400


def test_what_is_on_another_list_leaves_less_room(node):
    """A list is filled to three batches of all that the CPU has, but with a batch at least."""
    zone = node.zone[NORMAL]
    zone["pcp_alloc_factor"] = 5
    assert taken(zone, pcp.HEADS) == 45
    assert (zone["pcp_count"], zone["pcp_heads"]) == (44, 44)
    assert taken(zone) == 15
    assert (zone["pcp_count"], zone["pcp_heads"]) == (58, 44)


@pytest.mark.parametrize(("others", "filled", "factor"), [(15, 30, 2), (16, 29, 1)])
def test_a_list_that_has_just_the_room_is_filled_with_more_next_time(node, others, filled, factor):
    zone = node.zone[NORMAL]
    zone["pcp_alloc_factor"] = 1
    zone["pcp_count"] = zone["pcp_heads"] = others
    assert taken(zone) == filled
    assert zone["pcp_alloc_factor"] == factor


def test_pairs_come_half_a_batch_at_once(node):
    zone = node.zone[NORMAL]
    assert taken(zone, pcp.NODES, 2) == 14
    assert (zone["pcp_count"], zone["pcp_nodes"]) == (12, 12)
    assert [taken(zone, pcp.NODES, 2) for _ in range(7)] == [0] * 6 + [14]
    assert taken(node.zone[0], pcp.NODES, 2) == 2
    node.zone["pcp_batch"][1] = 3
    assert taken(node.zone[1], pcp.NODES, 2) == 4, "half of 3 is one pair, but two are the least"


def test_a_list_of_four_batches_gives_back_what_was_freed_last(node):
    """As many as were freed one after the other, between one batch and three."""
    zone = node.zone[NORMAL]
    before = pages(node)[NORMAL]
    for _ in range(59):
        pcp.free_unref_page(zone)
    assert zone["pcp_count"] == 59
    pcp.free_unref_page(zone)
    assert zone["pcp_count"] == 15
    assert pages(node)[NORMAL] == before + 60
    for _ in range(6):
        pcp.rmqueue_pcplist(zone, pcp.CACHE, 1)
    for _ in range(51):
        pcp.free_unref_page(zone)
    assert zone["pcp_count"] == 60 - 45


def test_pages_of_the_cache_go_first_and_a_pair_goes_whole(node):
    zone = node.zone[NORMAL]
    zone["pcp_count"], zone["pcp_heads"], zone["pcp_nodes"] = 12, 3, 4
    before = pages(node)[NORMAL]
    lists = []
    for count in (5, 2, 1, 1, 1):
        pcp.free_pcppages_bulk(zone, count)
        lists.append(tuple(int(zone[name]) for name in ("pcp_count", "pcp_heads", "pcp_nodes")))
    assert lists == [(7, 3, 4), (5, 1, 4), (4, 0, 4), (2, 0, 2), (0, 0, 0)]
    assert pages(node)[NORMAL] == before


def test_all_of_it_can_be_given_back(node):
    zone = node.zone[NORMAL]
    for which, size in ((pcp.CACHE, 1), (pcp.HEADS, 1), (pcp.NODES, 2)):
        pcp.rmqueue_pcplist(zone, which, size)
    pcp.drain_all_pages(node)
    pcp.quiet_vmstat(node)
    assert node.zone["pcp_count"].tolist() == node.zone["pcp_nodes"].tolist() == [0, 0, 0]
    assert node.zone["free"].tolist() == [*MANAGED[:2], MANAGED[NORMAL] - 4]
    assert not node.zone["free_diff"].any()


def test_a_list_with_a_batch_of_one_page_has_none_to_spare(node):
    pcp.rmqueue_pcplist(node.zone[0], pcp.CACHE, 1)
    assert node.zone["pcp_count"][0] == 0


def test_a_list_takes_no_more_than_is_free(node):
    """What the CPU has not folded yet is counted, too: 3 pages less 1; a third makes no pair."""
    for which, size, free in ((pcp.CACHE, 1, 3), (pcp.NODES, 2, 4)):
        zone = node.zone[NORMAL]
        zone["free"], zone["free_diff"], zone["pcp_count"], zone["pcp_nodes"] = free, -1, 0, 0
        pcp.rmqueue_pcplist(zone, which, size)
        assert zone["pcp_count"] + size == 2
        assert zone["free"] + zone["free_diff"] == free - 3

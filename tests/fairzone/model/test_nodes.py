"""Two nodes whose pages are read once, against what follows by hand."""

import numpy as np
import pytest

from lorelab.fairzone.model import nodes
from lorelab.numerics import U

ZONELIST = [1, 0, 2]
RATE = 30 * 1024


def zones(free=(0, 1000, 800), low=(10, 100, 80), reserve=(40, 0, 0)):
    found = np.zeros(3, nodes.ZONE)
    found["node"] = [0, 0, 1]
    found["free"], found["low"], found["reserve"] = free, low, reserve
    found["min"] = [n // 2 for n in low]
    found["high"] = [n + n // 4 for n in low]
    return found


def made(every_zone=False, nap=0, **given):
    return nodes.make(zones(**given), ZONELIST, nap, every_zone)


def test_node_0_is_filled_down_to_low_before_node_1_gives_a_page():
    mm = made()
    nodes.read(mm, U(900), U(1), RATE)
    assert mm.zone["allocated"].tolist() == [0, 900, 0]
    nodes.read(mm, U(1), U(1), RATE)
    assert mm.zone["allocated"].tolist() == [0, 900, 1]


def test_a_reserve_keeps_dma_from_the_class_to_the_page():
    mm = made(free=(60, 100, 800))
    nodes.read(mm, U(10), U(1), RATE)
    assert mm.zone["allocated"].tolist() == [10, 0, 0], "free 60, low 10 and 40 of reserve"
    nodes.read(mm, U(1), U(1), RATE)
    assert mm.zone["allocated"].tolist() == [10, 0, 1]


@pytest.mark.parametrize(
    ("free", "one", "every"),
    [
        ((53, 50, 0), True, False),
        ((52, 50, 0), False, False),
        ((13, 126, 0), True, True),
        ((13, 125, 0), False, False),
    ],
)
def test_balanced_is_one_zone_with_its_reserve_or_every_zone_without(free, one, every):
    for rule, expected in ((False, one), (True, every)):
        assert nodes.pgdat_balanced(made(rule, free=free), U(0)) == expected


def test_the_oldest_page_goes_first_whatever_its_zone():
    mm = made(free=(61, 101, 0))
    nodes.read(mm, U(3), U(1), RATE)  # the first of DMA32, then two of DMA
    assert mm.zone["free"].tolist() == [59, 100, 0]
    assert nodes.shrink_inactive_list(mm, U(0), U(2)) == 2
    assert mm.zone["free"].tolist() == [60, 101, 0]
    assert nodes.shrink_inactive_list(mm, U(0), U(5)) == 1, "as many as there are"


def test_a_nap_ends_in_a_run_of_its_own_only_below_high():
    for free, naps in ((126, 0), (125, 1)):
        mm = made(free=(0, free, 800), nap=10)
        mm.kswapd["state"][0], mm.kswapd["nap"][0] = 1, 10
        nodes.nap(mm, U(0), U(9))
        assert mm.kswapd["nap"][0] == 1 and mm.kswapd["high_wmark_hit_quickly"][0] == 0
        nodes.nap(mm, U(0), U(1))
        assert mm.kswapd["high_wmark_hit_quickly"][0] == naps


def test_a_wakeup_out_of_a_nap_is_counted_and_a_balanced_node_sleeps_on():
    mm = made(free=(0, 100, 101))
    mm.kswapd["state"][0] = 1
    nodes.wake_all_kswapds(mm)
    assert mm.kswapd["woken"].tolist() == [1, 0]
    assert mm.kswapd["low_wmark_hit_quickly"].tolist() == [1, 0]


def test_pages_are_neither_made_nor_lost():
    mm = made(nap=40, free=(60, 1000, 800))
    assert nodes.read(mm, U(20_000), U(32), RATE) == 20_000
    assert mm.zone["free"].sum() + mm.ring[:, 1].sum() == 1860
    assert mm.zone["allocated"].sum() == 20_000


def test_where_nothing_can_be_given_the_read_ends():
    mm = made(free=(0, 40, 30))
    assert nodes.read(mm, U(10), U(1), RATE) == 0


def test_a_spread_moves_naps_both_ways_and_no_further():
    mm = nodes.make(zones(), ZONELIST, 100, False, 25, 7)
    drawn = set()
    for _ in range(400):
        nodes.kswapd_try_to_sleep(mm, U(0))
        drawn.add(int(mm.kswapd["nap"][0]))
    assert min(drawn) == 75 and max(drawn) == 125


@pytest.mark.parametrize(
    ("high", "left", "goes_on", "priority"),
    [(32, 64, 0, 5), (33, 64, 1, 5), (32, 32, 0, 5), (33, 32, 0, 4), (31, 64, 0, 5)],
)
def test_a_round_ends_with_as_many_pages_as_are_wanted(high, left, goes_on, priority):
    """A cluster of 32 at least; one that came to fewer is followed by a harder one."""
    mm = made()
    mm.zone["high"][2] = high
    mm.lru[1, :100], mm.ring[1] = 2, (0, 100)
    one = {"state": nodes.AWAKE, "round": 1, "to_scan": left, "priority": 5, "credit": 32 * 1024}
    for name, value in one.items():
        mm.kswapd[name][1] = value
    nodes.balance_pgdat(mm, U(1))
    assert (mm.kswapd["round"][1], mm.kswapd["priority"][1]) == (goes_on, priority)
    assert (mm.kswapd["reclaimed"][1], mm.kswapd["credit"][1]) == (32, 0)


def test_uneven_turns_have_1_to_twice_the_burst_less_1_pages():
    mm = nodes.make(zones(free=(0, 10_000, 800)), ZONELIST, 0, uneven=True)
    assert {int(nodes.read(mm, U(1), U(4), RATE)) for _ in range(200)} == set(range(1, 8))

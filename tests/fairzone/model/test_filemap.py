"""The page cache on a machine of 64 pages: who is on which list, and what the disk did."""

import numpy as np
import pytest

from lorelab.fairzone.model import filemap, pcp, zones
from lorelab.fairzone.model.lru import ACTIVE, INACTIVE
from lorelab.fairzone.model.vmscan import ASLEEP, NAPPING, try_to_free_pages
from lorelab.fairzone.model.zones import DIRECT_RECLAIMS
from lorelab.fairzone.params import Variant
from lorelab.fairzone.workload.files import scattered, where_cached
from lorelab.numerics import U

CPU = U(0)


def machine(pages=40, managed=(30, 34), variant=Variant.OFF, slabs=False):
    """All free, with no watermarks, so that nothing is reclaimed."""
    node = zones.make(list(managed), variant, 1, 0, True)
    node.zone["min"] = node.zone["low"] = node.zone["high"] = 0
    node.lowmem_reserve[:] = 0
    return filemap.make(node, pages, slabs=slabs)


def listed(mm, lru, which):
    """Pages of a list, from the head to the tail, by following `next`, and again by `prev`."""
    head = len(mm.frames.flags) + 2 * lru + which
    ways = []
    for links in (mm.frames.next, mm.frames.prev):
        walk = [int(links[head])]
        while walk[-1] != head:
            walk.append(int(links[walk[-1]]))
            assert len(walk) <= len(mm.frames.flags)
        ways.append([int(mm.frames.index[frame]) for frame in walk[:-1]])
    assert ways[0] == ways[1][::-1]
    assert len(ways[0]) == mm.frames.nr[lru, which]
    return ways[0]


def every_list(mm):
    return {
        (lru, which): listed(mm, lru, which)
        for lru in range(len(mm.frames.nr))
        for which in (int(INACTIVE), int(ACTIVE))
    }


def test_pages_come_onto_the_inactive_list_of_their_zone_newest_first():
    mm = machine()
    filemap.write_page(mm, CPU, U(3))
    filemap.write_page(mm, CPU, U(4))
    # The highest zone serves first.
    assert every_list(mm) == {(0, 0): [], (0, 1): [], (1, 0): [4, 3], (1, 1): []}
    assert list(mm.node.zone["dirty"]) == [0, 2]
    assert list(mm.node.zone["free"]) == [30, 32]
    assert list(mm.dirtied[:2]) == [3, 4]


@pytest.mark.parametrize("lru", [0, 1])
def test_the_second_access_activates_and_the_third_refers(lru):
    mm = machine(managed=(30, 34) if lru else (64, 0))
    for page in (7, 8):
        filemap.write_page(mm, CPU, U(page))
    assert listed(mm, lru, 1) == []
    filemap.write_page(mm, CPU, U(7))
    assert (listed(mm, lru, 0), listed(mm, lru, 1)) == ([8], [7])
    frame = U(mm.map[7]) - U(1)
    flags = mm.frames.flags
    assert flags[frame] & filemap.PG_ACTIVE and not flags[frame] & filemap.PG_REFERENCED
    assert flags[frame] & filemap.PG_DIRTY
    filemap.write_page(mm, CPU, U(7))
    assert flags[frame] & filemap.PG_ACTIVE and flags[frame] & filemap.PG_REFERENCED
    assert listed(mm, lru, 1) == [7]
    assert mm.ring[1] == 2
    assert mm.frames.inactive_age[lru] == 1


def test_readahead_reads_what_is_absent_and_nothing_beyond_the_end():
    mm = machine()
    filemap.write_page(mm, CPU, U(5))
    assert filemap.do_page_cache_readahead(mm, CPU, U(4), U(8), U(10)) == 5
    assert list(mm.disk) == [5, 0]
    assert [page for page in range(40) if mm.map[page]] == [4, 5, 6, 7, 8, 9]
    assert filemap.do_page_cache_readahead(mm, CPU, U(4), U(8), U(10)) == 0


def test_writeback_goes_by_age_and_takes_what_reclaim_met_to_the_tail():
    mm = machine()
    for page in (1, 2, 3):
        filemap.write_page(mm, CPU, U(page))
    first = U(mm.map[2]) - U(1)
    mm.frames.flags[first] |= filemap.PG_RECLAIM
    filemap.writeback(mm, U(2))
    assert list(mm.disk) == [0, 2]
    assert list(mm.node.zone["dirty"]) == [0, 1]
    assert listed(mm, 1, 0) == [3, 1, 2]
    assert not mm.frames.flags[first] & (filemap.PG_DIRTY | filemap.PG_RECLAIM)
    assert (mm.ring[0], mm.ring[1]) == (2, 1)
    filemap.balance_dirty_pages(mm, U(1))
    assert mm.ring[1] == 1
    filemap.balance_dirty_pages(mm, U(0))
    assert (mm.ring[1], mm.disk[1]) == (0, 3)


def test_dropped_caches_leave_dirty_pages_and_nothing_else():
    mm = machine()
    for page in (1, 2, 2):
        filemap.write_page(mm, CPU, U(page))
    filemap.writeback(mm, U(2))
    filemap.write_page(mm, CPU, U(3))
    mm.map[9] = filemap.SHADOW + 5
    filemap.drop_caches(mm)
    assert np.flatnonzero(mm.map).tolist() == [3]
    assert every_list(mm) == {(0, 0): [], (0, 1): [], (1, 0): [3], (1, 1): []}
    assert list(mm.node.zone["free"]) == [30, 33]
    # The frames serve again.
    taken = [filemap.write_page(mm, CPU, U(page)) for page in range(10, 40)]
    assert sum(taken) == 30
    assert len({int(mm.map[page]) for page in range(10, 40)}) == 30


def test_half_way_from_background_to_limit_a_writer_may_go_on():
    mm = machine(managed=(4000, 6000))
    mm.node.info["dirty_ratio"] = 20
    # 20 % of 10000 pages is the limit, and half of it the background.
    mm.node.zone["dirty_reserve"] = 0
    assert filemap.dirty_freerun(mm) == 1500


def test_where_pages_are_cached_by_part_of_the_file_and_by_zone():
    mm = machine(pages=40, managed=(30, 10))
    for page in (*range(8), 39):
        filemap.write_page(mm, CPU, U(page))
    found = where_cached(mm, 4)
    assert found.sum(axis=1).tolist() == [8, 0, 0, 1]
    assert found.sum(axis=0).tolist() == (mm.node.zone["managed"] - mm.node.zone["free"]).tolist()
    assert found[3].sum() == 1


def test_buffer_heads_lie_in_slabs_and_nodes_of_the_file_in_others():
    """39 buffer heads of 104 bytes to a page; the nodes of 896 pages of the file take two pages."""
    mm = machine(slabs=True)
    filemap.write_page(mm, CPU, U(0))
    assert (mm.slab["nr"][0], mm.slab["free"][0]) == (1, 38)
    assert list(mm.node.zone["free"]) == [30, 34 - (1 + 1 + 2)]
    filemap.write_page(mm, CPU, U(0))
    assert mm.slab["free"][0] == 38, "a page has one buffer head, however often it is written"
    for page in range(1, 39):
        filemap.write_page(mm, CPU, U(page))
    assert (mm.slab["nr"][0], mm.slab["free"][0]) == (1, 0)
    filemap.write_page(mm, CPU, U(39))
    assert (mm.slab["nr"][0], mm.slab["free"][0]) == (2, 38)
    assert mm.node.zone["free"].sum() == 64 - (40 + 2 + 2)
    assert filemap.do_page_cache_readahead(mm, CPU, U(0), U(40), U(40)) == 0


def test_a_page_that_is_dropped_gives_its_buffer_head_back():
    """SLUB keeps 12 empty slabs; the oldest goes with the first buffer head beyond them."""
    mm = machine(pages=14 * 39, managed=(300, 400), slabs=True)
    for page in range(14 * 39):
        filemap.write_page(mm, CPU, U(page))
    assert (mm.slab["nr"][0], mm.slab["free"][0]) == (14, 0)
    oldest = [int(frame) for frame in mm.slabs[:2]]
    filemap.writeback(mm, mm.ring[1])
    filemap.drop_caches(mm)
    assert (mm.slab["nr"][0], mm.slab["free"][0], mm.slab["first"][0]) == (13, 13 * 39, 1)
    # What is left are 13 slabs of buffer heads and one of nodes.
    assert mm.node.zone["free"].sum() == 700 - 13 - 2
    free = set()
    for z, frame in enumerate(mm.frames.free_head.tolist()):
        while frame < mm.frames.start[z + 1]:
            free.add(int(frame))
            frame = mm.frames.next[frame]
    assert oldest[0] in free and oldest[1] not in free
    assert len(free) == mm.node.zone["free"].sum()


def test_a_writer_waits_until_as_many_are_dirty_as_may_be():
    mm = machine()
    for page in range(5):
        filemap.write_page(mm, CPU, U(page))
    filemap.balance_dirty_pages(mm, U(3))
    assert (mm.ring[1], mm.disk[1]) == (3, 2)


def test_a_nap_is_as_long_as_the_disk_takes_for_its_pages():
    mm = machine()
    mm.kswapd["state"], mm.kswapd["nap"] = NAPPING, 100
    filemap.pace(mm, U(30), 0)
    assert (mm.kswapd["state"][0], mm.kswapd["nap"][0]) == (NAPPING, 70)
    filemap.pace(mm, U(70), 0)
    # All zones are above high, so that it sleeps on.
    assert mm.kswapd["state"][0] == ASLEEP


def test_what_a_program_takes_for_itself_takes_its_time_and_comes_back():
    """A nap goes on by one page of the disk for each; the frames are on no list, and free again."""
    mm = machine()
    mm.kswapd["state"], mm.kswapd["nap"], mm.kswapd["at_once"] = NAPPING, 100, 1
    frames = np.zeros(40, np.uint32)
    filemap.take_own(mm, frames)
    assert mm.kswapd["nap"][0] == 60
    assert mm.node.zone["free"].tolist() == [24, 0]
    assert sorted(frames) == [*range(6), *range(30, 64)]
    assert not mm.frames.nr.any()
    filemap.give_own(mm, frames)
    assert mm.node.zone["free"].tolist() == [30, 34]
    # The last one back serves first, so that the page cache gets the same frames.
    assert filemap.do_page_cache_readahead(mm, CPU, U(0), U(40), U(40)) == 40
    assert sorted(mm.map.tolist()) == [frame + 1 for frame in sorted(frames.tolist())]


def test_direct_reclaim_goes_on_until_a_whole_list_was_looked_at():
    """Of 40 pages priorities 5 to 0 look at 1, 2, 4, 8, 12 and then at what is left."""
    mm = machine(managed=(0, 64))
    filemap.do_page_cache_readahead(mm, CPU, U(0), U(40), U(40))
    assert try_to_free_pages(mm) == 40
    assert mm.node.zone["free"][0] == 64
    assert not filemap.is_cached(mm, U(0))


def test_pages_that_are_read_at_random_are_accessed():
    """Of a file of one page: read, referenced, active."""
    mm = machine(pages=1)
    scattered(mm, U(2), U(1), U(7), 0, False)
    assert (listed(mm, 1, 0), listed(mm, 1, 1)) == ([], [0])
    assert list(mm.disk) == [1, 0]


def test_one_zone_with_lists_of_its_cpu_is_enough():
    """What direct reclaim frees lies on the list, and is there again once that is drained."""
    node = zones.make([400], Variant.NODE_LRU, 2, exact=True, marks=[(100, 110, 120)])
    pcp.zone_set_pageset_high_and_batch(node, 1)
    mm = filemap.make(node, 600)
    for page in range(600):
        filemap.do_page_cache_readahead(mm, CPU, U(page), U(1), U(600))
    zone = mm.node.zone[0]
    cached = int(np.sum((mm.map > 0) & (mm.map < filemap.SHADOW)))
    assert zone["free"] + zone["free_diff"] + zone["pcp_count"] + cached == 400
    assert mm.node.count[DIRECT_RECLAIMS] > 0
    assert filemap.is_cached(mm, U(599)) and not filemap.is_cached(mm, U(0))

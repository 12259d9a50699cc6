"""Both sides of bounds that random calls seldom come to."""

import pytest

from lorelab.numerics import U
from lorelab.swap.model import scan, swap_slots, v7_2
from lorelab.swap.model.state import NR_HEADS, swapon, vm_swap_full
from lorelab.swap.model.swap_slots import folio_alloc_swap, swap_entry_range_free
from lorelab.swap.params import AllocMode, Variant

TRUNK = 1 << 14


@pytest.mark.parametrize(("free", "full"), [(50, False), (49, True)])
def test_an_area_is_full_below_one_half(free, full):
    si = swapon(101, Variant.V6_12)
    si.info["nr_swap_pages"] = free
    assert vm_swap_full(si) == full


def test_the_slot_cache_is_on_above_320_slots_a_cpu_until_there_are_less_than_128():
    si = swapon(4 * 512, Variant.V6_12, cpus=2)
    steps = [(640, 0), (641, 1), (640, 1), (256, 1), (255, 0), (256, 0), (640, 0), (641, 1)]
    for free, active in steps:
        si.info["nr_swap_pages"] = free
        assert swap_slots._check_cache_active(si) == active
        assert si.info["swap_slot_cache_active"][0] == active


@pytest.mark.parametrize(
    ("variant", "offset", "nr", "kept"),
    [
        (Variant.V6_12, 1020, 4, 0),  # to the cluster's end
        (Variant.V6_12, 1020, 5, 5),  # and over it
        (Variant.V6_12, 1022, 2, 0),
        (Variant.V6_12, 1023, 1, 1),
        (Variant.V6_10, 1020, 4, 4),
    ],
)
def test_a_row_of_slots_inside_a_cluster_goes_back_at_once(variant, offset, nr, kept):
    """6.12 does so from two slots on; the others wait in the free cache of the CPU."""
    si = swapon(8 * 512, variant, cpus=2)
    for _ in range(6 * 512):
        assert folio_alloc_swap(si, U(1), U(0))
    assert si.info["swap_slot_cache_active"][0]
    before = int(si.info["nr_swap_pages"][0])
    swap_slots.free_swap_and_cache_nr(si, U(1), U(offset), U(nr))
    assert si.n_ret.tolist() == [0, kept]
    assert si.info["nr_swap_pages"][0] == before + nr - kept


@pytest.mark.parametrize(("variant", "second"), [(Variant.V1, 528), (Variant.V2, 1024)])
def test_a_reserved_cluster_is_the_device_s_or_one_cpu_s(variant, second):
    si = swapon(4 * 512, variant, cpus=2, slot_cache=False)
    assert folio_alloc_swap(si, U(0), U(4)) == 512
    assert folio_alloc_swap(si, U(1), U(4)) == second


def test_promoted_clusters_of_any_higher_order_serve_an_order():
    """Half of cluster 1 is free again: it is listed under order 8, the highest, and serves 4."""
    si = swapon(2 * 512, Variant.HUANG_PROMOTE, slot_cache=False)
    given = [int(folio_alloc_swap(si, U(0), U(4))) for _ in range(32)]
    assert given == list(range(512, 1024, 16))
    for offset in given[16:]:
        swap_entry_range_free(si, U(offset), U(16))
    assert si.cluster_info[1]["order"] == 8
    assert folio_alloc_swap(si, U(0), U(4)) == 768
    assert si.cluster_info[1]["order"] == 4


@pytest.mark.parametrize(("pages", "read"), [(513, 512), (512, 0)])
def test_a_rotational_device_looks_for_a_run_where_there_are_512_free_slots(pages, read):
    """Of 513 pages the header is one, and the run ends at the last."""
    si = swapon(pages, Variant.V6_6, slot_cache=False, rotational=True)
    assert folio_alloc_swap(si, U(0), U(0)) == 1
    assert si.scanned[0] == read


@pytest.mark.parametrize(
    ("lowest", "highest", "expected"),
    [
        (6 * TRUNK - 1, 6 * TRUNK, {6 * TRUNK - 1, 6 * TRUNK}),
        (5 * TRUNK, 5 * TRUNK, {TRUNK - 1}),
    ],
)
def test_a_trunk_is_drawn_from_the_lowest_free_slot_to_the_highest(lowest, highest, expected):
    """With both, where there are two; with one alone nothing is drawn, and the CPU stays."""
    si = swapon(8 * TRUNK, Variant.V6_6)
    si.info["lowest_bit"], si.info["highest_bit"] = lowest, highest
    found = set()
    for _ in range(40):
        si.cluster_next_cpu[0] = TRUNK - 1
        scan._set_cluster_next(si, U(0), U(TRUNK + 7))
        found.add(int(si.cluster_next_cpu[0]))
    assert found == expected


@pytest.mark.parametrize("slot", [1, 700, 1023])
def test_the_linear_scan_finds_the_one_free_slot(slot):
    """The first, one in the middle, and the last; order 0 of 6.6, without a free cluster."""
    si = swapon(2 * 512, Variant.V6_6, slot_cache=False)
    for _ in range(1023):
        assert folio_alloc_swap(si, U(0), U(0))
    assert folio_alloc_swap(si, U(0), U(0)) == 0
    si.cluster_next_cpu[0] = 600
    swap_entry_range_free(si, U(slot), U(1))
    assert folio_alloc_swap(si, U(0), U(0)) == slot
    assert si.info["highest_bit"][0] == 0


def full(variant=Variant.V6_6, clusters=2, **given):
    """An area whose slots are all taken, and the CPU's cache of them empty."""
    si = swapon(clusters * 512, variant, **given)
    while folio_alloc_swap(si, U(0), U(0)):
        pass
    return si


def give_back(si, *slots):
    for slot in slots:
        swap_entry_range_free(si, U(slot), U(1))


def rotational(taken, at, left):
    """A device without clusters: slots below `taken` are, and it goes on at `at`."""
    si = swapon(4 * 512, Variant.V6_6, rotational=True)
    si.swap_map[1:taken] = 1
    si.info["inuse_pages"], si.info["nr_swap_pages"] = taken - 1, 4 * 512 - taken
    si.info["cluster_next"], si.info["cluster_nr"] = at, left
    return si


def batch(si):
    """What an allocation of one slot takes for the CPU's cache."""
    assert folio_alloc_swap(si, U(0), U(0))
    return si.slots[0, : int(si.slots_nr[0]) + 1].tolist()


@pytest.mark.parametrize(("slot", "found"), [(599, 599), (600, 0), (601, 601)])
def test_the_linear_scan_leaves_out_the_slot_that_it_begins_at(slot, found):
    si = full(slot_cache=False)
    give_back(si, slot)
    si.cluster_next_cpu[0] = 600
    assert folio_alloc_swap(si, U(0), U(0)) == found


def test_a_linear_scan_that_finds_nothing_goes_round_once():
    si = full(slot_cache=False)
    give_back(si, 600)
    si.info["lowest_bit"], si.info["highest_bit"], si.cluster_next_cpu[0] = 1, 1023, 600
    si.scanned[0] = 0
    assert folio_alloc_swap(si, U(0), U(0)) == 0
    assert si.scanned[0] == 1023 - 1


@pytest.mark.parametrize(("free", "first"), [(511, 0), (512, 100)])
def test_a_run_behind_a_slot_in_use_has_512_slots(free, first):
    si = swapon(4 * 512, Variant.V6_6, rotational=True)
    si.swap_map[99], si.swap_map[100 + free :] = 1, 1
    si.info["highest_bit"] = 4 * 512 - 1
    assert scan._empty_run(si)[0] == first


def test_a_device_without_clusters_goes_on_at_the_last_free_slot():
    si = rotational(taken=1, at=4 * 512 - 1, left=5)
    assert folio_alloc_swap(si, U(0), U(0)) == 4 * 512 - 1


@pytest.mark.parametrize(("taken", "left"), [(511, 4), (512, 3), (513, 2)])
def test_what_a_scan_reads_is_taken_off_the_ration(taken, left):
    """256, and from -1 on 257 more: of 511 slots read two are left, and one for the first."""
    si = rotational(taken, at=1, left=500)
    assert batch(si) == list(range(taken, taken + left))


def test_a_batch_goes_on_behind_slots_in_use():
    """The slot that it began at is not where that search ends."""
    si = rotational(taken=1, at=10, left=1)
    si.swap_map[11:13] = 1
    assert batch(si)[:2] == [10, 13]


@pytest.mark.parametrize(("second", "taken"), [(352, [100, 352]), (353, [100])])
def test_a_batch_ends_where_the_ration_does(second, taken):
    """One for the slot, one that was read before it; 253 more may be read."""
    si = full(clusters=4)
    give_back(si, 100, second)
    si.info["nr_swap_pages"], si.cluster_next_cpu[0] = 700, 99  # as many as the cache wants
    assert batch(si) == taken


@pytest.mark.parametrize(
    ("base", "taken"),
    [
        (649, [900, 902]),  # 251 are read before the first, and three more
        (648, [900]),
        (500, [900]),  # 400, more than the ration: it ends here, though 113 are left of the next
    ],
)
def test_who_read_as_much_as_the_ration_takes_one_slot(base, taken):
    si = full(clusters=4)
    give_back(si, 900, 902)
    si.info["nr_swap_pages"], si.cluster_next_cpu[0] = 700, base
    assert batch(si) == taken


def test_having_come_round_a_batch_ends_with_the_slot_that_it_began_at():
    si = full(clusters=4)
    give_back(si, 50, 100)
    si.info["nr_swap_pages"], si.cluster_next_cpu[0] = 700, 100
    assert batch(si) == [50, 100]


@pytest.mark.parametrize(("order", "found"), [(1, 0), (2, 512)])
def test_clusters_are_reserved_from_order_2_on(order, found):
    si = swapon(4 * 512, Variant.V1, slot_cache=False)
    assert folio_alloc_swap(si, U(0), U(order)) == found


@pytest.mark.parametrize(("free", "looks"), [(15, 0), (16, 1)])
def test_nobody_looks_for_more_slots_than_are_free(free, looks):
    si = swapon(2 * 512, Variant.V6_12, slot_cache=False)
    si.info["nr_swap_pages"] = free
    assert bool(folio_alloc_swap(si, U(0), U(4))) == looks
    assert si.visited[4] == looks


@pytest.mark.parametrize("variant", [Variant.V6_12, Variant.V7_2])
def test_order_0_steals_of_the_highest_order_too(variant):
    si = swapon(2 * 512, variant, slot_cache=False)
    assert folio_alloc_swap(si, U(0), U(9)) == 512
    for _ in range(511):
        assert folio_alloc_swap(si, U(0), U(0)) < 512
    assert folio_alloc_swap(si, U(0), U(0)) == 0
    give_back(si, 700)
    assert folio_alloc_swap(si, U(0), U(0)) == 700


def test_a_cluster_that_was_tried_just_now_is_not_tried_again():
    """Nonfull clusters first: none is free, and the only one of order 4 has a slot and no range."""
    si = swapon(2 * 512, Variant.V6_12, slot_cache=False, alloc_mode=AllocMode.NONFULL_FIRST)
    for _ in range(32):
        assert folio_alloc_swap(si, U(0), U(4))
    give_back(si, 512)
    si.visited[4] = 0
    assert folio_alloc_swap(si, U(0), U(4)) == 0
    assert si.visited[4] == 1
    assert si.frag_cluster_nr[4] == 1


@pytest.mark.parametrize(("given", "slot"), [((3, 2), 512), ((2, 3), 1024), ((2, 2), 512)])
def test_the_fullest_cluster_is_the_first_of_those_that_are(given, slot):
    si = swapon(3 * 512, Variant.V7_2, stealing=True)
    si.info["stealing"] = v7_2.FULLEST
    for order, left in zip((4, 5), given, strict=True):
        for _ in range(512 >> order):
            assert folio_alloc_swap(si, U(0), U(order))
        first = 512 * (order - 3)
        for offset in range(first, first + 512 - left):
            give_back(si, offset)
    while si.cluster_info[0]["count"] < 512:
        assert folio_alloc_swap(si, U(0), U(0)) < 512
    assert folio_alloc_swap(si, U(0), U(0)) == slot


def test_no_range_of_the_highest_order_is_looked_for_in_a_promoted_cluster():
    """It would be the whole cluster, free then; nor does one of that order serve others."""
    si = swapon(2 * 512, Variant.HUANG_PROMOTE, slot_cache=False)
    assert [int(folio_alloc_swap(si, U(0), U(8))) for _ in range(2)] == [512, 768]
    read = int(si.scanned[8])
    swap_entry_range_free(si, U(512), U(256))
    assert (si.cluster_info[1]["order"], si.scanned[8]) == (8, read)
    swap_entry_range_free(si, U(768), U(256))
    assert folio_alloc_swap(si, U(0), U(9)) == 512
    swap_entry_range_free(si, U(512), U(16))
    assert si.cluster_info[1]["order"] == 9
    assert folio_alloc_swap(si, U(0), U(4)) == 0


def test_a_promoted_cluster_keeps_its_place_among_those_of_its_order():
    si = swapon(3 * 512, Variant.HUANG_PROMOTE, slot_cache=False)
    for _ in range(64):
        assert folio_alloc_swap(si, U(0), U(4))
    for offset in (512, 1024, 544):
        swap_entry_range_free(si, U(offset), U(16))
    assert folio_alloc_swap(si, U(0), U(4)) == 512


@pytest.mark.parametrize(("hole", "following"), [(1024, 1040), (1040, 1056), (1520, 0)])
def test_a_hole_is_searched_where_there_is_room_for_one_range(hole, following):
    """Ryan Roberts' pointer stays at the cluster; the next range, unless it ends there, is next."""
    si = swapon(4 * 512, Variant.RYAN_SCAN, slot_cache=False)
    for _ in range(96):
        assert folio_alloc_swap(si, U(0), U(4))
    swap_entry_range_free(si, U(hole), U(16))
    assert folio_alloc_swap(si, U(0), U(4)) == hole
    assert (si.scan_next[4], si.percpu_next[0, 4]) == (2, following)


def test_having_come_round_a_batch_reads_no_further_than_where_it_began():
    """Above that are 16 free slots of order 4, which order 0 may not take here."""
    si = swapon(2 * 512, Variant.V6_10, stealing=False)
    for _ in range(32):
        assert folio_alloc_swap(si, U(0), U(4)) >= 512
    while folio_alloc_swap(si, U(0), U(0)):
        pass
    swap_entry_range_free(si, U(512), U(16))
    give_back(si, 300)
    si.info["nr_swap_pages"], si.info["swap_slot_cache_active"] = 700, 0
    si.cluster_next_cpu[0], si.scanned[0] = 400, 0
    assert batch(si) == [300]
    # 401 to 527, and 300; then 300 to 400, and not the ration's 127.
    assert si.scanned[0] == 127 + 1 + 101


@pytest.mark.parametrize(("pages", "clusters"), [(1023, 2), (1024, 2), (1025, 3)])
def test_clusters_have_512_slots_or_the_last_less(pages, clusters):
    si = swapon(pages, Variant.V6_12)
    assert si.info["nr_clusters"][0] == len(si.cluster_info) - NR_HEADS == clusters


def test_of_65_freed_slots_64_go_back_and_one_waits():
    si = swapon(4 * 512, Variant.V6_12)
    slots = [folio_alloc_swap(si, U(0), U(0)) for _ in range(70)]
    before = int(si.info["nr_swap_pages"][0])
    for number, slot in enumerate(slots[:65], start=1):
        swap_slots.free_swap_slot(si, U(0), slot)
        assert si.n_ret[0] == (number if number < 65 else 1)
        assert si.info["nr_swap_pages"][0] == before + (64 if number == 65 else 0)


def test_a_cpu_that_is_drained_gives_back_what_nobody_has():
    si = swapon(4 * 512, Variant.V6_12)
    slots = [int(folio_alloc_swap(si, U(0), U(0))) for _ in range(3)]
    assert si.slots_cur[0] == 3 and si.slots_nr[0] == 61
    swap_slots.drain_slots_cache_cpu(si, U(0))
    assert si.info["inuse_pages"][0] == 3
    assert [slot for slot in range(1, 4 * 512) if si.swap_map[slot]] == slots


def test_a_cluster_that_the_device_ends_in_is_read_to_its_last_slot():
    """100 slots of it are there: six ranges of 16, and the four behind them are not asked for."""
    si = swapon(512 + 100, Variant.HUANG_PROMOTE, slot_cache=False)
    si.cluster_next_cpu[0] = 520
    assert folio_alloc_swap(si, U(0), U(0)) == 521
    give_back(si, 521)
    si.scanned[4] = 0
    given = [int(folio_alloc_swap(si, U(0), U(4))) for _ in range(7)]
    assert given == [*range(512, 608, 16), 0]
    assert si.scanned[4] == 6 * 16


@pytest.mark.parametrize("variant", [Variant.V6_12, Variant.V7_2])
def test_of_another_order_a_frag_cluster_comes_before_a_nonfull_one(variant):
    si = swapon(3 * 512, variant, slot_cache=False)
    for _ in range(63 if variant == Variant.V7_2 else 64):
        assert folio_alloc_swap(si, U(0), U(4)) >= 512
    while si.cluster_info[0]["count"] < 512:
        assert folio_alloc_swap(si, U(0), U(0)) < 512
    if variant == Variant.V6_12:
        give_back(si, 1520)
        assert folio_alloc_swap(si, U(0), U(4)) == 0  # tried in vain: it is a frag cluster now
    give_back(si, 512)
    assert folio_alloc_swap(si, U(0), U(0)) == 1520

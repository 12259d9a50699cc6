"""Both sides of bounds that random calls seldom come to."""

import pytest

from lorelab.numerics import U
from lorelab.swap.model import scan, swap_slots
from lorelab.swap.model.state import swapon, vm_swap_full
from lorelab.swap.model.swap_slots import folio_alloc_swap, swap_entry_range_free
from lorelab.swap.params import Variant

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

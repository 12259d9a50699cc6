"""The linear scan before 6.12, where clusters are: where a CPU's next one starts."""

import pytest

from lorelab.numerics import ONE, U
from lorelab.swap.model import scan
from lorelab.swap.model.state import swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap
from lorelab.swap.params import Variant

TRUNK = 1 << 14


def test_a_cpu_goes_on_behind_the_slot_it_took():
    si = swapon(4 * 512, Variant.V6_6, cpus=2, slot_cache=False)
    slot = folio_alloc_swap(si, U(1), U(0))
    assert si.cluster_next_cpu.tolist() == [1, slot + ONE]
    folio_alloc_swap(si, U(1), U(9))
    assert si.cluster_next_cpu.tolist() == [1, slot + ONE]


@pytest.mark.parametrize("lowest", [1, 5 * TRUNK])
def test_at_the_end_of_a_trunk_another_one_is_drawn(lowest):
    """set_cluster_next(): 64 MiB, from the start or from the lowest free slot in it."""
    si = swapon(8 * TRUNK, Variant.V6_6)
    si.info["lowest_bit"] = lowest
    found = set()
    for _ in range(40):
        si.cluster_next_cpu[0] = TRUNK - 1
        scan._set_cluster_next(si, U(0), U(TRUNK + 7))
        found.add(int(si.cluster_next_cpu[0]))
    assert found <= {lowest, *range(0, 8 * TRUNK, TRUNK)}
    assert min(found) == lowest and len(found) > 2
    si.cluster_next_cpu[0] = TRUNK + 1
    scan._set_cluster_next(si, U(0), U(TRUNK + 7))
    assert si.cluster_next_cpu[0] == TRUNK + 7


def test_a_full_device_draws_no_trunk():
    si = swapon(8 * TRUNK, Variant.V6_6)
    si.info["lowest_bit"], si.info["highest_bit"] = 8 * TRUNK, 0
    si.cluster_next_cpu[0] = TRUNK - 1
    scan._set_cluster_next(si, U(0), U(TRUNK + 7))
    assert si.cluster_next_cpu[0] == TRUNK - 1


def test_a_linear_scan_begins_behind_the_slot_it_starts_from():
    """scan: of scan_swap_map_slots() steps first, and looks then."""
    si = swapon(2 * 512, Variant.V6_6, slot_cache=False)
    for slot in range(512, 1024):
        assert folio_alloc_swap(si, U(0), U(0)) == slot
    si.cluster_next_cpu[0] = 5
    assert folio_alloc_swap(si, U(0), U(0)) == 6


def test_a_rotational_device_looks_for_512_free_slots_in_a_row_every_512_slots():
    """Each look reads as many; between two the slots are taken as they come, unread."""
    si = swapon(4 * 512, Variant.V6_6, slot_cache=False, rotational=True)
    for n in range(1, 514):
        assert folio_alloc_swap(si, U(0), U(0)) == n
        assert si.scanned[0] == (512 if n <= 512 else 1024)


def test_that_look_leaves_a_batch_of_three():
    """The 511 slots passed use up 257 of the latency ration, from 256 to -1, and 254 of the next.

    Of the 256 two are left, each of which allows one slot after the first.
    """
    si = swapon(4 * 512, Variant.V6_6, rotational=True)
    assert folio_alloc_swap(si, U(0), U(0)) == 1
    assert si.slots[0, :4].tolist() == [1, 2, 3, 0]
    assert si.slots_nr[0] == 2

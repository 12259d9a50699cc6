"""The current cluster of a CPU before 6.12: what is read, where it goes on, and when it is left."""

import pytest

from lorelab.numerics import U
from lorelab.swap.model.state import swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap, swap_entry_range_free
from lorelab.swap.params import Variant

BY_CURRENT = [Variant.V3, Variant.V6_10]


@pytest.mark.parametrize("variant", BY_CURRENT)
def test_it_goes_on_behind_what_it_gave_until_the_cluster_ends(variant):
    """32 ranges of 16 slots; each is read, and at the end of the cluster nothing comes next."""
    si = swapon(3 * 512, variant, slot_cache=False)
    for n in range(1, 33):
        assert folio_alloc_swap(si, U(0), U(4)) == 512 + 16 * (n - 1)
        assert si.percpu_next[0, 4] == (512 + 16 * n if n < 32 else 0)
        assert si.scanned[4] == 16 * n
    assert si.visited[4] == 32


@pytest.mark.parametrize(
    ("variant", "order"),
    [(Variant.V6_6, 0), *((variant, order) for variant in BY_CURRENT for order in (0, 4))],
)
def test_it_is_left_once_it_is_free_and_not_the_next_to_be_taken(variant, order):
    """Empty, cluster 1 goes behind 2 and 3: scan_swap_map_ssd_cluster_conflict() is true of it."""
    si = swapon(4 * 512, variant, slot_cache=False)
    assert folio_alloc_swap(si, U(0), U(order)) == 512
    swap_entry_range_free(si, U(512), U(1 << order))
    assert si.percpu_next[0, order] == 512 + (1 << order)
    assert folio_alloc_swap(si, U(0), U(order)) == 1024


@pytest.mark.parametrize("variant", [Variant.V6_6, *BY_CURRENT])
def test_a_rotational_device_counts_nothing_in_clusters(variant):
    si = swapon(3 * 512, variant, slot_cache=False, rotational=True)
    before = si.cluster_info.copy()
    assert folio_alloc_swap(si, U(0), U(0)) == 1
    assert (si.cluster_info == before).all()
    swap_entry_range_free(si, U(1), U(1))
    assert (si.cluster_info == before).all()

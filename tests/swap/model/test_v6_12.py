"""6.12's clusters, where its modes part."""

import pytest

from lorelab.numerics import U
from lorelab.swap.model.state import swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap, swap_entry_range_free
from lorelab.swap.params import AllocMode, Variant


@pytest.mark.parametrize(
    ("mode", "offset"),
    [(AllocMode.UPSTREAM, 544), (AllocMode.V6_10, 544), (AllocMode.V3, 0)],
    ids=lambda value: getattr(value, "name", value),
)
def test_v3_leaves_a_cluster_at_its_first_occupied_range(mode, offset):
    """Order 0 fills clusters 2 and 0, then takes the slot where order 4 would go on in 1."""
    si = swapon(3 * 512, Variant.V6_12, slot_cache=False, alloc_mode=mode)
    assert folio_alloc_swap(si, U(0), U(4)) == 512
    small = [folio_alloc_swap(si, U(0), U(0)) for _ in range(512 + 511 + 1)]
    assert small[-1] == 528
    assert folio_alloc_swap(si, U(0), U(4)) == offset


@pytest.mark.parametrize(
    ("mode", "offset", "frags"),
    [(AllocMode.UPSTREAM, 1024, 0), (AllocMode.NONFULL_FIRST, 528, 1)],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_cpu_without_a_cluster_takes_a_free_one_or_another_s(mode, offset, frags):
    """CPU 0 has begun cluster 1, which is on nonfull[4]; what was tried there goes to frag[4]."""
    si = swapon(4 * 512, Variant.V6_12, cpus=2, slot_cache=False, alloc_mode=mode)
    assert folio_alloc_swap(si, U(0), U(4)) == 512
    assert folio_alloc_swap(si, U(1), U(4)) == offset
    assert si.frag_cluster_nr.tolist() == [0] * 4 + [frags] + [0] * 5


@pytest.mark.parametrize("mode", [AllocMode.UPSTREAM, AllocMode.NONFULL_FIRST])
def test_a_cluster_that_was_tried_in_vain_is_not_tried_again(mode):
    """Cluster 1 has 16 slots free, no two of them side by side, and goes from nonfull to frag."""
    si = swapon(2 * 512, Variant.V6_12, slot_cache=False, alloc_mode=mode)
    ranges = [folio_alloc_swap(si, U(0), U(4)) for _ in range(32)]
    assert ranges == list(range(512, 1024, 16))
    for offset in ranges[:16]:
        swap_entry_range_free(si, U(offset), U(1))
    before = int(si.visited[4])
    assert folio_alloc_swap(si, U(0), U(4)) == 0
    assert int(si.visited[4]) - before == 1 and si.frag_cluster_nr[4] == 1

"""6.12's clusters, where its modes part."""

import pytest

from lorelab.numbers import U
from lorelab.swap.model.state import swapon
from lorelab.swap.model.swap_slots import folio_alloc_swap
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

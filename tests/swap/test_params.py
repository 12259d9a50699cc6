"""Parameters of the swap experiments: what is refused, and how it says so; variants and traits."""

import pytest

from lorelab.errors import BadInput
from lorelab.params import parse
from lorelab.swap.params import (
    TRAITS,
    AllocatorTest,
    Instructions,
    Mixed,
    Swapout,
    Usemem,
    Variant,
)


def test_every_variant_has_its_traits():
    assert list(TRAITS) == list(Variant)


@pytest.mark.parametrize("variant", [v for v in Variant if not TRAITS[v].rotational])
@pytest.mark.parametrize("model", [AllocatorTest, Mixed])
def test_a_rotational_device_that_the_model_lacks_is_refused(variant, model):
    with pytest.raises(BadInput, match=r"rotational=true: v7.2 has clusters"):
        parse(model, {"variant": variant, "rotational": True})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"folio_order": 1}, "order 0, or 2 to 9"),
        ({"folio_order": 10}, "folio_order=10"),
        ({"processes": 0}, "processes=0"),
        ({"mib_each": 3}, "mib_each=3"),
        ({"swap_mib": 3}, "swap_mib=3"),
        ({"swap_mib": 2}, "raise swap_mib"),
        ({"swap_mb": 2}, "unknown parameter swap_mb"),
        ({"architecture": "x86", "cpus": 69}, "take processes up to cpus=69"),
        ({"force_split": "some"}, "takes one of partially-mapped, not-pmd-mapped, all, none"),
        ({"variant": "v3.1"}, "takes one of"),
    ],
)
def test_bad_parameters_of_usemem_are_named(given, says):
    with pytest.raises(BadInput, match=says):
        parse(Usemem, given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"folio_order": 1}, "order 0, or 2 to 9"),
        ({"dropped": 16}, "one at least stays mapped"),
        ({"folios": 33}, "takes a multiple of 512 pages"),
        ({"folios": 8192}, "up to 65536"),
        ({"reclaimer": "kswapd"}, "reclaimer=kswapd"),
        ({"requests": 3}, "requests=3: .* a divisor of folios=256"),
        ({"requests": 2, "reclaimer": "madvise"}, "MADV_PAGEOUT asks nothing of memory.reclaim"),
    ],
)
def test_bad_parameters_of_swapout_are_named(given, said):
    with pytest.raises(BadInput, match=said):
        parse(Swapout, given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"series": False, "force_split": "all"}, "the unmodified kernel has no switches"),
        ({"dropped": 1}, "take dropped=0"),
        ({"reclaimer": "madvise"}, "take dropped=0"),
    ],
)
def test_instructions_are_of_whole_folios_on_a_kernel_that_can(given, said):
    with pytest.raises(BadInput, match=said):
        parse(Instructions, given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alloc_mode": "v6.9"}, "takes one of upstream, v6.10, v3, nonfull-first"),
        ({"alloc_mode": "v3", "variant": "v6.10"}, "variant=v6.10 has its own"),
    ],
)
def test_a_mode_that_makes_no_sense(given, said):
    with pytest.raises(BadInput) as refused:
        parse(AllocatorTest, given)
    assert said in str(refused.value)

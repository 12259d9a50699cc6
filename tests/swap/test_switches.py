"""swap on a kernel with switches: which parameters need them, and the kernel against the model."""

import pytest

from lorelab import agreement
from lorelab.errors import BadInput
from lorelab.lab import records
from lorelab.params import label, parse
from lorelab.swap import kernel, workload
from lorelab.swap.clusters import U
from lorelab.swap.model import folio_alloc_swap, swapon
from lorelab.swap.params import AllocatorTest, AllocMode, Variant

RUNS = {
    kernel.NAME: workload.allocator_test,
    kernel.PATHS: workload.paths,
}
RECORDED = [
    (name, params)
    for name in RUNS
    for params in records.recorded(name, AllocatorTest)
    if name == kernel.PATHS or kernel.switches(params)
]


@pytest.mark.parametrize(
    ("given", "turned"),
    [
        ({}, {}),
        ({"large_swapin": False, "rotational": True, "options": "-s", "seed": 3}, {}),
        ({"alloc_mode": "v3"}, {"swap/alloc_mode": "v3"}),
        ({"stealing": False}, {"swap/steal": "off"}),
        (
            {"slot_cache": False, "free_cache": False, "alloc_mode": "nonfull-first"},
            {
                "swap/slot_cache": "off",
                "swap/free_cache": "off",
                "swap/alloc_mode": "nonfull-first",
            },
        ),
    ],
)
def test_a_switch_is_turned_only_where_the_kernel_differs(given, turned):
    assert kernel.switches(parse(AllocatorTest, given)) == turned


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


def test_paths_are_of_a_whole_run():
    with pytest.raises(BadInput, match="iterations=99: paths are totals of a run"):
        kernel.paths([AllocatorTest(iterations=99)])


@pytest.mark.parametrize("run", [workload.paths, lambda params: kernel.paths([params])])
def test_a_rotational_device_has_no_paths(run):
    with pytest.raises(BadInput, match="rotational=true: paths are of clusters"):
        run(AllocatorTest(rotational=True))


def test_modes_go_other_ways():
    """Except v3 and v6.10: the tool leaves no current cluster that order 0 has taken from."""
    found = {
        mode: tuple(workload.paths(AllocatorTest(iterations=5, alloc_mode=mode))["value"])
        for mode in AllocMode
    }
    assert found[AllocMode.V3] == found[AllocMode.V6_10]
    assert len(set(found.values())) == len(AllocMode) - 1


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
    ("name", "params"),
    RECORDED,
    ids=[f"{name},{params.model_dump(exclude_defaults=True)}" for name, params in RECORDED],
)
def test_the_model_equals_the_switched_kernel(name, params):
    record = records.load(name, params)
    assert record.provenance.kernel.patches
    assert agreement.exact(agreement.compare(RUNS[name](params), record.counters))


def test_every_mode_and_switch_is_recorded():
    for name in RUNS:
        turned = [kernel.switches(params) for n, params in RECORDED if n == name]
        for mode in list(AllocMode)[1:]:
            assert any(each.get("swap/alloc_mode") == label(mode) for each in turned)
        for switch in kernel.SWITCHES.values():
            assert any(each.get(switch) == "off" for each in turned)

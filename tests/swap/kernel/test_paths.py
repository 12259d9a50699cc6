"""The kernel with switches: which parameters need them, and the kernel against the model."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.judging.rows import compare, exact
from lorelab.lab import records
from lorelab.params import label, parse
from lorelab.swap.kernel.allocator_test import SWITCHES, switches
from lorelab.swap.params import AllocatorTest, AllocMode

PATHS = experiment("swap/paths")
NAMES = ("swap/allocator-test", PATHS.name)
RECORDED = [
    (name, params)
    for name in NAMES
    for params in records.recorded(name, AllocatorTest)
    if name == PATHS.name or switches(params)
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
    assert switches(parse(AllocatorTest, given)) == turned


@pytest.mark.parametrize("run", [PATHS.simulate, lambda params: PATHS.measure([params])])
def test_a_rotational_device_has_no_paths(run):
    with pytest.raises(BadInput, match="rotational=true: paths are of clusters"):
        run(AllocatorTest(rotational=True))


@pytest.mark.parametrize(
    ("name", "params"),
    RECORDED,
    ids=[f"{name},{params.model_dump(exclude_defaults=True)}" for name, params in RECORDED],
)
def test_the_model_equals_the_switched_kernel(name, params):
    record = experiment(name).recorded(params)
    assert record.provenance.kernel.patches
    assert exact(compare(experiment(name).simulate(params), record.counters))


def test_every_mode_and_switch_is_recorded():
    for name in NAMES:
        turned = [switches(params) for n, params in RECORDED if n == name]
        for mode in list(AllocMode)[1:]:
            assert any(each.get("swap/alloc_mode") == label(mode) for each in turned)
        for switch in SWITCHES.values():
            assert any(each.get(switch) == "off" for each in turned)

"""swap on a kernel with switches: which parameters need them, and the kernel against the model."""

import pytest

from lorelab import agreement
from lorelab.counters import table
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.lab import records
from lorelab.lab.run import Measured
from lorelab.params import label, parse
from lorelab.swap import kernel, workload
from lorelab.swap.clusters import U
from lorelab.swap.model import folio_alloc_swap, swapon
from lorelab.swap.params import AllocatorTest, AllocMode, Switches, Variant
from lorelab.swap.switches import SETTINGS, in_turns, settings

RUNS = {
    kernel.NAME: workload.allocator_test,
    kernel.PATHS: workload.paths,
}
IN_TURNS = records.recorded(kernel.SWITCHED, Switches)
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


@pytest.mark.parametrize("run", [workload.paths, lambda params: kernel.paths([params])])
def test_a_rotational_device_has_no_paths(run):
    with pytest.raises(BadInput, match="rotational=true: paths are of clusters"):
        run(AllocatorTest(rotational=True))


def test_modes_go_other_ways():
    """Except v3 and v6.10: on one CPU order 0 takes from no current cluster of the tool's."""
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


def test_the_settings_of_a_turn_go_different_ways():
    """Except v3 and v6.10, as above: the others do not even place as many folios."""
    found = {
        setting: tuple(workload.allocator_test(test)["value"])
        for setting, test in settings(Switches()).items()
    }
    assert found["v3"] == found["v6.10"]
    assert len(set(found.values())) == len(SETTINGS) - 1
    assert list(settings(Switches(large_swapin=True))) == [
        n for n in SETTINGS if n != "page by page"
    ]
    turned = {name: kernel._turned(test, True) for name, test in settings(Switches()).items()}
    assert turned.pop("as booted") == {}
    assert all(each.pop("swap/large_swapin") == "off" for each in turned.values())
    assert [len(each) for each in turned.values()] == [0, 1, 1, 1, 1, 1, 1]


def test_turns_are_laid_out_one_after_the_other():
    def one(value):
        return table(kernel.NAME, "v6.12", "kernel", {"swpout": ("folios", [value, value + 1])})

    total = table(kernel.PATHS, "v6.12", "kernel", {"free_4": ("allocations", [9])}, first=0)
    parts = [(0, "a", one(1)), (0, "b", one(3)), (1, "a", one(5)), (1, "b", total)]
    found = in_turns(100, iter(parts))
    assert set(found["experiment"]) == {"switches"}
    assert found[["counter", "step", "value"]].values.tolist() == [
        ["a.swpout", 1, 1],
        ["a.swpout", 2, 2],
        ["b.swpout", 1, 3],
        ["b.swpout", 2, 4],
        ["a.swpout", 101, 5],
        ["a.swpout", 102, 6],
        ["b.free_4", 200, 9],
    ]


def test_rows_of_a_boot_go_to_their_setting_and_turn(monkeypatch):
    """The guest gives run after run, turn after turn; here each value says where it came from."""

    def measure(machine, job, image, patched):
        assert patched and job.params["turns"] == 2
        rows = []
        for turn in range(2):
            for run in range(len(job.params["runs"])):
                place = {"turn": turn, "run": run}
                value = 1000 * turn + 100 * run
                for i in range(1, 21):
                    row = {"iteration": i, "swpout": value, "swpout_fallback": i}
                    rows.append(place | row)
                names = (*kernel.PLACES, "fail", "visited", "scanned")
                rows.append(
                    place | {"counters": {f"{n} {o}": value for n in names for o in (0, 4)}}
                )
        assert len(rows) == job.rows
        return Measured(rows, {}, [])

    monkeypatch.setattr(kernel, "measure", measure)
    monkeypatch.setattr(Measured, "provenance", lambda *_: None)
    [found] = kernel.switched([Switches(turns=2)])
    values = found.counters.set_index(["counter", "step"])["value"]
    for number, setting in enumerate(SETTINGS):
        for turn in range(2):
            assert values[f"{setting}.swpout", 20 * turn + 7] == 1000 * turn + 100 * number
            assert values[f"{setting}.swpout_fallback", 20 * turn + 7] == 7
            assert values[f"{setting}.fail_4", 20 * turn + 20] == 1000 * turn + 100 * number
    assert len(values) == 2 * len(SETTINGS) * (2 * 20 + 16)


def test_turns_are_recorded():
    assert Switches() in IN_TURNS


def test_v3_is_told_from_v6_10():
    """The kernel that searches on splits other numbers of folios than the one that gives up."""
    for params in (params for params in IN_TURNS if params.cpus > 1):
        counters = records.load(kernel.SWITCHED, params).counters
        split = counters[counters["counter"].str.endswith(".swpout_fallback")]
        totals = split.groupby("counter")["value"].sum()
        assert 0 < totals["v3.swpout_fallback"] != totals["v6.10.swpout_fallback"] > 0
    assert any(params.cpus > 1 for params in IN_TURNS)


@pytest.mark.parametrize("params", IN_TURNS, ids=str)
def test_the_model_equals_the_kernel_in_every_turn(params):
    record = records.load(kernel.SWITCHED, params)
    assert record.provenance.kernel.patches and record.provenance.boots == 1
    joined = agreement.compare(experiment(kernel.SWITCHED).simulate(params), record.counters)
    assert agreement.exact(joined)
    runs = params.turns * len(settings(params))
    assert len(joined) == runs * (2 * params.iterations + 16)

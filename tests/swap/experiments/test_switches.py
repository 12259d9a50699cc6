"""swap/switches: the settings of a turn, and how turns are laid out."""

from lorelab.counters import table
from lorelab.swap.experiments import allocator_test
from lorelab.swap.kernel.allocator_test import turned
from lorelab.swap.params import Switches
from lorelab.swap.workload.switches import SETTINGS, in_turns, settings


def test_the_settings_of_a_turn_go_different_ways():
    """Except v3 and v6.10, as above: the others do not even place as many folios."""
    found = {
        setting: tuple(allocator_test.simulate(test)["value"])
        for setting, test in settings(Switches()).items()
    }
    assert found["v3"] == found["v6.10"]
    assert len(set(found.values())) == len(SETTINGS) - 1
    assert list(settings(Switches(large_swapin=True))) == [
        n for n in SETTINGS if n != "page by page"
    ]
    chosen = {name: turned(test, True) for name, test in settings(Switches()).items()}
    assert chosen.pop("as booted") == {}
    assert all(each.pop("swap/large_swapin") == "off" for each in chosen.values())
    assert [len(each) for each in chosen.values()] == [0, 1, 1, 1, 1, 1, 1]


def test_turns_are_laid_out_one_after_the_other():
    def one(value):
        return table(
            "swap/allocator-test", "v6.12", "kernel", {"swpout": ("folios", [value, value + 1])}
        )

    total = table("swap/paths", "v6.12", "kernel", {"free_4": ("allocations", [9])}, first=0)
    parts = [(0, "a", one(1)), (0, "b", one(3)), (1, "a", one(5)), (1, "b", total)]
    found = in_turns(100, iter(parts))
    assert set(found["experiment"]) == {"switches"}
    assert found[["counter", "step", "value"]].to_numpy().tolist() == [
        ["a.swpout", 1, 1],
        ["a.swpout", 2, 2],
        ["b.swpout", 1, 3],
        ["b.swpout", 2, 4],
        ["a.swpout", 101, 5],
        ["a.swpout", 102, 6],
        ["b.free_4", 200, 9],
    ]

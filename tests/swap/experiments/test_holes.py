"""Where three allocators look among holes: what is drawn, what is counted, and the map agree."""

import pytest

from lorelab.errors import BadInput
from lorelab.params import parse
from lorelab.swap.experiments.holes import simulate
from lorelab.swap.pages.holes import rows
from lorelab.swap.params_holes import Holes
from lorelab.swap.workload.holes import CELL, CELL_SLOTS, GOT, LOOK

NAMES = ("v6.10", "v6.12", "v7.2")


def counted(**given):
    table = simulate(Holes(**given)).pivot(index="step", columns="counter", values="value")
    return {
        name: [table[f"{counter}_{name}"].tolist() for counter in ("slot", "visited", "read")]
        for name in NAMES
    }


def test_a_full_device_has_no_cluster_to_look_into():
    assert counted(holes=0) == {name: [[0, 0, 0]] * 3 for name in NAMES}


def test_an_empty_cluster_serves_all_three():
    found = counted(hole=512, holes=1, seed=5)
    first = found["v6.10"][0][0]
    assert first and first % 512 == 0
    for name in NAMES:
        assert found[name] == [[first, first + 16, first + 32], [1, 1, 1], [16, 16, 16]], name


def test_an_aligned_hole_serves_those_that_look_into_clusters_in_use():
    found = counted(hole=16, holes=20)
    assert found["v6.10"] == [[0, 0, 0]] * 3
    for name in ("v6.12", "v7.2"):
        slots, *_ = found[name]
        assert len({*slots}) == 3 and all(slot and slot % 16 == 0 for slot in slots), name
    # The same number of slots, half of each hole in one cell and half in the next.
    assert all(found[0] == [0, 0, 0] for found in counted(hole=16, holes=20, shift=8).values())


def test_all_clusters_of_the_order_are_searched_again_by_6_12_and_one_by_7_2():
    found = counted(holes=1500, clusters=12)
    assert found["v6.12"][1] == [9, 9, 9]
    # First its current cluster, which is one of the nine, and then all.
    assert found["v7.2"][1] == [10, 1, 1]


def test_holes_in_clusters_of_single_pages_serve_no_large_folio():
    found = counted(clusters=4, small_clusters=3, hole=16, holes=40)
    assert found == {name: [[0, 0, 0]] * 3 for name in NAMES}


def test_what_is_drawn_is_what_is_counted():
    params = Holes(
        clusters=6, hole=3, shift=1, holes=700, order=3, folios=5, punched="601,1024,1100"
    )
    drawn = rows(params)
    pattern = 700 * 3
    for n, name in enumerate(NAMES):
        of = drawn[drawn["allocator"] == n].iloc[0 if n else 5 :]
        cells, looks, got = (of[of["kind"] == kind] for kind in (CELL, LOOK, GOT))
        assert len(cells) == 6 * 512 // CELL_SLOTS
        free = (CELL_SLOTS - cells["taken"]).sum()
        assert pattern < free <= pattern + 9
        last = drawn.iloc[4]
        assert (len(looks), looks["read"].sum()) == (last[f"visited_{name}"], last[f"read_{name}"])
        slots = [slot for slot in drawn[f"slot_{name}"].iloc[:5] if slot]
        assert (512 * got["cluster"] + got["since"]).tolist() == slots
        assert (got["until"] - got["since"] == 8).all()
        taken = cells.set_index(["cluster", "since"])["taken"]
        for cluster, since in zip(got["cluster"], got["since"], strict=True):
            assert taken[cluster, since // CELL_SLOTS * CELL_SLOTS] <= CELL_SLOTS - 8


def test_the_readers_own_holes_are_punched_beside_the_others():
    before, after = (rows(Holes(holes=100, hole=16, punched=own)) for own in ("", "1540,4095"))
    free = [(CELL_SLOTS - each[each["kind"] == CELL]["taken"]).sum() for each in (before, after)]
    # On each of three devices; the second hole ends with the device, or is there already.
    assert 3 <= free[1] - free[0] <= 3 * 17
    alone = rows(Holes(holes=0, hole=16, punched="1552"))
    got = alone[alone["kind"] == GOT]
    assert (512 * got["cluster"] + got["since"]).tolist() == [1552, 1552]


def test_even_holes_are_the_same_for_every_seed_and_drawn_ones_are_not():
    even = [simulate(Holes(placed="even", seed=seed)) for seed in (1, 2)]
    drawn = [rows(Holes(holes=30, seed=seed))["taken"].tolist() for seed in (1, 2)]
    assert even[0].equals(even[1]) and drawn[0] != drawn[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fill_order": 1}, "fill_order=1: anonymous folios have order 0, or 2 to 9"),
        ({"small_clusters": 8}, "small_clusters=8: takes less than clusters=8"),
        ({"shift": 1}, "shift=1: takes less than hole=1"),
        ({"holes": 4096}, "holes=4096: clusters=8 have places for 4095 of hole=1 shift=0"),
        ({"punched": "4096"}, "punched=4096: takes slots up to 4095, of clusters=8"),
        ({"punched": "0"}, "punched=0: takes up to 64 numbers from 1 to 16383, commas between"),
        ({"punched": "1;2"}, "punched=1;2: takes up to 64 numbers from 1 to 16383, commas between"),
    ],
)
def test_what_no_run_takes(given, said):
    with pytest.raises(BadInput) as refused:
        parse(Holes, given)
    assert str(refused.value).startswith(said)


def test_every_place_may_have_a_hole():
    cells = rows(Holes(holes=4095))
    cells = cells[cells["kind"] == CELL]
    assert cells["taken"].sum() == 3  # the headers

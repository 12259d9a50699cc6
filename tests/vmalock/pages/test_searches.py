"""What a search of the protocol found: tables, text, and the chart of an interleaving."""

import pandas as pd
import pytest
import vl_convert
from bs4 import BeautifulSoup

from lorelab.vmalock.experiments import protocol
from lorelab.vmalock.model.protocol import configurations
from lorelab.vmalock.model.protocol.configurations import Configuration
from lorelab.vmalock.pages import interleaved, searches
from lorelab.vmalock.panel.protocol import COUNTERS, KNOWN, MORE, ways
from lorelab.vmalock.params import Protocol, Variant


def test_where_all_rules_hold_there_is_no_interleaving():
    assert searches.interleaving(protocol.searched(Protocol())).empty


def test_a_mutation_is_told_step_by_step_in_its_own_configuration():
    params = Protocol(mutation="m10")
    counted = protocol.simulate(params).set_index("counter")["value"]
    steps = searches.interleaving(protocol.searched(params))
    assert len(steps) == counted["counterexample"]
    at = steps.set_index("statement")["step"]
    assert at["up_write of mmap_lock"] < at["rcu_read_unlock"]
    assert steps["thread"].str[0].astype(int).max() == 2


def test_an_interleaving_is_written_a_line_a_step_with_what_it_changed():
    first, last = ["step", "thread", "statement"], ["vm_lock_seq", "count", "exclusive"]
    names = [*first, "mm_lock_seq", "mmap_lock", *last]
    rows = [
        (1, "0 fault", "down_read_trylock", 0, "free", 7, 1, 0),
        (2, "2 flags", "down_write", 0, "write", 7, 1, 0),
        (3, "2 flags", "store of vm_lock_seq", 1, "write", 1, 0, 1),
        (4, "0 fault", "set_pte", 1, "1 reading", 1, 0, 0),
    ]
    assert searches.written(pd.DataFrame(rows, columns=names)).splitlines() == [
        "at first: mm_lock_seq 0, mmap_lock free, vm_lock_seq 7, vm_lock 1 reading",
        "0 fault   1  down_read_trylock",
        "2 flags   2      down_write            mmap_lock write",
        "          3      store of vm_lock_seq  mm_lock_seq 1, vm_lock_seq 1, vm_lock write",
        "0 fault   4  set_pte                   mmap_lock 1 reading, vm_lock free",
    ]


def test_of_7_3_the_count_is_written_and_the_writers_flag_in_it():
    names = ["step", "thread", "statement", "mm_lock_seq", "mmap_lock"]
    names += ["vm_lock_seq", "count", "exclusive"]
    rows = [
        (1, "0 fault", "refcount_inc_not_zero", 1, "write", 7, 2, 0),
        (2, "1 flags", "refcount_add of the flag", 1, "write", 7, 2, 1),
    ]
    assert searches.written(pd.DataFrame(rows, columns=names), refcount=True).splitlines() == [
        "at first: mm_lock_seq 1, mmap_lock write, vm_lock_seq 7, vm_refcnt 2",
        "0 fault   1  refcount_inc_not_zero",
        "1 flags   2      refcount_add of the flag  vm_refcnt 2 + flag",
    ]


@pytest.mark.parametrize("name", configurations.MUTATIONS)
def test_each_mutation_is_written_from_its_first_step_to_its_last(name):
    found = searches.mutant(Variant.V6_12, name)
    steps = searches.interleaving(found)
    lines = searches.written(steps).splitlines()[1:]
    assert found.rule is not None
    assert [int(line[8:11]) for line in lines] == steps["step"].tolist()
    assert all(name in line for line, name in zip(lines, steps["statement"], strict=True))


SMALL = {
    "flags": Configuration((("fault", 0), ("flags", 0))),
    "unmap": Configuration((("fault", 0), ("unmap", 0))),
}


def test_verdicts_of_configurations(monkeypatch):
    monkeypatch.setattr(configurations, "CONFIGURATIONS", SMALL)
    rows = searches.verdicts(Variant.V6_12).set_index("configuration")
    assert list(rows.index) == ["flags", "unmap"]
    assert rows.loc["flags", "threads"] == "fault 0, flags 0"
    for name, chosen in SMALL.items():
        found = protocol.search(Variant.V6_12, chosen, 3)
        shown = rows.loc[name, ["states", "transitions", "breaks"]].to_list()
        assert shown == [len(found.explored.states), found.explored.transitions, ""]


def test_the_chart_has_every_step_once_it_is_taken():
    steps = searches.interleaving(protocol.searched(Protocol(mutation="m3")))
    spec = interleaved.interleaving(steps, "what", "see").to_dict()
    taken = {row["taken"]: row["statement"] for row in spec["data"]["values"]}
    assert taken == {n: steps["statement"].tolist()[:n] for n in steps["step"]}
    assert spec["params"][0]["value"] == 15


@pytest.mark.parametrize(
    ("taken", "steps", "seen"),
    [(1, 41, 1), (40, 41, 40), (41, 41, 41), (40, 43, 40), (41, 43, 43)],
)
def test_the_slider_of_a_panel_shows_what_was_taken_and_at_its_end_all(taken, steps, seen):
    """Also of a way that is longer than the slider."""
    numbers = range(1 + steps)  # at first the row of counters
    frame = pd.DataFrame({name: 0 for name in (*COUNTERS, *MORE)}, index=numbers)
    frame = frame.assign(variant="v6.12", kind=[min(n, 1) for n in numbers], at=numbers)
    spec = interleaved.chart(frame, KNOWN).to_dict()
    [moved] = spec["params"]
    assert moved["bind"] | {"min": 1, "max": 41} == moved["bind"]
    moved["value"] = taken
    marks = BeautifulSoup(vl_convert.vegalite_to_svg(spec), "html.parser").select(
        ".mark-symbol path"
    )
    assert len(marks) == steps
    assert sum(mark["opacity"] != "0" for mark in marks) == seen


def test_a_chart_of_a_search_has_lanes_for_those_who_take_a_step():
    spec = interleaved.chart(ways(Protocol(mutation="m3")), KNOWN).to_dict()
    assert spec["vconcat"][0]["width"] == 2 * interleaved.LANE + 4 * interleaved.COLUMN
    assert "thread 2: flags" in vl_convert.vegalite_to_svg(spec)

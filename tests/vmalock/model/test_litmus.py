"""The litmus tests: machines against each other, against herd7, and against plain orders."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.errors import BadInput
from lorelab.vmalock.experiments import litmus as experiment
from lorelab.vmalock.model import litmus
from lorelab.vmalock.model.litmus import MB, WMB, Kind, Machine, Test, allowed, load, store
from lorelab.vmalock.model.litmus_tests import TESTS
from lorelab.vmalock.pages import herd
from lorelab.vmalock.params import Litmus


@pytest.mark.parametrize("name", TESTS)
def test_the_file_for_herd7_is_the_test(name):
    assert (herd.TESTS / f"{name}.litmus").read_text() == litmus.lkmm(name, TESTS[name])


def test_there_are_no_other_files():
    assert {file.stem for file in herd.TESTS.glob("*.litmus")} == set(TESTS)


@pytest.mark.parametrize("name", TESTS)
def test_the_weak_machine_allows_what_the_kernels_model_does(name):
    assert allowed(TESTS[name], Machine.WEAK)[0] == (herd.recorded()[name] != "Never")


def test_what_each_test_is_there_for():
    table = herd.verdicts().set_index("test")
    never = ["L1", "L3", "L4-release", "L4-mmap-lock", "L4-page-table"]
    never += ["L6-acquire", "L6-semaphore", "L6-store", "L7", "L8", "L8-data-no-release"]
    assert table.index[table["kernel_model"] == "Never"].tolist() == never
    barriers = ["L7-no-reader-barrier", "L7-no-writer-barrier"]
    assert table.index[table["tso"] == "allowed"].tolist() == barriers
    assert table.index[table["pso"] == "allowed"].tolist() == ["L2", *barriers, "L8-no-release"]


@pytest.mark.parametrize("kind", ["whole", "arm"])
def test_of_the_whole_sequence_only_readers_after_the_flag_are_missed(kind):
    said, missed = herd.recorded(kind), {"after-flag", "flags"}
    assert set(said) == {file.stem for file in (herd.TESTS / kind).glob("*.litmus")}
    assert {name for name, verdict in said.items() if verdict != "Never"} == missed
    assert {"before-flag", "acquire", "flags-acquire"} < set(said)


def test_a_changed_file_needs_a_new_record(tmp_path, monkeypatch):
    for file in herd.TESTS.glob("*.litmus"):
        (tmp_path / file.name).write_text(file.read_text() + "\n")
    monkeypatch.setattr(herd, "TESTS", tmp_path)
    with pytest.raises(BadInput, match=r"\.litmus has changed since herd7 ran it"):
        herd.recorded()


def test_one_test_can_be_asked_for():
    assert experiment.simulate(Litmus(test="L1"))["variant"].unique().tolist() == ["L1"]
    assert experiment.simulate(Litmus())["variant"].nunique() == len(TESTS)


def orders(test, machine):
    """Every outcome of a test, by performing whole orders of all accesses one after another."""
    steps = [
        (t, place)
        for t, thread in enumerate(test.threads)
        for place, access in enumerate(thread)
        if access.kind not in (Kind.WMB, Kind.MB)
    ]
    for order in permutations(steps):
        at = {step: n for n, step in enumerate(order)}
        kept = all(
            at[t, i] < at[t, j]
            for t, i in steps
            for u, j in steps
            if t == u and i < j and litmus.ordered(test.threads[t], i, j, machine)
        )
        if not kept:
            continue
        memory, registers = dict(test.first), {}
        for t, place in order:
            kind, where, value, _, behind = test.threads[t][place]
            before = [a.value for a in test.threads[t][:place] if a.kind == Kind.LOAD]
            if behind is not None and registers[t, before[-1]] != behind:
                continue
            if kind == Kind.LOAD:
                registers[t, value] = memory.get(where, 0)
            else:
                memory[where] = value
        yield registers


@st.composite
def two_threads(draw):
    """Two threads of up to three loads and stores of two variables; the last may be in a branch."""
    threads = []
    asked = {}
    for t in range(2):
        lines = []
        for n in range(draw(st.integers(1, 3))):
            where = draw(st.sampled_from("xy"))
            keeps = draw(st.booleans())
            if draw(st.booleans()):
                lines.append(load(where, n, keeps))
                asked[t, n] = draw(st.integers(0, 2))
            else:
                lines.append(store(where, draw(st.integers(1, 2)), keeps))
            barrier = draw(st.sampled_from([None, WMB, MB]))
            if barrier is not None:
                lines.append(barrier)
        if any(line.kind == Kind.LOAD for line in lines) and draw(st.booleans()):
            lines.append(store(draw(st.sampled_from("xy")), 1, behind=draw(st.integers(0, 2))))
        threads.append(tuple(lines))
    return Test("anything", tuple(threads), asked)


@given(two_threads(), st.sampled_from(Machine))
def test_the_search_allows_what_some_order_gives(test, machine):
    can = any(
        all(registers[k] == v for k, v in test.exists.items())
        for registers in orders(test, machine)
    )
    assert allowed(test, machine)[0] == can


@pytest.mark.parametrize("machine", Machine)
def test_a_thread_has_eight_accesses_and_four_registers(machine):
    """As many as the search has room for, of which none is left out and none is another's."""
    stores = tuple(store("x", n % 3) for n in range(7))
    writer, reader = (*stores, store("x", 3)), tuple(load("x", n) for n in range(4))
    last = {(1, n): 3 for n in range(4)}
    assert allowed(Test("", (writer, reader), last), machine)[0]
    assert not allowed(Test("", (writer, reader), last | {(1, 3): 0}), Machine.SC)[0]
    assert allowed(Test("", (reader, writer), {(0, n): n % 3 for n in range(4)}), machine)[0]


@given(two_threads())
def test_a_weaker_machine_allows_no_less(test):
    can = [allowed(test, machine)[0] for machine in Machine]
    assert can == sorted(can)

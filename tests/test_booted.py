"""Tests that boot take turns only while nothing changed that they rest on."""

import json
from types import SimpleNamespace

import pytest

from tests import booted, order

LIVE, LAB = "tests/gso/kernel/test_live.py", "tests/lab/test_boot.py"
FILES = (
    LIVE,
    LAB,
    "tests/conftest.py",
    "tests/gso/told.py",
    "tests/gso/model/test_oracle.py",
    "requirements.lock",
    "lib/kernel/common/lab.config",
    "lib/kernel/gso/probes/sends.py",
    "lib/kernel/damon/probes/draws.py",
    "lib/kernel/gso/upstream/told/0001-skbuff.patch",
    "lib/kernel/gso/upstream/told/0001-skbuff.message",
    "lib/kernel/gso/upstream/told/advice",
    "lib/lorelab/errors.py",
    "lib/lorelab/lab/boot.py",
    "lib/lorelab/book/build.py",
    "lib/lorelab/gso/kernel/told.py",
    "lib/lorelab/gso/pages/views.py",
    "lib/lorelab/damon/kernel/boot.py",
    "data/kernel/gso/told/default.csv",
)


@pytest.fixture
def checkout(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was")
    booted._all.cache_clear()
    yield tmp_path
    booted._all.cache_clear()


def keep(checkout, reports):
    """Write down what passed, of reports (file, passed)."""
    session = booted.Keep(checkout)
    for file, passed in reports:
        report = SimpleNamespace(nodeid=f"{file}::test_it", keywords={"boots": 1}, passed=passed)
        session.pytest_runtest_logreport(report)
    session.pytest_sessionfinish()
    return set(json.loads((checkout / booted.KEPT).read_text()))


def passed(checkout):
    booted._all.cache_clear()
    return booted.passed(checkout)


def test_only_a_file_that_passed_whole_takes_turns(checkout):
    assert passed(checkout) == set()
    assert keep(checkout, [(LIVE, True), (LAB, True), (LIVE, True)]) == {LIVE, LAB}
    assert passed(checkout) == {LIVE, LAB}
    # A skipped test did not pass either.
    assert keep(checkout, [(LIVE, True), (LAB, True), (LIVE, False), (LIVE, True)]) == {LAB}


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_rests_on(checkout, name):
    keep(checkout, [(LIVE, True), (LAB, True)])
    (checkout / name).write_text("changed")
    of_the_live = {
        LIVE,
        "tests/conftest.py",
        "tests/gso/told.py",
        "requirements.lock",
        "lib/kernel/common/lab.config",
        "lib/kernel/gso/probes/sends.py",
        "lib/kernel/gso/upstream/told/0001-skbuff.patch",
        "lib/lorelab/errors.py",
        "lib/lorelab/lab/boot.py",
        "lib/lorelab/gso/kernel/told.py",
        "data/kernel/gso/told/default.csv",
    }
    words = name.endswith((".message", "/advice"))
    of_the_lab = (name.startswith("lib/") and not words) or name in (LAB, *booted.SHARED)
    assert (LIVE in passed(checkout)) == (name not in of_the_live)
    assert (LAB in passed(checkout)) != of_the_lab


def test_what_changes_while_they_run_is_not_vouched_for(checkout):
    session = booted.Keep(checkout)
    report = SimpleNamespace(nodeid=f"{LIVE}::test_it", keywords={"boots": 1}, passed=True)
    session.pytest_runtest_logreport(report)
    (checkout / "lib/lorelab/gso/kernel/told.py").write_text("changed")
    session.pytest_sessionfinish()
    assert passed(checkout) == set()


@pytest.mark.parametrize("number", [1, 3, 5, 12])
def test_in_five_days_each_runs_and_every_day_one(monkeypatch, number):
    monkeypatch.setattr(booted, "passed", lambda: {LIVE})
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    days = []
    for part in range(order.PARTS):
        items = [
            SimpleNamespace(
                nodeid=f"{file}::{nth}",
                keywords={"boots": 1},
                get_closest_marker=lambda _: None,
            )
            for file in (LIVE, LAB)
            for nth in range(number)
        ]
        order.take_turns(SimpleNamespace(hook=hook), items, part)
        ran = [item.nodeid for item in items]
        assert [one for one in ran if one.startswith(LAB)] == [f"{LAB}::{n}" for n in range(number)]
        days.append([one for one in ran if one.startswith(LIVE)])
    assert all(1 <= len(day) <= -(-number // order.PARTS) for day in days)
    assert {one for day in days for one in day} == {f"{LIVE}::{n}" for n in range(number)}


def test_what_is_written_down_boots():
    kept = order.ROOT / booted.KEPT
    assert all(order.boots(order.ROOT / file) for file in json.loads(kept.read_text()))

"""Long tests take turns only while nothing changed that they rest on."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from tests import order, turns

LIVE, LAB = "tests/gso/kernel/test_live.py", "tests/lab/test_boot.py"
ORACLE, PAGES = "tests/gso/model/test_oracle.py", "tests/browser/test_pages.py"
ALL = (LIVE, LAB, ORACLE, PAGES)
BOOTING = "def test_it(laboratory):\n    pass\n"
FILES = (
    *ALL,
    "Makefile",
    "README.md",
    "tests/conftest.py",
    "tests/points.py",
    "tests/damon/model/test_oracle.py",
    "tests/gso/told.py",
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
    "data/bench/damon.json",
    "data/kernel/gso/told/default.csv",
    "notebooks/findings.ipynb",
    "notebooks/gso/index.ipynb",
    "notebooks/swap/index.ipynb",
)


@pytest.fixture
def checkout(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(BOOTING if name in (LIVE, LAB) else "before = 1\n")
    turns.forget()
    yield tmp_path
    turns.forget()


def report(file, passed=True, seconds=turns.SLOW, when="teardown"):
    return SimpleNamespace(nodeid=f"{file}::it", passed=passed, duration=seconds, when=when)


def keep(checkout, *reports):
    """Write down what passed, and give it."""
    session = turns.Keep(checkout)
    session.pytest_xdist_node_collection_finished([one.nodeid for one in reports])
    for one in reports:
        session.pytest_runtest_logreport(one)
    session.pytest_sessionfinish()
    return set(json.loads((checkout / turns.KEPT).read_text()))


def passed(checkout):
    turns.forget()
    return turns.passed(checkout)


def test_only_a_file_that_passed_whole_takes_turns(checkout):
    assert passed(checkout) == set()
    assert keep(checkout, report(LIVE), report(LAB), report(LIVE)) == {LIVE, LAB}
    assert passed(checkout) == {LIVE, LAB}
    # A skipped test did not pass either.
    assert keep(checkout, report(LAB), report(LIVE, passed=False), report(LIVE)) == {LAB}


def test_of_what_boots_any_and_of_the_others_what_takes_long(checkout):
    half = turns.SLOW / 2
    short = [report(file, seconds=half) for file in (ORACLE, PAGES, PAGES)]
    assert keep(checkout, *short, report(LIVE, seconds=0)) == {PAGES, LIVE}


def test_what_was_not_run_stays_written_down(checkout):
    keep(checkout, report(LIVE), report(PAGES))
    assert keep(checkout, report(LIVE, passed=False), report(LAB)) == {LAB, PAGES}
    # A page is no file of tests.
    assert keep(checkout, report("notebooks/gso/index.ipynb")) == {LAB, PAGES}


def test_a_file_of_which_a_test_did_not_end_did_not_pass(checkout):
    """A process that died reports no end, and a run that was stopped less than it collected."""
    died = report(LIVE, passed=False, when="???")
    assert keep(checkout, died, report(LAB, when="call"), report(PAGES)) == {PAGES}
    session = turns.Keep(checkout)
    collected = [SimpleNamespace(nodeid=f"{PAGES}::{test}") for test in ("it", "another")]
    session.pytest_collection_finish(SimpleNamespace(items=collected))
    session.pytest_runtest_logreport(report(PAGES))
    session.pytest_sessionfinish()
    assert passed(checkout) == set()


def test_nothing_of_the_project_is_overlooked():
    listed = subprocess.run(["git", "ls-files"], cwd=order.ROOT, capture_output=True, text=True)
    tops = {name.partition("/")[0] for name in listed.stdout.split("\n") if name}
    assert tops - {*turns.FILES, *turns.FOLDERS} <= {".gitignore", "LICENSE"}


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_rests_on(checkout, name):
    keep(checkout, *map(report, ALL))
    assert passed(checkout) == set(ALL)
    (checkout / name).write_text(BOOTING + "# changed\n" if name in (LIVE, LAB) else "changed = 1")
    of_the_live = {
        LIVE,
        "tests/conftest.py",
        "tests/gso/told.py",
        ORACLE,
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
    common = ("requirements.lock", "tests/conftest.py")
    of_the_lab = (name.startswith("lib/") and not words) or name in (LAB, *common)
    of_others = "damon" in name or name.startswith("notebooks/swap")
    of_the_oracle = not of_others and name not in ("README.md", "notebooks/findings.ipynb")
    expected = {PAGES: False, ORACLE: not of_the_oracle, LAB: not of_the_lab}
    expected[LIVE] = name not in of_the_live
    assert passed(checkout) == {file for file, same in expected.items() if same}


def test_what_changes_while_they_run_is_not_vouched_for(checkout):
    session = turns.Keep(checkout)
    for file in (LIVE, ORACLE):
        session.pytest_runtest_logreport(report(file))
    (checkout / "lib/lorelab/gso/kernel/told.py").write_text("changed = 1")
    session.pytest_sessionfinish()
    assert passed(checkout) == set()


@pytest.mark.parametrize("number", [1, 3, 5, 12])
def test_in_five_days_each_runs_and_every_day_one(monkeypatch, number):
    monkeypatch.setattr(turns, "passed", lambda: {LIVE, PAGES})
    hook = SimpleNamespace(pytest_deselected=lambda items: None)
    days = {LIVE: [], PAGES: []}
    for part in range(order.PARTS):
        items = [
            SimpleNamespace(
                nodeid=f"{file}::{nth}",
                keywords={"boots": 1} if file in (LIVE, LAB) else {},
                get_closest_marker=lambda _: None,
            )
            for file in ALL
            for nth in range(number)
        ]
        # Of a file that boots a test that doesn't runs every day.
        still = SimpleNamespace(
            nodeid=f"{LIVE}::still", keywords={}, get_closest_marker=lambda _: None
        )
        items.append(still)
        order.take_turns(SimpleNamespace(hook=hook), items, part)
        assert items.pop() is still
        ran = [item.nodeid for item in items]
        for file in (LAB, ORACLE):
            assert [n for n in ran if n.startswith(file)] == [f"{file}::{n}" for n in range(number)]
        for file, of_it in days.items():
            of_it.append([one for one in ran if one.startswith(file)])
    for file, of_it in days.items():
        assert all(1 <= len(day) <= -(-number // order.PARTS) for day in of_it)
        assert {one for day in of_it for one in day} == {f"{file}::{n}" for n in range(number)}


def test_what_is_written_down_is_there():
    kept = json.loads((order.ROOT / turns.KEPT).read_text())
    assert all((order.ROOT / file).is_file() for file in kept)


@pytest.mark.parametrize("part", [["--turn", "1"], ["-k", "one"], ["-m", "in_turn"], ["::test_a"]])
def test_parts_of_files_are_not_written_down(part):
    given = {"turn": None, "keyword": "", "markexpr": "", "passed": True}
    names = {"--turn": "turn", "-k": "keyword", "-m": "markexpr"}
    args = ["tests"]
    if part[0] in names:
        given[names[part[0]]] = part[1]
    else:
        args = ["tests/test_a.py" + part[0]]
    lines = SimpleNamespace(addinivalue_line=lambda *_: None, getoption=given.get, args=args)
    with pytest.raises(pytest.UsageError, match="whole files"):
        order.pytest_configure(lines)

"""Files of tests come in a random order that can be had again; what boots is one stream."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from tests import order

SUITE = """
import os, pytest, time

def ran(name):
    with open("ran", "a") as file:
        file.write(f"{os.environ['PYTEST_XDIST_WORKER']} {name}\\n")
    time.sleep(0.1)

@pytest.mark.parametrize("nth", range(3))
def test_computes(nth):
    ran(f"{__name__} {nth}")
"""
BOOTING = """
@pytest.fixture
def laboratory():
    pass

def test_boots(laboratory):
    ran("boots")
"""


@pytest.fixture
def run(tmp_path):
    """Six files of tests, two of which boot, by two workers with the words of `make test`."""
    for name in "abcdef":
        (tmp_path / f"test_{name}.py").write_text(SUITE + (BOOTING if name in "cd" else ""))
    rules = (order.ROOT / "Makefile").read_text()
    words = re.search(r"^tests := \S+ pytest(.*?--order)", rules.replace("\\\n", ""), re.M)[1]
    command = [sys.executable, "-m", "pytest", "-p", "tests.order", "-p", "no:hypothesispytest"]
    command += words.replace("auto", "2").split()

    def run(seed):
        done = subprocess.run(
            [*command, str(seed)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(order.ROOT)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        assert f"make test SEED={seed}" in done.stdout
        lines = (tmp_path / "ran").read_text().splitlines()
        (tmp_path / "ran").unlink()
        return [line.split(maxsplit=1) for line in lines]

    return run


def test_one_worker_boots_while_another_computes(run):
    ran = run(7)
    assert len(ran) == 20
    [booting] = {worker for worker, name in ran if name == "boots"}
    assert {worker for worker, name in ran if name[:6] in ("test_c", "test_d")} == {booting}
    files = [name[:6] for worker, name in ran if worker != booting]
    assert len(files) >= 9
    # A file's tests are together, in their order.
    assert files[::3] == files[1::3] == files[2::3]
    assert [name[-1] for worker, name in ran if worker != booting] == list("012") * (
        len(files) // 3
    )


def test_files_change_places_and_a_seed_gives_an_order_again(tmp_path, monkeypatch):
    monkeypatch.setattr(order, "boots", lambda file: file.name in ("test_c.py", "test_d.py"))
    monkeypatch.setattr(order, "BEGUN_EARLY", {"test_f.py"})
    given = [f"test_{name}.py::test_{nth}" for name in "abcdefgh" for nth in range(2)]
    orders = []
    for seed in (1, 2, 3, 1):
        items = [SimpleNamespace(nodeid=one) for one in given]
        options = SimpleNamespace(rootpath=tmp_path, getoption={"order": seed}.get)
        order.pytest_collection_modifyitems(options, items)
        orders.append([item.nodeid for item in items])
    for found in orders:
        assert sorted(found) == given
        assert all(one[:9] == other[:9] < other for one, other in pairwise_of(found))
        assert {one[:6] for one in found[:4]} == {"test_c", "test_d"} and found[4][:6] == "test_f"
    assert orders[0] == orders[3] and len({tuple(found) for found in orders}) == 3


def pairwise_of(found):
    return zip(found[::2], found[1::2], strict=True)


def test_long_files_and_those_that_boot_are_known(request):
    assert all((order.ROOT / file).is_file() for file in order.BEGUN_EARLY)
    for item in request.session.items:
        if item.get_closest_marker("boots"):
            assert order.boots(order.ROOT / order.file_of(item.nodeid)), item.nodeid


def test_of_what_takes_turns_each_test_runs_on_one_of_five_days(tmp_path):
    names = ["stays", *map(str, range(7))]
    items = [
        SimpleNamespace(
            nodeid=f"test_a.py::{name}", get_closest_marker=lambda _, n=name: n.isdigit()
        )
        for name in names
    ]
    left = []
    hook = SimpleNamespace(pytest_deselected=lambda items: left.extend(items))

    def ran(turn):
        given = {"turn": turn, "order": None}.get
        options = SimpleNamespace(rootpath=tmp_path, getoption=given, hook=hook)
        taken = list(items)
        order.pytest_collection_modifyitems(options, taken)
        return [item.nodeid.partition("::")[2] for item in taken]

    days = [ran(10**9 + day * order.DAY) for day in range(order.PARTS)]
    assert all(day[0] == "stays" and len(day) in (2, 3) for day in days)
    assert sorted(name for day in days for name in day[1:]) == names[1:]
    assert len(left) == 7 * (order.PARTS - 1)
    # Two runs of a day are the same, and without --turn nothing is left out.
    assert ran(10 * order.DAY) == ran(10 * order.DAY + order.DAY - 1) and ran(None) == names


def test_no_property_fails_for_its_time():
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check

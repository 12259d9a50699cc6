"""The one-line mutations of `make mutants`, and what is told of a run."""

import ast
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mutants import __main__ as mutants
from mutants import plain
from mutants.mutate import mutations, valid

SOURCE = '''LIMIT = 3
"""A constant of the module, which is left alone."""


def room(used, free):
    """Docstrings stay, too."""
    count = LIMIT - used
    if count >= free:
        return 0
    note(used, count)
    return f"{count + 1}"
'''


def changes(source=SOURCE):
    return {(one.kind, one.before, one.after) for one in mutations(source)}


def test_each_kind_of_change_is_made_once_a_place():
    assert changes() == {
        ("dropped", "count = LIMIT - used", "pass"),
        ("operator", "count = LIMIT - used", "count = LIMIT + used"),
        ("comparison", "if count >= free:", "if count > free:"),
        ("dropped", "return 0", "pass"),
        ("off by one", "return 0", "return 1"),
        ("dropped", "note(used, count)", "pass"),
        ("exchanged", "note(used, count)", "note(count, used)"),
        ("dropped", 'return f"{count + 1}"', "pass"),
    }


def test_a_mutation_differs_in_its_own_lines_alone():
    for one in mutations(SOURCE):
        assert valid(one)
        old, new = SOURCE.splitlines(), one.source.splitlines()
        assert [
            number
            for number, pair in enumerate(zip(old, new, strict=True), 1)
            if pair[0] != pair[1]
        ] == [one.line]
        assert ast.get_docstring(ast.parse(one.source).body[-1]) == "Docstrings stay, too."


@pytest.mark.parametrize(("code", "caught"), [(0, False), (1, True), (2, True)])
def test_tests_that_fail_or_cannot_be_imported_kill(monkeypatch, tmp_path, code, caught):
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: SimpleNamespace(returncode=code))
    assert mutants.killed(tmp_path, [], 1) is caught


def test_a_run_that_collects_no_tests_is_refused(tmp_path):
    """It says nothing of the mutation, so it is neither killed nor survived."""
    (tmp_path / "test_none.py").write_text("")
    with pytest.raises(SystemExit, match="ends with 5"):
        mutants.killed(tmp_path, ["test_none.py"], 60)


def test_fast_tests_pass_in_time_and_a_run_that_does_not_end_kills(tmp_path):
    (tmp_path / "test_three.py").write_text(
        "def test_fast():\n    pass\n\n\n"
        "def test_wrong():\n    raise AssertionError\n\n\n"
        "def test_long():\n    while True:\n        pass\n"
    )
    ids = mutants.fast(tmp_path, [mutants.ROOT / "test_three.py"], 1)
    assert ids == ["test_three.py::test_fast"]
    assert not mutants.killed(tmp_path, ids, 60)
    assert mutants.killed(tmp_path, ["test_three.py::test_long"], 3)


@pytest.mark.parametrize(
    ("file", "expected", "never"),
    [
        ("damon/model/core.py", "damon/model/test_core.py", "damon/model/test_young.py"),
        ("gso/model/flag.py", "gso/experiments/test_traffic.py", "gso/model/test_nothing.py"),
        (
            "gso/model/lastsegment.py",
            "gso/experiments/test_traffic.py",
            "swap/model/test_oracle.py",
        ),
        ("swap/model/scan.py", "swap/model/test_oracle.py", "swap/model/test_mutations.py"),
    ],
)
def test_the_tests_of_a_module_are_its_own_and_those_that_import_it(file, expected, never):
    found = mutants.tests(mutants.PACKAGE / file)
    names = [str(path.relative_to(mutants.ROOT / "tests")) for path in found]
    assert expected in names
    assert never not in names


def test_a_run_that_was_broken_off_goes_on_where_it_stood(tmp_path, monkeypatch):
    """What was killed is not run again; what survived is, and all of a file that changed."""
    made = tmp_path / "lib" / "lorelab" / "swap" / "model"
    made.mkdir(parents=True)
    file, results = made / "room.py", tmp_path / "results.csv"
    file.write_text(SOURCE)
    results.write_text(",".join(mutants.COLUMNS) + "\n")
    for name, value in (("ROOT", tmp_path), ("PACKAGE", made.parents[1]), ("RESULTS", results)):
        monkeypatch.setattr(mutants, name, value)
    ran = []

    def run(drawn, ends):
        for number, (_, one) in enumerate(drawn):
            if number == ends:
                raise KeyboardInterrupt
            ran.append((one.before, one.after))
            yield mutants.row(file, one, "killed" if number else "survived")

    monkeypatch.setattr(mutants, "run", run)
    every = {(before, after) for _, before, after in changes()}
    with pytest.raises(KeyboardInterrupt):
        mutants.measure("swap", [file], 100, 1, 4)
    survived, *killed = ran
    ran.clear()
    mutants.measure("swap", [file], 100, 1, 100)
    assert survived == ran[0]
    assert sorted(ran) == sorted(every - set(killed))
    assert len(pd.read_csv(results)) == len(every)
    ran.clear()
    file.write_text(SOURCE + "\n")
    mutants.measure("swap", [file], 100, 1, 100)
    assert len(ran) == len(pd.read_csv(results)) == len(every)


def test_rows_have_attributes_without_numba():
    """Those of nested structures too, and a field that is named as a method of numpy's rows."""
    zone = np.dtype([("min", "u8"), ("info", [("high", "u8")])])
    made = plain.with_rows(np.zeros)(2, zone)
    made[1].min = 3
    made[1].info.high = 4
    assert [(row.min, row.info.high) for row in made] == [(0, 0), (3, 4)]
    assert plain.with_rows(np.zeros)(2).dtype == float


def test_bad_input_is_told_in_a_line():
    for module, why in (("nowhere.py", "no such module"), ("lib/lorelab/cli.py", "of its own")):
        done = subprocess.run(
            [sys.executable, "-m", "mutants", module],
            cwd=mutants.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert why in done.stderr.splitlines()[-1]

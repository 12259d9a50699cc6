"""A run of `make mutants`, its table of outcomes, and what is told of it."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from lorelab.book import mutation_scores
from mutants import __main__ as mutants
from mutants import plain
from mutants import sample as samples
from mutants.mutate import mutations
from tests import ASKED
from tests.test_mutants_sample import forget
from tests.test_mutate import SOURCE, changes


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    """One that is started once; its tests stand in its own folder."""
    folder = tmp_path_factory.mktemp("forks")
    with mutants.Forks(folder, True, folder) as started:
        yield started


def file_of(forks, name, *lines):
    file = forks.folder / name
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def test_fast_tests_pass_in_time_and_name_the_functions_that_they_run(forks):
    """A fixture's functions are of each test that uses it, and so are those that a cache spares."""
    file = file_of(
        forks,
        "test_fast.py",
        "from functools import cache",
        "import pytest",
        "from lorelab import numerics",
        "from lorelab.judging import equivalence",
        "@cache",
        "def kept():",
        "    return numerics.splitmix64(numerics.ONE)",
        "@pytest.fixture(scope='module')",
        "def compared():",
        "    return equivalence.ratio([1, 2, 3], [1, 2, 4])",
        "def test_one(compared):",
        "    kept()",
        "def test_two(compared):",
        "    kept()",
        "def test_three():",
        "    pass",
        "def test_wrong():",
        "    raise AssertionError",
        "@pytest.fixture",
        "def laboratory():",
        "    pass",
        "def test_that_boots(laboratory):",
        "    pass",
        "def test_long():",
        "    while True:",
        "        numerics.splitmix64(numerics.ONE)",
    )
    found = forks.fast([file], 0.5, forks.folder / "ran.json")
    library = mutants.PACKAGE
    expected = {f"{library}/numerics.py:splitmix64", f"{library}/judging/equivalence.py:ratio"}
    runs = {id.split("::")[1]: one.runs & expected for id, one in found.items()}
    assert runs == {"test_one": expected, "test_two": expected, "test_three": set()}


def test_the_time_until_a_run_ends_begins_anew_with_each_test(forks):
    """Tracing a design takes longer than that, and ended after half an hour."""
    file = file_of(
        forks,
        "test_patience.py",
        "import signal",
        "def test_one():",
        "    assert signal.alarm(9) > 9",
        "def test_two():",
        "    assert signal.alarm(9) > 9",
    )
    assert forks.pytest([file]) == mutants.PASSED


ONE = {"test_page.py::test_page": mutants.Fast(0.1, set())}


def changed(old, new):
    """numerics.py with one text in the place of another."""
    file = mutants.PACKAGE / "numerics.py"
    text = file.read_text()
    assert text.count(old) == 1
    return mutants.name(file), file, text.replace(old, new)


def test_as_many_tests_as_the_budget_has_room_for(forks):
    """Each before other examples of one, the fastest first, and one at least."""
    took = {
        "a.py::one[1]": 1,
        "a.py::one[2]": 2,
        "a.py::two": 3,
        "b.py::three": 9,
        "b.py::other": 0,
    }
    ran = forks.folder / "took.json"
    runs = {id: ["g" if id == "b.py::other" else "f"] for id in took}
    ran.write_text(json.dumps({id: [seconds, runs[id]] for id, seconds in took.items()}))
    fast = forks.fast([], 0, ran)
    assert list(mutants.within(fast, {"f"}, 4)) == ["a.py::one[1]", "a.py::two"]
    assert list(mutants.within(fast, {"f", "h"}, 0.5)) == ["a.py::one[1]"]
    assert list(mutants.within(fast, {"f"}, 20)) == [
        *("a.py::one[1]", "a.py::two", "b.py::three", "a.py::one[2]")
    ]
    assert not mutants.within(fast, {"h"}, 20)


def test_a_module_that_is_named_like_a_test_is_mutated_too(forks):
    """By its own patterns pytest would load any *_test.py, as it stands on disk."""
    file_of(
        forks,
        "test_page.py",
        "from lorelab.swap.workload import allocator_test",
        "def test_page():",
        "    assert allocator_test.bucket(4) == 3",
    )
    file = mutants.PACKAGE / "swap/workload/allocator_test.py"
    text = file.read_text().replace("bits += ONE", "bits += ZERO")
    assert forks.killer(ONE, (mutants.name(file), file, text)) == "test_page.py::test_page"
    assert forks.killer(ONE, None) is None


def test_a_mutation_is_killed_by_the_test_that_fails(forks):
    file_of(
        forks,
        "test_page.py",
        "from lorelab.numerics import PAGE",
        "def test_page():",
        "    assert PAGE == 4096",
        "def test_that_was_not_chosen():",
        "    raise AssertionError",
    )
    assert forks.killer(ONE, None) is None
    assert forks.killer(ONE, changed("4096", "2 * 2048")) is None
    assert forks.killer(ONE, changed("4096", "4097")) == "test_page.py::test_page"
    assert forks.killer(ONE, changed("PAGE = 4096", "pass")) == "import"
    assert forks.killer(ONE, changed("PAGE = 4096", "raise SystemExit")) == "import"


def test_a_test_that_does_not_end_kills_even_in_compiled_code(forks, monkeypatch):
    monkeypatch.setattr(mutants, "BESIDES", 0.5)
    file_of(
        forks,
        "test_page.py",
        "from lorelab.numerics import PAGE",
        "def test_page():",
        "    if PAGE != 4096:",
        "        sum(range(10**13))",
    )
    assert forks.killer(ONE, changed("4096", "4097")) == "test_page.py::test_page"


def test_a_test_may_draw_a_chart_but_not_take_all_memory(forks):
    """What draws reserves more addresses than there is memory."""
    file_of(
        forks,
        "test_page.py",
        "import numpy",
        "import pytest",
        "import vl_convert",
        "def test_page():",
        "    spec = {'mark': 'point', 'data': {'values': [{'x': 1}]}}",
        "    assert '<svg' in vl_convert.vegalite_to_svg(spec)",
        "    with pytest.raises(MemoryError):",
        "        numpy.zeros(7 << 30, numpy.uint8)",
    )
    assert forks.killer(ONE, None) is None


def test_wrong_usage_says_nothing_of_a_mutation(forks):
    with pytest.raises(SystemExit, match="ends with 4"):
        forks.pytest(["nowhere.py"])


def test_no_test_is_chosen_that_reads_the_text_of_a_model():
    names = {str(path.relative_to(mutants.ROOT / "tests")) for path in mutants.tests("swap")}
    assert {"swap/model/test_oracle.py", "swap/test_params.py", "swap/kernel/test_cpus.py"} <= names
    assert "swap/model/test_mutations.py" not in names


def test_a_run_that_was_broken_off_goes_on_where_it_stood(tmp_path, monkeypatch):
    """What was killed is not run again; what survived is, and all of a file that changed."""
    made = tmp_path / "lib" / "lorelab" / "swap" / "model"
    made.mkdir(parents=True)
    file, results = made / "room.py", tmp_path / "results.csv"
    file.write_text(SOURCE)
    results.write_text(",".join(mutants.COLUMNS) + "\n")
    for module in (mutants, samples):
        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "PACKAGE", made.parents[1])
    monkeypatch.setattr(mutants, "RESULTS", results)
    ran = []

    def run(design, drawn, limit, ends):
        for number, (_, one) in enumerate(drawn):
            if number == ends:
                raise KeyboardInterrupt
            ran.append((one.before, one.after))
            yield mutants.row(file, one, "killed" if number else "survived", 1, None)

    monkeypatch.setattr(mutants, "run", run)

    def measure(ends):
        forget()
        mutants.measure("swap", [file], mutants.sample([file], 100, 1), 1, ends)

    every = {(before, after) for _, before, after in changes()}
    with pytest.raises(KeyboardInterrupt):
        measure(4)
    survived, *killed = ran
    ran.clear()
    measure(100)
    assert survived == ran[-1]
    assert sorted(ran) == sorted(every - set(killed))
    assert len(pd.read_csv(results)) == len(every)
    ran.clear()
    file.write_text(SOURCE + "\n")
    measure(100)
    assert len(ran) == len(pd.read_csv(results)) == len(every)


def test_a_survivor_is_equivalent_as_long_as_it_is_listed(tmp_path, monkeypatch):
    """One that was killed is not."""
    listed = tmp_path / "equivalent.csv"
    monkeypatch.setattr(mutants, "EQUIVALENT", listed)
    table = pd.DataFrame(
        {"file": "a.py", "before": ["x", "y", "z"], "after": "pass"}
        | {"outcome": ["killed", "survived", "survived"]}
    )
    listed.write_text("file,before,after,reason\na.py,x,pass,no\na.py,y,pass,no\n")
    found = mutants.judged(table)
    assert list(found["outcome"]) == ["killed", "equivalent", "survived"]
    listed.write_text("file,before,after,reason\n")
    assert list(mutants.judged(found)["outcome"]) == ["killed", "survived", "survived"]
    assert mutants.judged(table.iloc[:0]).empty


def test_rows_have_attributes_without_numba():
    """Those of nested structures too, and a field that is named as a method of numpy's rows."""
    zone = np.dtype([("min", "u8"), ("info", [("high", "u8")])])
    made = plain.with_rows(np.zeros)(2, zone)
    assert plain.with_rows(np.array)([(1, (2,))], zone)[0].info.high == 2
    made[1].min = 3
    made[1].info.high = 4
    assert [(row.min, row.info.high) for row in made] == [(0, 0), (3, 4)]
    assert plain.with_rows(np.zeros)(2).dtype == float
    # What swap's setup() does: words that are filled, and then taken for a structure.
    words = plain.with_rows(np.zeros)(4, np.uint64)
    words[:2] = 5, 6
    laid = words.view(zone)
    laid[1].info.high = 7
    assert [(row.min, row.info.high) for row in laid] == [(5, 6), (0, 7)]
    assert words.tolist() == [5, 6, 0, 7]
    assert laid.view(np.uint64).tolist() == [5, 6, 0, 7]


def test_a_file_that_was_changed_is_told(tmp_path):
    """Its rows stay until the next run, and the table says how many they are."""
    files = [tmp_path / name for name in ("a.py", "b.py")]
    results = tmp_path / "results.csv"
    lines = ["design,file,source,outcome"]
    for number, file in enumerate(files):
        file.write_text(f"A = {number}\n")
        rows = ("killed", "killed", "survived", "equivalent")
        lines += [f"swap,{file.name},{mutation_scores.digest(file)},{outcome}" for outcome in rows]
    results.write_text("\n".join(lines))
    assert mutation_scores.scores(results, tmp_path).loc["swap"].to_list() == [8, 4, 2, 2, 66.7, 0]
    files[0].write_text("A = 2\n")
    files[1].unlink()
    assert mutation_scores.scores(results, tmp_path).loc["swap", "in files changed since"] == 8
    files[0].write_text("A = 0\n")
    assert mutation_scores.scores(results, tmp_path).loc["swap", "in files changed since"] == 4


TABLE = pd.read_csv(mutants.RESULTS)
JUDGED = pd.read_csv(mutants.EQUIVALENT)


def test_the_table_has_a_sample_of_each_design_and_nine_tenths_are_killed():
    scores = mutation_scores.scores()
    assert set(scores.index) == set(ASKED)
    assert (scores["mutations"] >= 150).all()
    assert not TABLE.duplicated(mutants.KEY).any()
    assert (scores["killed, % of not equivalent"] >= 90).all()


def test_whoever_calls_a_survivor_equivalent_gives_the_reason():
    columns = ["file", "before", "after"]
    assert not JUDGED.duplicated(columns).any()
    assert JUDGED["reason"].str.split().str.len().ge(5).all()
    reasons = set(JUDGED[columns].agg(tuple, axis=1))
    judged = TABLE[TABLE["outcome"] == "equivalent"]
    tabled = set(judged[columns].agg(tuple, axis=1))
    assert tabled <= reasons
    # Of what was judged since the table was made, the line is there.
    for file, line, _ in reasons - tabled:
        assert line in (mutants.ROOT / file).read_text()


def test_the_rows_of_a_file_as_it_is_are_mutations_of_it():
    now = TABLE[~mutation_scores.changed(TABLE)]
    for name, rows in now.groupby("file"):
        every = mutations((mutants.ROOT / name).read_text())
        made = {(one.line, one.kind, one.before, one.after) for one in every}
        assert set(rows[["line", "kind", "before", "after"]].agg(tuple, axis=1)) <= made


def test_bad_input_is_told_in_a_line():
    for module, why in (
        ("nowhere.py", "no such module"),
        ("lib/lorelab/cli.py", "nothing to mutate"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "mutants", module],
            cwd=mutants.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert why in done.stderr.splitlines()[-1]


def test_every_model_is_there_without_compilation():
    """Mutations of compiled functions run so; a module that fails then would count as killed."""
    files = sorted(file for room in samples.PACKAGE.glob("*/model") for file in room.rglob("*.py"))
    names = [mutants.name(file) for file in files if file.stem != "__init__"]
    assert len(names) > 50
    code = f"import {', '.join(names)}"
    env = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert not done.returncode, done.stderr[-500:]

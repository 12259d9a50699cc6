"""A notebook's parameters are checked, and the source it shows is the library's."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numba
import pandas as pd
import pytest

import lorelab
from lorelab import errors, params
from lorelab.experiments import Experiment, experiment
from lorelab.lab import records
from lorelab.swap.params import Variant

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def test_importing_lorelab_leaves_a_kernel_as_it_is():
    """pandas, for one, behaves otherwise when it was imported before the kernel was there."""
    code = "import sys, lorelab; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not {"pandas", "numpy", "numba", "IPython"} & set(loaded.stdout.split())


def test_good_parameters_come_back_checked():
    given = lorelab.check("swap/allocator-test", seed=7, variant="v3")
    assert (given.seed, given.variant) == (7, Variant.V3)


@pytest.mark.parametrize(
    ("given", "says"),
    [({"sed": 7}, "unknown parameter sed"), ({"seed": -1}, "seed=-1"), ({"seed": "x"}, "seed=x")],
)
def test_bad_parameters_are_named(given, says):
    with pytest.raises(errors.BadInput, match=says):
        lorelab.check("swap/allocator-test", **given)


def test_an_unknown_experiment_is_named():
    with pytest.raises(errors.BadInput, match="swap/nothing"):
        lorelab.check("swap/nothing")


def test_show_gives_the_source_as_it_stands():
    shown = lorelab.show(params.label, params.format_value)
    assert inspect.getsource(params.label).strip() in repr(shown)
    assert inspect.getsource(params.format_value).strip() in repr(shown)
    code, _, places = shown._repr_markdown_().partition("\n\n`lib/lorelab/params.py`, line ")
    assert code == f"```python\n{shown!r}\n```"
    assert re.fullmatch(r"\d+  \n`lib/lorelab/params.py`, line \d+", places)


@numba.njit
def twice(x):
    return 2 * x


def test_show_sees_through_numba():
    assert "return 2 * x" in repr(lorelab.show(twice))


ALLOCATOR = experiment("swap/allocator-test")


def test_a_recorded_run_is_the_record_and_an_unknown_one_is_bad_input():
    given = lorelab.check(ALLOCATOR.name)
    assert lorelab.measured(ALLOCATOR.name, given, "recorded").counters.equals(
        ALLOCATOR.recorded(given).counters
    )
    with pytest.raises(errors.BadInput, match="seed=123456: rerun with -p kernel=live"):
        unknown = lorelab.check(ALLOCATOR.name, seed=123456)
        lorelab.measured(ALLOCATOR.name, unknown, "recorded")
    with pytest.raises(errors.BadInput, match="kernel=old: takes one of recorded, live"):
        lorelab.measured(ALLOCATOR.name, given, "old")


def test_a_live_run_is_measured_now(monkeypatch):
    given = lorelab.check(ALLOCATOR.name)
    made = ALLOCATOR.recorded(given)._replace(probes=("now",))
    monkeypatch.setattr(Experiment, "measure", lambda _, wanted: [made for _ in wanted])
    assert lorelab.measured(ALLOCATOR.name, given, "live") is made


def test_provenance_has_a_column_for_each_kernel_and_machine():
    kept = [ALLOCATOR.recorded(p) for p in records.recorded(ALLOCATOR.name, ALLOCATOR.Params)]
    table = lorelab.provenance(*kept)
    rows = ["runs", "kernel", "patches", "config", "image", "machine", "tree"]
    assert list(table.index) == rows
    assert sum(int(runs.split()[0]) for runs in table.loc["runs"]) == len(kept)
    images = {record.provenance.kernel.image_sha256[:12] for record in kept}
    assert {text[7:19] for text in table.loc["image"]} == images
    assert not table.drop(index="runs").T.duplicated().any()
    alone = lorelab.provenance(kept[0], kernel="live")
    day = kept[0].provenance.date
    assert alone.loc["runs", 1] == f"1 live, {day.day} {day:%B %Y}"


def test_a_page_says_where_every_record_comes_from_that_it_has_read(monkeypatch):
    monkeypatch.setattr(records, "_loaded", {})
    given, other = records.recorded(ALLOCATOR.name, ALLOCATOR.Params)[:2]
    for asked in (given, other, given):
        ALLOCATOR.recorded(asked)
    both = lorelab.provenance(ALLOCATOR.recorded(given), ALLOCATOR.recorded(other))
    assert repr(lorelab.sources()) == repr(both)


def test_every_recorded_run_is_held_against_the_model(monkeypatch):
    kept = records.recorded(ALLOCATOR.name, ALLOCATOR.Params)[:3]
    monkeypatch.setattr(records, "recorded", lambda *_: kept)
    table = lorelab.against_model(ALLOCATOR.name)
    assert list(table["parameters"]) == [params.to_cli(one).replace(",", " ") for one in kept]
    assert (table["verdict"] == "passed").all()
    assert (table["agree"] == table["counters"]).all()
    wrong = ALLOCATOR.simulate(kept[0]).assign(value=lambda t: t["value"] + 1)
    monkeypatch.setattr(Experiment, "simulate", lambda *_: wrong)
    assert lorelab.against_model(ALLOCATOR.name)["verdict"][0] == "failed"


@pytest.mark.parametrize(
    ("name", "judged", "marked"), [("fairzone/probed", 4, 2), ("vmalock/threads", 13, 3)]
)
def test_a_counter_that_has_a_mark_is_not_among_those_that_agree(name, judged, marked):
    """By hand, of the default: zones.passes and zones.slow; step_locked, step_mmap, the reasons."""
    row = lorelab.against_model(name).set_index("parameters").loc["default"]
    assert (row["counters"], row["agree"]) == (judged, judged)
    question = experiment(name)
    held = question.agree(question.Params(), question.recorded(question.Params()))
    assert len(held.table) == judged + marked


def test_a_wide_table_scrolls_and_reads_as_it_is():
    table = pd.DataFrame({"a": [1]})
    assert repr(lorelab.wide(table)) == repr(table)
    assert table._repr_html_() in lorelab.wide(table)._repr_html_()
    long = "no-cell-is-cut-" * 9
    assert long in lorelab.wide(pd.DataFrame({"a": [long]}))._repr_html_()


def test_each_page_that_reads_records_says_where_they_come_from():
    silent = []
    for file in sorted((NOTEBOOKS / ".rests-on").glob("*/*.json")):
        page = (NOTEBOOKS / file.relative_to(NOTEBOOKS / ".rests-on")).with_suffix(".ipynb")
        read = json.loads(file.read_text())["basis"]["files"]
        if page.stem == "index":
            continue  # whose each number is stands beside it: tests/book/test_landing.py
        mixes = any(name.startswith("data/kernel/") and name.endswith(".csv") for name in read)
        if mixes and "sources()" not in page.read_text():
            silent.append(page.name)
    assert not silent

"""The ledger says what the pages of the threads say, and what recorded runs came to."""

import json
import re

import nbformat
import pandas as pd
import pytest

from lorelab.book import build, ledger
from lorelab.book.verdicts import MIME, Claims, shown, strip
from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import designs
from lorelab.judging.claims import COLUMNS

ROWS = pd.DataFrame(
    [
        ("swap", "one", "It <is> so.", "line 1", "by eye", "holds", "Why & how.", "a 1"),
        ("swap", "two", "It is not.", "line 2", "by ear", "contradicted", "Why.", "b 2"),
        ("gso", "one", "So it is.", "line 3", "by eye", "holds", "Why.", "c 3"),
    ],
    columns=COLUMNS,
)


def page(folder, design, table):
    """A thread's page whose second cell shows the claims."""
    cells = [{"outputs": []}, {"outputs": [{"data": Claims(table)._repr_mimebundle_()}]}, {}]
    file = folder / design / "thread.ipynb"
    file.parent.mkdir()
    file.write_text(json.dumps({"cells": cells}))


def test_what_a_page_shows_is_what_the_ledger_reads(tmp_path):
    page(tmp_path, "swap", ROWS[:2])
    assert ledger.weighed("swap", tmp_path).equals(ROWS[:2])


def test_the_book_has_the_table_and_not_the_data():
    shown = nbformat.v4.new_output("display_data", Claims(ROWS[:2])._repr_mimebundle_())
    cells = [nbformat.v4.new_code_cell("found", outputs=[shown])]
    notebook = nbformat.v4.new_notebook(cells=[*cells, nbformat.v4.new_markdown_cell("# Page")])
    build.without_data(notebook)
    assert set(notebook.cells[0].outputs[0].data) == {"text/plain", "text/html"}


def test_a_page_without_claims_is_named(tmp_path):
    page(tmp_path, "swap", ROWS[:2])
    file = tmp_path / "swap/thread.ipynb"
    file.write_text(file.read_text().replace(MIME, "text/plain2"))
    with pytest.raises(RunFailed, match=r"swap/thread.ipynb: shows no ledger"):
        ledger.weighed("swap", tmp_path)


def test_a_claim_in_the_ledger_leads_to_its_row():
    here = Claims(ROWS[:2])._repr_html_()
    there = Claims(ROWS[:2], ("statement", "evidence"), "swap/thread.html")
    assert '<tr id="claim-one">' in here
    assert '<a href="#claim-one">one</a>' in here
    assert "It &lt;is&gt; so." in here and "Why &amp; how." in here
    assert '<a href="swap/thread.html#claim-two">two</a>' in there._repr_html_()
    assert "id=" not in there._repr_html_()
    assert MIME not in there._repr_mimebundle_()


def test_totals_count_each_claim_once():
    counted = ledger.totals(ROWS)
    assert counted.loc["swap", ["holds", "contradicted", "claims"]].tolist() == [1, 1, 2]
    assert counted.loc["all", "claims"] == 3
    assert list(counted.columns) == [*shown(ROWS), "claims"]


def test_a_strip_has_a_piece_for_each_claim():
    drawn = strip(ROWS).to_dict()
    pieces, numbers = (drawn["datasets"][layer["data"]["name"]] for layer in drawn["layer"])
    assert [(piece["design"], piece["place"], piece["end"]) for piece in pieces] == [
        ("gso", 0, 1),
        ("swap", 0, 1),
        ("swap", 1, 2),
    ]
    assert sum(number["claims"] for number in numbers) == 3


def test_the_pages_of_the_book_show_all_claims():
    from lorelab.judging.claims import claims

    for design in designs():
        assert list(ledger.weighed(design)["id"]) == [claim.id for claim in claims(design)]


@pytest.fixture
def held(monkeypatch, tmp_path):
    monkeypatch.setattr(ledger, "AGREEMENTS", tmp_path)
    return tmp_path


def rows(folder, name, verdicts, agree):
    file = folder / f"{name}.csv"
    file.parent.mkdir(exist_ok=True)
    lines = [f"{verdict},10,{agree}" for verdict in verdicts]
    file.write_text("\n".join(["verdict,counters,agree", *lines]) + "\n")


def test_the_worst_agreement_comes_first(held):
    rows(held, "swap/paths", ["passed", "passed"], 10)
    rows(held, "swap/cpus", ["passed", "undecided"], 10)
    rows(held, "swap/probed", ["passed", "failed"], 8)
    rows(held, "swap/switches", ["passed", "failed"], 5)
    found = ledger.agreements()
    names = ["swap/switches", "swap/probed", "swap/cpus", "swap/paths"]
    assert list(found.index) == names
    assert list(found["verdict"]) == ["failed", "failed", "undecided", "passed"]
    assert found.loc["swap/probed", ["runs", "failed", "passed", "agree"]].tolist() == [2, 1, 1, 16]


def test_a_run_without_a_model_has_neither_passed_nor_failed(held):
    rows(held, "swap/paths", ["no model"], 0)
    rows(held, "swap/cpus", ["no model", "passed"], 5)
    found = ledger.agreements()
    assert list(found["verdict"]) == ["passed", "no model"]
    assert found.loc["swap/cpus", ["runs", "failed", "passed", "no model"]].tolist() == [2, 0, 1, 1]
    assert not found["failed"].any()


@pytest.mark.parametrize("name", ["swap/switches", "swap/probed"])
def test_what_is_kept_is_what_a_run_now_gives(held, name):
    kept = (ledger.ROOT / f"data/agreements/{name}.csv").read_text()
    assert ledger.judge_records(name).read_text() == kept


def test_a_run_that_was_not_held_is_named(held):
    assert "swap/probed" in ledger.unjudged()
    ledger.judge_records("swap/probed")
    assert "swap/probed" not in ledger.unjudged()
    assert ledger.refused().empty


def test_an_experiment_without_a_model_is_refused(held):
    with pytest.raises(BadInput, match="has no model half"):
        ledger.judge_records("swap/instructions")
    assert not list(held.rglob("*.csv"))


def test_a_sentence_counts_the_counters_that_its_row_counts():
    """Where it says how many it judged; a counter that has a mark is none of them."""
    said = 0
    for file in sorted(ledger.AGREEMENTS.glob("*/*.csv")):
        for row in pd.read_csv(file).itertuples():
            for judged in re.findall(r"of (\d+) counters", row.method):
                assert int(judged) == row.counters, (file, row.parameters)
                said += 1
    assert said > 100


@pytest.mark.parametrize(
    "name", ["damon/overhead", "fairzone/probed", "gso/layout", "swap/paths", "vmalock/threads"]
)
def test_what_is_kept_is_what_the_judge_says_today(name, tmp_path, monkeypatch):
    """Of each design the records that take least; `lorelab.book judge EXPERIMENT` judges anew."""
    kept = (ledger.AGREEMENTS / f"{name}.csv").read_text()
    monkeypatch.setattr(ledger, "AGREEMENTS", tmp_path)
    assert ledger.judge_records(name).read_text() == kept

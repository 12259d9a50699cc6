"""The verdicts follow from figures and model: change one, and they move."""

import pandas as pd
import pytest

from lorelab import threads
from lorelab.claims import Verdict
from lorelab.vmalock.thread import checks, figures
from lorelab.vmalock.thread.claims import CLAIMS

REAL = threads.figures("vmalock")
MODEL = {"spf", "launch"}
"""Claims that take the model a while."""


@pytest.fixture
def edited(monkeypatch):
    def edit(values):
        rows = REAL.copy()
        for id, value in values.items():
            rows.loc[id, "value"] = value
        monkeypatch.setattr(threads, "figures", lambda design: rows)

    return edit


def weighed(id):
    [claim] = [claim for claim in CLAIMS if claim.id == id]
    return claim.weigh()


@pytest.mark.parametrize(
    ("id", "verdict"),
    [
        ("fallback", Verdict.HOLDS),
        ("read-locked", Verdict.HOLDS),
        ("bulk", Verdict.HOLDS),
        ("still-contended", Verdict.HOLDS),
        ("launch-contention", Verdict.OTHER_NUMBER),
        ("all-block", Verdict.HOLDS),
        ("madvise-waits", Verdict.HOLDS),
        ("entirely", Verdict.HOLDS),
        ("bouncing", Verdict.HOLDS),
        ("saving", Verdict.HOLDS),
        ("parts", Verdict.OTHER_NUMBER),
        ("diffstat", Verdict.ARITHMETIC),
        ("authors", Verdict.ARITHMETIC),
        ("messages", Verdict.ARITHMETIC),
    ],
)
def test_verdicts(id, verdict):
    assert weighed(id).verdict is verdict


@pytest.mark.parametrize(
    ("id", "values", "verdict"),
    [
        ("saving", {"saving": 0.9}, Verdict.HOLDS),
        ("saving", {"saving": 1.0}, Verdict.CONTRADICTED),
        ("saving", {"saving": 1.5}, Verdict.CONTRADICTED),
        ("parts", {"part-main-last": 31}, Verdict.HOLDS),
        ("parts", {"part-main-last": 30}, Verdict.CONTRADICTED),
        ("diffstat", {"changed-mm-rmap.c": 32}, Verdict.CONTRADICTED),
        ("diffstat", {"files": 27}, Verdict.CONTRADICTED),
        ("authors", {"author-howlett": 5}, Verdict.CONTRADICTED),
        ("again", {"find-base-again": 0.8}, Verdict.CONTRADICTED),
        ("find", {"find-series": 0.8}, Verdict.CONTRADICTED),
        ("messages", {"messages": 125}, Verdict.CONTRADICTED),
    ],
)
def test_a_verdict_moves_with_its_figure(edited, id, values, verdict):
    edited(values)
    assert weighed(id).verdict is verdict


def test_a_run_without_equal_numbers_shows_nothing_of_the_rule(monkeypatch):
    found = dict.fromkeys(("abort_early", "abort_late", "mmap"), 0)
    monkeypatch.setattr(checks, "ran", lambda params: found)
    assert checks.weigh_write_locked().verdict is Verdict.NOT_TESTABLE


def test_receivers_that_sleep_for_another_vma_contradict_the_letter(monkeypatch):
    monkeypatch.setattr(checks, "after_and_before", lambda params: [{"sleep_reader": 1}] * 2)
    assert checks.weigh_entirely().verdict is Verdict.CONTRADICTED


def test_readings_of_the_saving_part():
    allowed = figures.saving()
    assert allowed["nested"][1] < figures.figure("saving") < allowed["disjoint"][0]


def test_evidence_is_plain():
    for claim in CLAIMS:
        if claim.id not in MODEL:
            for name, value in claim.weigh().evidence.items():
                assert isinstance(name, str)
                assert isinstance(value, (str, int, float)), (claim.id, name, type(value))
                assert not isinstance(value, float) or not pd.isna(value)

"""The verdicts follow from figures and model: change one, and they move."""

import pandas as pd
import pytest

from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict
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
        ("fallback", ClaimVerdict.HOLDS),
        ("read-locked", ClaimVerdict.HOLDS),
        ("bulk", ClaimVerdict.HOLDS),
        ("still-contended", ClaimVerdict.HOLDS),
        ("launch-contention", ClaimVerdict.OTHER_NUMBER),
        ("all-block", ClaimVerdict.HOLDS),
        ("madvise-waits", ClaimVerdict.HOLDS),
        ("entirely", ClaimVerdict.HOLDS),
        ("bouncing", ClaimVerdict.HOLDS),
        ("saving", ClaimVerdict.HOLDS),
        ("parts", ClaimVerdict.OTHER_NUMBER),
        ("diffstat", ClaimVerdict.ARITHMETIC),
        ("authors", ClaimVerdict.ARITHMETIC),
        ("messages", ClaimVerdict.ARITHMETIC),
    ],
)
def test_verdicts(id, verdict):
    assert weighed(id).verdict is verdict


@pytest.mark.parametrize(
    ("id", "values", "verdict"),
    [
        ("saving", {"saving": 0.9}, ClaimVerdict.HOLDS),
        ("saving", {"saving": 1.0}, ClaimVerdict.CONTRADICTED),
        ("saving", {"saving": 1.5}, ClaimVerdict.CONTRADICTED),
        ("parts", {"part-main-last": 31}, ClaimVerdict.HOLDS),
        ("parts", {"part-main-last": 30}, ClaimVerdict.CONTRADICTED),
        ("diffstat", {"changed-mm-rmap.c": 32}, ClaimVerdict.CONTRADICTED),
        ("diffstat", {"files": 27}, ClaimVerdict.CONTRADICTED),
        ("authors", {"author-howlett": 5}, ClaimVerdict.CONTRADICTED),
        ("again", {"find-base-again": 0.8}, ClaimVerdict.CONTRADICTED),
        ("find", {"find-series": 0.8}, ClaimVerdict.CONTRADICTED),
        ("messages", {"messages": 125}, ClaimVerdict.CONTRADICTED),
    ],
)
def test_a_verdict_moves_with_its_figure(edited, id, values, verdict):
    edited(values)
    assert weighed(id).verdict is verdict


def test_a_run_without_equal_numbers_shows_nothing_of_the_rule(monkeypatch):
    found = dict.fromkeys(("abort_early", "abort_late", "mmap"), 0)
    monkeypatch.setattr(checks, "ran", lambda params: found)
    assert checks.weigh_write_locked().verdict is ClaimVerdict.NOT_TESTABLE


def test_receivers_that_sleep_for_another_vma_contradict_the_letter(monkeypatch):
    monkeypatch.setattr(checks, "after_and_before", lambda params: [{"sleep_reader": 1}] * 2)
    assert checks.weigh_entirely().verdict is ClaimVerdict.CONTRADICTED


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

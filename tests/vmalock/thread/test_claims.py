"""The verdicts follow from figures and model: change one, and they move."""

import pandas as pd
import pytest

from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict
from lorelab.vmalock import figures
from lorelab.vmalock.thread import checks
from lorelab.vmalock.thread.claims import CLAIMS

REAL = threads.figures("vmalock")


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
        ("launch-contention", ClaimVerdict.HOLDS),
        ("all-block", ClaimVerdict.HOLDS),
        ("madvise-waits", ClaimVerdict.HOLDS),
        ("entirely", ClaimVerdict.HOLDS),
        ("bouncing", ClaimVerdict.HOLDS),
        ("saving", ClaimVerdict.HOLDS),
        ("spf", ClaimVerdict.NOT_TESTABLE),
        ("launch", ClaimVerdict.NOT_TESTABLE),
        ("fibers", ClaimVerdict.NOT_TESTABLE),
        ("parts", ClaimVerdict.ARITHMETIC),
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
        ("parts", {"part-main-last": 31}, ClaimVerdict.ARITHMETIC),
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


def logged(event, vm_lock_seq):
    return pd.DataFrame({"event": [event], "vm_lock_seq": [vm_lock_seq], "mm_lock_seq": [7]})


@pytest.mark.parametrize(
    ("event", "vm_lock_seq", "verdict"),
    [
        ("early", 7, ClaimVerdict.HOLDS),
        ("late", 7, ClaimVerdict.HOLDS),
        ("early", 5, ClaimVerdict.CONTRADICTED),
        ("locked", 7, ClaimVerdict.CONTRADICTED),
        ("locked", 5, ClaimVerdict.NOT_TESTABLE),
    ],
)
def test_the_rule_of_equal_numbers_is_the_logs(monkeypatch, event, vm_lock_seq, verdict):
    monkeypatch.setattr(checks, "log", lambda name: logged(event, vm_lock_seq))
    assert checks.weigh_write_locked().verdict is verdict


@pytest.mark.parametrize(
    ("id", "table", "row", "column", "value"),
    [
        ("fallback", "threads", "step_mmap", ("merging", "vma"), 323),
        ("still-contended", "threads", "vma_lock_abort", ("shared", "vma"), 0),
        ("still-contended", "threads", "step_wait", ("shared", "vma"), 0),
        ("launch-contention", "threads", "step_mmap", ("private", "vma"), 1),
        ("launch-contention", "workloads", "reads", "vma", 6400),
        ("madvise-waits", "workloads", "rwsem_sleep_writer", ("vma", "another"), 1),
        ("entirely", "workloads", "refused", ("vma", "another"), 1),
        ("mmap", "workloads", "reads", ("vma", "another"), 3282),
    ],
)
def test_a_verdict_moves_with_its_record(monkeypatch, id, table, row, column, value):
    real = getattr(checks, table)

    def moved(*given):
        counts = real(*given).copy()
        counts.loc[row, column] = value
        return counts

    monkeypatch.setattr(checks, table, moved)
    assert weighed(id).verdict is ClaimVerdict.CONTRADICTED


def test_no_refused_fault_shows_nothing_of_the_way_back(monkeypatch):
    counts = checks.threads().copy()
    for mode in ("private", "shared", "merging"):
        counts[mode, "vma"] = counts["private", "vma"]
    monkeypatch.setattr(checks, "threads", lambda: counts)
    assert weighed("fallback").verdict is ClaimVerdict.NOT_TESTABLE


def test_readings_of_the_saving_part():
    allowed = figures.saving()
    assert allowed["nested"][1] < figures.figure("saving") < allowed["disjoint"][0]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_evidence_is_plain(claim):
    for name, value in claim.weigh().evidence.items():
        assert isinstance(name, str)
        assert isinstance(value, (str, int, float)), (name, type(value))
        assert not isinstance(value, float) or not pd.isna(value)

"""The claims of the thread: their verdicts, and that the evidence moves them."""

import pytest

from lorelab import threads
from lorelab.claims import Verdict
from lorelab.gso.params import TRAITS, Traits, Variant
from lorelab.gso.thread import checks, figures
from lorelab.gso.thread.claims import CLAIMS


def verdict(id):
    return next(claim for claim in CLAIMS if claim.id == id).weigh().verdict


def test_ids_are_unique_and_every_row_is_cited_or_only_describes():
    ids = [claim.id for claim in CLAIMS]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("improvement", Verdict.OTHER_NUMBER),
        ("patched-size", Verdict.OTHER_NUMBER),
        ("patched-aligned", Verdict.HOLDS),
        ("all-truesizes", Verdict.OTHER_NUMBER),
        ("after-all-fragments", Verdict.CONTRADICTED),
        ("verified", Verdict.HOLDS),
        ("shared-count", Verdict.HOLDS),
        ("last-segment", Verdict.HOLDS),
        ("reused-field", Verdict.CONTRADICTED),
        ("more-guests", Verdict.NOT_TESTABLE),
    ],
)
def test_verdicts(id, expected):
    assert verdict(id) == expected


def test_the_digits_support_23_4_to_23_6_per_cent():
    low, high = figures.gain()
    assert (round(low, 1), round(high, 1)) == (23.4, 23.6)


@pytest.fixture
def moved(monkeypatch):
    """Set a printed figure to another value."""
    real = threads.figures("gso")

    def move(id, value):
        changed = real.copy()
        changed.loc[id, "value"] = value
        monkeypatch.setattr(threads, "figures", lambda design: changed)
        checks.struct.cache_clear()

    return move


@pytest.mark.parametrize(
    ("id", "value", "claim", "expected"),
    [
        ("base-bandwidth", 1033, "base-bandwidth", Verdict.CONTRADICTED),
        ("patched-volume", 44.6, "patched-bandwidth", Verdict.CONTRADICTED),
        ("improvement", 23.5, "improvement", Verdict.HOLDS),
        ("improvement", 26, "improvement", Verdict.CONTRADICTED),
        ("base-size", 336, "base-size", Verdict.CONTRADICTED),
        ("patched-size", 336, "patched-size", Verdict.HOLDS),
        ("patched-frags1", 88, "patched-frags1", Verdict.CONTRADICTED),
        ("patched-aligned", 448, "patched-aligned", Verdict.CONTRADICTED),
        ("patched-lines", 3, "two-lines", Verdict.CONTRADICTED),
        ("insertions", 15, "diffstat", Verdict.CONTRADICTED),
    ],
)
def test_another_figure_moves_the_verdict(moved, id, value, claim, expected):
    moved(id, value)
    assert verdict(claim) == expected


@pytest.mark.parametrize(
    ("variant", "traits", "claim"),
    [
        (Variant.SHARED_COUNT, Traits(), "shared-count"),
        (Variant.ORPHAN, Traits(), "orphan-safe"),
        (Variant.LAST_SEGMENT, Traits(counts=True, flagged=True), "last-segment"),
        (Variant.HEAD_ONLY, Traits(copies=True), "corruption"),
        (Variant.SHARED_COUNT, Traits(counts=True, sk_buff_bytes=8), "special-case-pays"),
    ],
)
def test_another_way_moves_the_verdict(monkeypatch, variant, traits, claim):
    monkeypatch.setitem(TRAITS, variant, traits)
    checks.steps_to_break.cache_clear()
    assert verdict(claim) == Verdict.CONTRADICTED
    checks.steps_to_break.cache_clear()

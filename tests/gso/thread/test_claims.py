"""The claims of the thread: their verdicts, and that the evidence moves them."""

import pytest

from lorelab import threads
from lorelab.claims import ClaimVerdict
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
        ("improvement", ClaimVerdict.OTHER_NUMBER),
        ("patched-size", ClaimVerdict.OTHER_NUMBER),
        ("patched-aligned", ClaimVerdict.HOLDS),
        ("all-truesizes", ClaimVerdict.OTHER_NUMBER),
        ("after-all-fragments", ClaimVerdict.CONTRADICTED),
        ("verified", ClaimVerdict.HOLDS),
        ("shared-count", ClaimVerdict.HOLDS),
        ("last-segment", ClaimVerdict.HOLDS),
        ("reused-field", ClaimVerdict.CONTRADICTED),
        ("more-guests", ClaimVerdict.NOT_TESTABLE),
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
        ("base-bandwidth", 1033, "base-bandwidth", ClaimVerdict.CONTRADICTED),
        ("patched-volume", 44.6, "patched-bandwidth", ClaimVerdict.CONTRADICTED),
        ("improvement", 23.5, "improvement", ClaimVerdict.HOLDS),
        ("improvement", 26, "improvement", ClaimVerdict.CONTRADICTED),
        ("base-size", 336, "base-size", ClaimVerdict.CONTRADICTED),
        ("patched-size", 336, "patched-size", ClaimVerdict.HOLDS),
        ("patched-frags1", 88, "patched-frags1", ClaimVerdict.CONTRADICTED),
        ("patched-aligned", 448, "patched-aligned", ClaimVerdict.CONTRADICTED),
        ("patched-lines", 3, "two-lines", ClaimVerdict.CONTRADICTED),
        ("insertions", 15, "diffstat", ClaimVerdict.CONTRADICTED),
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
    assert verdict(claim) == ClaimVerdict.CONTRADICTED
    checks.steps_to_break.cache_clear()

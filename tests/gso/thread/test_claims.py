"""The claims of the thread: their verdicts, and that the evidence moves them."""

import pytest

from lorelab.gso import figures
from lorelab.gso.params import TRAITS, Traits, Variant
from lorelab.gso.thread import checks
from lorelab.gso.thread.claims import CLAIMS, NOT_CLAIMED
from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict


def verdict(id):
    return next(claim for claim in CLAIMS + NOT_CLAIMED if claim.id == id).weigh().verdict


def test_ids_are_unique_and_every_row_is_cited_or_only_describes():
    ids = [claim.id for claim in CLAIMS + NOT_CLAIMED]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("improvement", ClaimVerdict.HOLDS),
        ("patched-size", ClaimVerdict.OTHER_NUMBER),
        ("patched-aligned", ClaimVerdict.HOLDS),
        ("all-truesizes", ClaimVerdict.OTHER_NUMBER),
        ("after-all-fragments", ClaimVerdict.HOLDS),
        ("verified", ClaimVerdict.NOT_TESTABLE),
        ("shared-count", ClaimVerdict.HOLDS),
        ("pointer-essential", ClaimVerdict.HOLDS),
        ("three-ways", ClaimVerdict.HOLDS),
        ("still-a-win", ClaimVerdict.HOLDS),
        ("more-than-one-line", ClaimVerdict.HOLDS),
        ("page-refs", ClaimVerdict.ARITHMETIC),
        ("special-case-pays", ClaimVerdict.ARITHMETIC),
        ("last-segment", ClaimVerdict.HOLDS),
        ("reused-field", ClaimVerdict.NOT_TESTABLE),
        ("moved-to-sk-buff", ClaimVerdict.HOLDS),
        ("clone", ClaimVerdict.HOLDS),
        ("bypass", ClaimVerdict.HOLDS),
        ("frag-list", ClaimVerdict.HOLDS),
        ("receive-rule", ClaimVerdict.HOLDS),
        ("head-charge", ClaimVerdict.HOLDS),
        ("more-guests", ClaimVerdict.NOT_TESTABLE),
    ],
)
def test_verdicts(id, expected):
    assert verdict(id) == expected


def test_a_verdict_that_takes_one_reading_says_so():
    weighed = {claim.id: claim.weigh() for claim in CLAIMS}
    either = {id for id, one in weighed.items() if one.why.startswith("In one fair reading, not")}
    assert either == {"after-all-fragments", "pointer-essential"}


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
        ("improvement", 24.1, "improvement", ClaimVerdict.HOLDS),
        ("improvement", 24.2, "improvement", ClaimVerdict.OTHER_NUMBER),
        ("improvement", 22.9, "improvement", ClaimVerdict.OTHER_NUMBER),
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
        (Variant.PAGE_REFS, Traits(copies=True), "page-refs"),
        (Variant.SHARED_COUNT, Traits(counts=True, sk_buff_bytes=8), "three-ways"),
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


def test_a_safe_way_whose_segments_point_to_nothing_would_refute_the_pointer(monkeypatch):
    real = checks.steps_to_break

    def safe_without(variant, number, **scope):
        return 0 if variant == Variant.HEAD_ONLY else real(variant, number, **scope)

    monkeypatch.setattr(checks, "steps_to_break", safe_without)
    assert verdict("pointer-essential") == ClaimVerdict.CONTRADICTED


def test_a_completion_before_the_last_fragment_would_refute_the_patch(monkeypatch):
    monkeypatch.setitem(TRAITS, Variant.PARENT, Traits())
    checks.steps_to_break.cache_clear()
    assert verdict("after-all-fragments") == ClaimVerdict.CONTRADICTED
    checks.steps_to_break.cache_clear()


def test_what_nobody_said_is_not_in_the_ledger():
    ours = {claim.id for claim in NOT_CLAIMED}
    assert ours == {
        *("moved-to-sk-buff", "clone", "bypass"),
        *("frag-list", "receive-rule", "head-charge"),
    }
    assert not ours & {claim.id for claim in CLAIMS}

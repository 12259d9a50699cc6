"""The evaluation's ledger: its verdicts, and that they follow the tables when these change."""

import pandas as pd
import pytest

from lorelab.damon.thread import checks, observed
from lorelab.damon.thread.claims import CLAIMS
from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict

VERDICTS = {
    "cells": "arithmetic only",
    "totals": "holds with another number",
    "speedup": "holds",
    "workloads": "arithmetic only",
    "appendix": "not testable here",
    "accurate": "not testable here",
    "light": "arithmetic only",
    "summary": "arithmetic only",
    "rec-runtime-worst": "arithmetic only",
    "overhead-rec-memused": "arithmetic only",
    "saves-memory": "arithmetic only",
    "wrapper": "arithmetic only",
    "wrapper-percent": "arithmetic only",
    "wrapper-ethp": "holds",
    "wrapper-prcl": "holds",
    "footprints": "holds with another number",
    "bounded": "holds",
    "thp-speedup": "arithmetic only",
    "thp-memused": "arithmetic only",
    "thp-best": "arithmetic only",
    "thp-worst": "arithmetic only",
    "thp-waste": "arithmetic only",
    "ethp-speedup": "arithmetic only",
    "ethp-memused": "arithmetic only",
    "ethp-waste": "arithmetic only",
    "ethp-kept": "arithmetic only",
    "ethp-waste-ocean_ncp": "arithmetic only",
    "ethp-kept-ocean_ncp": "arithmetic only",
    "ethp-rules": "holds",
    "prcl-rules": "holds",
    "prcl-runtime": "arithmetic only",
    "prcl-memused": "arithmetic only",
    "prcl-rss": "arithmetic only",
    "prcl-best": "arithmetic only",
    "swapcache": "not testable here",
    "cover-speedup": "not testable here",
    "cover-lighter": "not testable here",
}
"""What the chapter's prose says; a check that comes to something else changes the prose too."""


REAL = threads.figures("damon")


def weighed(id: str):
    (claim,) = [claim for claim in CLAIMS if claim.id == id]
    return claim.weigh()


def test_the_verdicts_are_those_the_chapter_tells():
    assert {claim.id: str(claim.weigh().verdict) for claim in CLAIMS} == VERDICTS


def test_each_claim_says_where_it_stands():
    for claim in CLAIMS:
        assert claim.design == "damon"
        assert claim.place.startswith("line") or all(
            REAL.index.str.match(part.replace("*", ".+") + "$").any()
            for part in claim.place.split(", ")
        ), claim.place


@pytest.mark.parametrize(
    ("id", "figures", "verdict"),
    [
        ("totals", {"memused-total-orig": 40108200.0}, ClaimVerdict.OTHER_NUMBER),
        ("thp-speedup", {"thp-speedup": 4.4}, ClaimVerdict.OTHER_NUMBER),
        ("ethp-kept", {"ethp-kept": 40.79}, ClaimVerdict.ARITHMETIC),
        ("ethp-kept", {"ethp-kept": 40.72}, ClaimVerdict.OTHER_NUMBER),
        ("ethp-waste", {"ethp-waste": 83.68}, ClaimVerdict.ARITHMETIC),
        ("ethp-waste", {"ethp-waste": 83.7}, ClaimVerdict.OTHER_NUMBER),
        ("prcl-rss", {"rss-total-prcl": 21000000.0}, ClaimVerdict.OTHER_NUMBER),
        ("rec-runtime-worst", {"runtime-parsec3-dedup-rec": 13.0}, ClaimVerdict.CONTRADICTED),
        ("thp-worst", {"memused-parsec3-vips-thp": 6e6}, ClaimVerdict.CONTRADICTED),
        ("saves-memory", {"memused-total-rec": 40200000.0}, ClaimVerdict.OTHER_NUMBER),
        ("thp-waste", {"memused-total-thp": 40e6}, ClaimVerdict.CONTRADICTED),
        ("ethp-rules", {"ethp-cold-frequency": 4.0}, ClaimVerdict.HOLDS),
        ("ethp-rules", {"ethp-cold-frequency": 15.0}, ClaimVerdict.CONTRADICTED),
        ("prcl-rules", {"prcl-age": 4.0}, ClaimVerdict.HOLDS),
        ("ethp-rules", {"ethp-hot-frequency": 10.0}, ClaimVerdict.HOLDS),
        ("prcl-best", {"rss-splash2x-barnes-prcl": 1.0}, ClaimVerdict.CONTRADICTED),
        ("prcl-best", {"prcl-memused-best": 22.5}, ClaimVerdict.OTHER_NUMBER),
        ("workloads", {"parsec3-workloads": 12}, ClaimVerdict.CONTRADICTED),
        ("wrapper-percent", {"wrapper-volrend": 12}, ClaimVerdict.CONTRADICTED),
        ("speedup", {"thp-speedup-best": 59.04}, ClaimVerdict.OTHER_NUMBER),
        ("light", {"tldr-rec-runtime": 0.8}, ClaimVerdict.OTHER_NUMBER),
    ],
)
def test_a_verdict_parts_from_the_figure_that_parts(edited, id, figures, verdict):
    edited(figures)
    assert weighed(id).verdict is verdict


def test_a_total_of_any_other_arithmetic_is_told_apart(edited):
    edited({"memused-total-orig": 40108200.0})
    assert "nor sums through six digits" in weighed("totals").why
    edited({"memused-total-orig": 40108199.0})
    assert "as awk prints them" in weighed("totals").why


def test_memory_that_no_row_decides_has_no_row_named(edited):
    """With every row 1 % down, no row can be left out to turn the sum."""
    alone = "without splash2x/fft or without splash2x/ocean_cp its sign is the other"
    assert alone in weighed("saves-memory").why
    orig = REAL[REAL.index.str.match("memused-.*-orig")]
    down = {id.replace("orig", "rec"): 0.99 * v for id, v in orig["value"].items()}
    edited(down | {"tldr-rec-memused": -1.0})
    assert weighed("saves-memory").verdict is ClaimVerdict.ARITHMETIC
    assert "its sign" not in weighed("saves-memory").why


def test_growth_of_the_rows_measures_no_wrapper(edited):
    """As many MB as the message says in all five rows: arithmetic still."""
    assert weighed("wrapper").why.startswith("3 of the five rows grow by that, ")
    rows = {f"memused-{name.replace('/', '-')}" for name in checks.WRAPPED}
    edited({f"{row}-rec": REAL.loc[f"{row}-orig", "value"] + 13_000 for row in rows})
    found = weighed("wrapper")
    assert found.verdict is ClaimVerdict.ARITHMETIC
    assert found.why.startswith("5 of the five rows grow by that. ")


def test_an_appendix_would_be_seen(edited):
    edited({}, quantity={"repeats": "stdev of runtime"})
    assert weighed("appendix").verdict is ClaimVerdict.HOLDS


def test_a_cell_that_is_off_is_named(edited):
    edited({}, percent={"runtime-parsec3-x264-thp": "0.59"})
    assert "runtime-parsec3-x264-thp" in weighed("cells").evidence["off by one in the last digit"]


def test_matching_is_inclusive_at_both_ends():
    line = "4K 8K 5 10 100ms 200ms pageout"
    inside = {
        (pages, count, age)
        for pages in range(1, 4)
        for count in range(4)
        for age in range(4)
        if observed.taken(line, pages, count, age)
    }
    assert inside == {(p, c, a) for p in (1, 2) for c in (1, 2) for a in (1, 2)}


@pytest.mark.parametrize(
    ("age", "verdict"),
    [(5, ClaimVerdict.HOLDS), (4.8, ClaimVerdict.CONTRADICTED), (5.1, ClaimVerdict.CONTRADICTED)],
)
def test_bounds_hold_whether_they_belong_to_what_they_bound_or_not(monkeypatch, age, verdict):
    monkeypatch.setattr(
        observed,
        "taken",
        lambda line, pages, count, old: pages > 1 and count < 1 and old > age * observed.SECOND,
    )
    assert weighed("prcl-rules").verdict is verdict


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.05, ClaimVerdict.HOLDS), (0.5, ClaimVerdict.CONTRADICTED)]
)
def test_accuracy_is_what_the_records_say(monkeypatch, share, verdict):
    found = {"misplaced": share, "true_wss_p50": 1.0, "rate_error": 0.0}
    monkeypatch.setattr(observed, "accuracy", lambda workload, **changes: found)
    assert weighed("accurate").verdict is verdict


@pytest.mark.parametrize(("id", "row"), [("wrapper", "rec"), ("wrapper-ethp", "ethp")])
def test_an_overhead_that_stops_contradicts(edited, id, row):
    small = "memused-parsec3-swaptions"
    edited({f"{small}-{row}": REAL.loc[f"{small}-orig", "value"]})
    assert weighed(id).verdict is ClaimVerdict.CONTRADICTED
    assert "not all five" in weighed(id).why.lower()
    assert weighed(id).why.endswith(": parsec3/swaptions.")


def test_what_a_tlb_hides_is_said_to_be_an_emulators(monkeypatch):
    """The share is that of a run without flushes, were one with them worse."""
    why = weighed("accurate").why
    assert "90 % of stairs-30secs's" in why and "QEMU's TLB" in why and "none was measured" in why
    shares = {None: 0.95, 264: 0.01}

    def accuracy(workload, tlb=None, **changes):
        return {"misplaced": shares[tlb], "true_wss_p50": 1.0, "rate_error": 0.0}

    monkeypatch.setattr(observed, "accuracy", accuracy)
    assert "up to 95.0 %" in weighed("accurate").why and " 1 % of " in weighed("accurate").why


def test_both_ethp_lines_take_one_hit_and_only_one():
    """Counted out again, in integers."""
    twice = [n for n in range(21) if 100 * n >= 5 * 20 and 100 * n <= 5 * 20]
    assert str(twice) == weighed("ethp-rules").evidence["counts that match both lines"]


def test_evidence_is_plain():
    for claim in CLAIMS:
        for name, value in claim.weigh().evidence.items():
            assert isinstance(name, str)
            assert isinstance(value, (str, int, float)), (claim.id, name, type(value))
            assert not isinstance(value, float) or not pd.isna(value)

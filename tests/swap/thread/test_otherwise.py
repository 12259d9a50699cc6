"""No verdict is constant: for every claim that is computed, evidence that turns its verdict."""

import pytest

from lorelab.judging.claims import ClaimVerdict, claims
from lorelab.swap.params import Variant
from lorelab.swap.thread import checks, cost, remarks

CLAIMS = {claim.id: claim for claim in claims("swap")}
U, ALLOC = checks.U, checks.folio_alloc_swap


def more(**events):
    """Counters of v3 with more of some events; those of 6.6 as they are."""
    real = checks.counted

    def counted(variant, order):
        found = dict(real(variant, order))
        if variant == Variant.V3:
            found |= {name: found[name] + number for name, number in events.items()}
        return found

    return checks, "counted", counted


def order_4_from_pages(si, cpu, order):
    """Every range of order 4 takes the slots of one page."""
    return ALLOC(si, cpu, U(0) if order == 4 else order)


def order_4_always(si, cpu, order):
    return ALLOC(si, cpu, order) or 16 * int(order == 4)


FIGURES = {
    "v3-4k-base": {"v3-4k-base": 1.0},
    "v3-64k-base": {"v3-64k-base": 44.1},
    "v3-2m-base": {"v3-2m-base": -56.0},
    "v3-64k-series": {"v3-64k-series": -10.7},
    "v3-2m-series": {"v3-2m-series": -65.9},
    "improvement": {"v4-stdev-high": 90.0},
    "regression-gone": {"v2-64k-series": -0.9},
    "4k-improves": {"v5-4k-series": -20.0},
    "2m-improves": {"v4-stdev-high": 1.0},
    "no-swapin": {"files-changed": 4},
    "any-order": {"smallest-range": 2},
    "tied-up": {"v2-tied-up": 24},
    "capacity": {"swap-device": 30},
    "diffstat": {"insertions": 120},
    "nr-swap-order": {"nr-swap-order-10": 11},
    "chris-without-a": {"chris-without-a-1-swpout": 33},
    "chris-without-as": {"chris-without-as-2-swpout": 1},
    "chris-with-a": {"chris-with-a-3-swpout": 226},
    "chris-with-none": {"chris-with-none-4-swpout": 41},
    "barry-none": {"barry-none-4-swpout": 56},
    "barry-last": {"barry-none-last-swpout": 24},
    "first-tool": {"tool1-chris-5-swpout": 111},
    "chris-without-s": {},
    "chris-without-none": {},
}
"""Rows of data/threads/swap.csv, printed differently; the model says how in the last two."""
EVIDENCE = {
    "v3-4k-series": more(splits=10**6),
    "tlbi": (
        checks,
        "counted",
        lambda variant, order: {"swapped": 1, "invalidations": 1, "aged": 1},
    ),
    "no-disk": (remarks, "whole_on", lambda rotational: {"v6_12, kernel": 1}),
    "no-order-on-a-disk": (remarks, "whole_on", lambda rotational: {"v6_12, kernel": 1}),
    "fallback": (
        checks,
        "tight",
        lambda variant: dict.fromkeys(("resident", "swapped", "faults", "fallbacks", "splits"), 0),
    ),
    "interleaving": (checks, "counted", lambda variant, order: {"bios": 2, "requests": 1}),
    "stealing": (checks, "left_over", lambda variant, cpus: 1),
    "no-search": (checks, "fragmented", lambda: (100, 1, False)),
    "no-fragmentation": (checks, "folio_alloc_swap", order_4_from_pages),
    "in-the-way": (remarks, "folio_alloc_swap", order_4_always),
    "gate": (remarks, "folio_alloc_swap", order_4_always),
    "no-page": (remarks, "folio_alloc_swap", order_4_always),
    "align": (remarks, "SWAPFILE_CLUSTER", 500),
}
"""What is counted, in the place of a name of a module."""


def test_evidence_is_given_for_every_claim_that_is_no_judgement():
    computed = {id for id, claim in CLAIMS.items() if not claim.weigh().judgement}
    assert computed == FIGURES.keys() | EVIDENCE.keys()


@pytest.mark.parametrize("id", [id for id, changes in FIGURES.items() if changes])
def test_another_figure_turns_the_verdict(altered, id):
    before = CLAIMS[id].weigh().verdict
    altered(**FIGURES[id])
    assert CLAIMS[id].weigh().verdict != before


@pytest.mark.parametrize("options", ["s", "none"])
def test_a_run_that_the_model_gives_would_hold(altered, options):
    id = f"chris-without-{options}"
    assert CLAIMS[id].weigh().verdict == ClaimVerdict.OTHER_NUMBER
    altered(**{f"{id}-1-swpout": 1})
    assert CLAIMS[id].weigh().verdict == ClaimVerdict.CONTRADICTED
    run = checks.tested(Variant.V6_10, {"s": "-s", "none": ""}[options], False, False)
    altered(
        **{
            f"{id}-{iteration}-{name.replace('_', '-')}": run.loc[iteration, name]
            for iteration in (1, 2, 3)
            for name in ("swpout", "swpout_fallback")
        }
    )
    assert CLAIMS[id].weigh().verdict == ClaimVerdict.HOLDS


@pytest.mark.parametrize("id", EVIDENCE)
def test_other_evidence_turns_the_verdict(monkeypatch, id):
    before = CLAIMS[id].weigh().verdict
    monkeypatch.setattr(*EVIDENCE[id])
    after = CLAIMS[id].weigh().verdict
    assert after == ClaimVerdict.CONTRADICTED != before


def test_a_judgement_has_the_figures_that_it_rests_on():
    for id, claim in CLAIMS.items():
        found = claim.weigh()
        assert found.evidence, id
        assert found.judgement == (id in ("repeats", "bottleneck", "thp-swap", "kairui")), id


def test_the_tables_are_read_again_when_a_figure_changes(altered):
    before = cost.fit("v4", "time").worst
    altered(**{"v4-64k-series": 20.0})
    assert cost.fit("v4", "time").worst != before

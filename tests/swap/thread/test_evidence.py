"""What claims show beside their verdicts, worked by hand from counts and figures that are given."""

from types import SimpleNamespace

import pytest

from lorelab import counters
from lorelab.judging.claims import ClaimVerdict
from lorelab.swap.params import AllocatorTest, Variant
from lorelab.swap.thread import checks, remarks

EVENTS = ("aged", "invalidations", "flushes", "slot_allocations", "splits")
UNIT = dict.fromkeys(EVENTS, 1000) | {"swapped": 1000}
"""An event of each kind a page."""


@pytest.mark.parametrize(
    ("printed", "splits", "invalidations", "verdict", "said"),
    [
        (5.0, 1000, 1000, ClaimVerdict.NOT_TESTABLE, "the counts take no side"),
        (5.0, 1000, 995, ClaimVerdict.NOT_TESTABLE, "the counts take no side"),
        (-5.0, 2000, 1000, ClaimVerdict.NOT_TESTABLE, "that of the counts: more events per page"),
        (5.0, 2000, 1000, ClaimVerdict.CONTRADICTED, "The counts ask for the other sign"),
        (5.0, 1000, 500, ClaimVerdict.NOT_TESTABLE, "that of the counts: fewer events per page"),
        (-5.0, 1000, 500, ClaimVerdict.CONTRADICTED, "The counts ask for the other sign"),
        (-5.0, 2000, 500, ClaimVerdict.NOT_TESTABLE, "the counts take no side"),
    ],
)
def test_a_cell_has_the_sign_of_its_events(
    monkeypatch, altered, printed, splits, invalidations, verdict, said
):
    """Against 4K on 6.6; less than a hundredth of an event is no difference."""
    altered(v3_64k_series=printed)
    here = UNIT | {"splits": splits, "invalidations": invalidations}
    monkeypatch.setattr(
        checks, "counted", lambda variant, order: here if variant == Variant.V3 else UNIT
    )
    found = checks.weigh_cell("v3-64k-series", 4, True)()
    assert found.verdict == verdict and said in found.why
    assert found.evidence == {
        "printed %": printed,
        **{f"{name} per page": 1.0 for name in EVENTS},
        "invalidations per page": invalidations / 1000,
        "splits per page": splits / 1000,
    }


@pytest.mark.parametrize("same", [True, False])
def test_a_gain_is_refused_beyond_two_means_of_five_runs(monkeypatch, same):
    """2.306 is Student's t for eight degrees of freedom; the spread is 13 %."""
    monkeypatch.setattr(remarks, "same_counts", lambda order: same)
    found = remarks.weigh_gain("4k")()
    assert found.evidence["spread %"] == 13
    assert found.evidence["refused only beyond %"] == round(2.306 * 13 * (2 / 5) ** 0.5, 1)
    assert found.evidence["counts alike"] is same
    assert [name for name in found.evidence if "gain" in name] == ["v3 gain", "v4 gain", "v5 gain"]
    events = "no event of the path changes" if same else "events of the path change"
    assert events in found.why


def test_a_slot_in_the_way_costs_what_is_left_of_the_cluster(monkeypatch):
    """A range of order 4, order 0 until the scanner took a slot behind it, and order 4 again."""
    real, asked = remarks.folio_alloc_swap, []

    def watched(si, cpu, order):
        asked.append((int(cpu), int(order)))
        return real(si, cpu, order)

    monkeypatch.setattr(remarks, "folio_alloc_swap", watched)
    assert remarks.weigh_in_the_way().evidence == {
        "slots taken by the scanner": 1,
        "slots left free": 512 - 16 - 1,
        "next range found": False,
    }
    assert asked[0] == asked[-1] == (0, 4) and set(asked[1:-1]) == {(0, 0)}


@pytest.mark.parametrize("rotational", [True, False])
def test_twenty_iterations_of_each_variant_stand_beside_the_kernel_s(monkeypatch, rotational):
    """Of each iteration one folio, so that the sum says how many there were."""
    asked, kept = [], []

    def simulate(params):
        asked.append(params)
        found = {"swpout": ("folios", [1] * params.iterations), "other": ("folios", [9])}
        return counters.table("swap/allocator-test", "v3", "model", found)

    def recorded(params):
        kept.append(params)
        return SimpleNamespace(counters=simulate(AllocatorTest(iterations=3)))

    run = SimpleNamespace(simulate=simulate, recorded=recorded)
    monkeypatch.setattr(remarks, "experiment", lambda name: run)
    assert remarks.whole_on(rotational) == {"v3, model": 20, "v6_10, model": 20, "v6_12, kernel": 3}
    assert [params.variant for params in asked[:2]] == [Variant.V3, Variant.V6_10]
    assert {params.rotational for params in asked[:2]} == {rotational}
    assert [params.rotational for params in kept] == [rotational]

"""The swap thread's ledger: its verdicts, and that they follow the evidence when it changes."""

import pandas as pd
import pytest

from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict, claims
from lorelab.swap.pages import simulated
from lorelab.swap.params import AllocatorTest, Variant
from lorelab.swap.thread import checks, cost, remarks

VERDICTS = {
    "v3-4k-base": "arithmetic only",
    "v3-64k-base": "not testable here",
    "v3-2m-base": "not testable here",
    "v3-4k-series": "not testable here",
    "v3-64k-series": "not testable here",
    "v3-2m-series": "not testable here",
    "improvement": "arithmetic only",
    "regression-gone": "arithmetic only",
    "4k-improves": "not testable here",
    "2m-improves": "not testable here",
    "repeats": "not testable here",
    "tlbi": "holds",
    "bottleneck": "arithmetic only",
    "no-swapin": "holds",
    "thp-swap": "not testable here",
    "no-disk": "holds",
    "any-order": "holds",
    "in-the-way": "holds",
    "align": "arithmetic only",
    "no-order-on-a-disk": "holds",
    "gate": "holds",
    "no-page": "holds",
    "no-search": "holds",
    "no-fragmentation": "holds",
    "fallback": "holds",
    "interleaving": "holds",
    "stealing": "holds",
    "tied-up": "holds",
    "capacity": "arithmetic only",
    "diffstat": "arithmetic only",
    "nr-swap-order": "holds",
    "chris-without-a": "holds",
    "chris-without-as": "holds",
    "chris-without-s": "holds with another number",
    "chris-without-none": "holds with another number",
    "chris-with-a": "holds",
    "chris-with-none": "holds",
    "barry-none": "holds",
    "barry-last": "not testable here",
    "first-tool": "arithmetic only",
    "kairui": "not testable here",
}
"""What the chapter's prose says; a check that comes to something else changes the prose too."""


@pytest.fixture(scope="module")
def weighed():
    return {claim.id: claim.weigh() for claim in claims("swap")}


def test_the_verdicts_are_those_the_chapter_tells(weighed):
    assert {id: str(found.verdict) for id, found in weighed.items()} == VERDICTS


def test_every_figure_of_the_thread_is_a_claim_or_its_evidence():
    rows = threads.figures("swap")
    cited = {claim.id for claim in claims("swap")}
    spoken = "".join(claim.place + claim.statement for claim in claims("swap"))
    for id, row in rows[rows["quantity"] == "improvement"].iterrows():
        assert id in cited or row["source"] == "follow-up"
    for prefix in ("chris-", "barry-", "tool1-", "kairui-", "v2-tied-up"):
        assert prefix in spoken


@pytest.mark.parametrize(
    ("changes", "weigh", "verdict"),
    [
        ({"v3_4k_base": 1.0}, checks.weigh_unit, ClaimVerdict.CONTRADICTED),
        ({"v3_64k_base": 44.1}, checks.weigh_cell("v3-64k-base", 4, False), "contradicted"),
        ({"v3_2m_base": -56.0}, checks.weigh_cell("v3-2m-base", 9, False), "contradicted"),
        ({"v4_stdev_high": 1.0}, remarks.weigh_gain("2m"), "holds with another number"),
        ({"v4_stdev_high": 1.0, "v5_2m_series": 95.0}, remarks.weigh_gain("2m"), "holds"),
        ({"v5_4k_series": -20.0}, remarks.weigh_gain("4k"), "contradicted"),
        ({"v4_stdev_high": 0.5}, remarks.weigh_gain("4k"), "holds"),
        ({"smallest_range": 2}, remarks.weigh_any_order, "contradicted"),
        ({"v2_64k_series": -0.9}, checks.weigh_regression_gone, "contradicted"),
        ({"v2_tied_up": 24}, checks.weigh_tied_up, "holds with another number"),
        ({"swap_device": 30}, checks.weigh_capacity, "contradicted"),
        ({"insertions": 120}, checks.weigh_diffstat, "contradicted"),
        ({"files_changed": 4}, checks.weigh_no_swapin, "contradicted"),
        ({"nr_swap_order_10": 9}, checks.weigh_nr_swap_order, "holds"),
        ({"tool1_chris_5_swpout": 111}, checks.weigh_first_tool, "contradicted"),
    ],
)
def test_another_figure_gives_another_verdict(altered, changes, weigh, verdict):
    altered(**changes)
    assert weigh().verdict == verdict


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"chris_without_a_1_swpout": 33}, "contradicted"),
        (
            {"chris_without_a_1_swpout": 33, "chris_without_a_1_swpout_fallback": 191},
            "holds with another number",
        ),
    ],
)
def test_one_other_folio_in_a_published_run_is_noticed(altered, change, verdict):
    altered(**change)
    run = next(claim for claim in claims("swap") if claim.id == "chris-without-a")
    assert run.weigh().verdict == verdict


def test_a_model_that_splits_no_more_takes_the_tlbi_claim_with_it(monkeypatch):
    whole = checks.counted(Variant.V3, 4)
    monkeypatch.setattr(checks, "counted", lambda variant, order: whole)
    assert checks.weigh_tlbi().verdict == ClaimVerdict.CONTRADICTED


def test_what_is_tied_up_is_told_in_slots_and_mib():
    found = checks.tied_up((Variant.V2, Variant.V3), (1, 2))
    one = sum(512 - 2**order for order in range(2, 9))
    assert found["slots order 0 can't have"].tolist() == [one, 2 * one, 0, 0]
    assert (found["MiB"] * 256 - found["slots order 0 can't have"]).abs().max() < 256 * 0.05


def test_totals_of_published_runs_stand_beside_the_tools():
    found = checks.run_totals()
    assert found["tool"]["-a"].tolist() == [224, 231, 227] == found["printed"]["-a"].tolist()
    assert found["tool"]["none"].tolist() != found["printed"]["none"].tolist()


def test_the_margin_of_two_means_is_students():
    """Two means of five runs: 2.306 is the 97.5 % quantile for eight degrees of freedom."""
    assert remarks.margin(5, 13) == pytest.approx(2.306 * 13 * (2 / 5) ** 0.5, rel=1e-3)
    assert remarks.margin(24, 13) < remarks.margin(5, 13)


@pytest.mark.parametrize("weigh", [remarks.weigh_gate, remarks.weigh_no_page])
def test_an_allocator_that_gives_everything_contradicts_the_gates(monkeypatch, weigh):
    real = remarks.folio_alloc_swap
    monkeypatch.setattr(
        remarks, "folio_alloc_swap", lambda si, cpu, order: real(si, cpu, order) or int(order == 4)
    )
    assert weigh().verdict == ClaimVerdict.CONTRADICTED


def test_a_kernel_that_swaps_whole_folios_to_a_disk_contradicts(monkeypatch):
    monkeypatch.setattr(remarks, "whole_on", lambda rotational: {"v3": 1})
    assert remarks.weigh_no_disk().verdict == ClaimVerdict.CONTRADICTED


def test_a_cluster_that_is_kept_contradicts_what_gives_it_up(monkeypatch):
    real = remarks.folio_alloc_swap
    monkeypatch.setattr(
        remarks,
        "folio_alloc_swap",
        lambda si, cpu, order: real(si, cpu, order) or (16 if order == 4 else 0),
    )
    assert remarks.weigh_in_the_way().verdict == ClaimVerdict.CONTRADICTED


@pytest.mark.parametrize("id", VERDICTS)
def test_a_verdict_has_a_reason_and_figures(id):
    [claim] = [claim for claim in claims("swap") if claim.id == id]
    found = claim.weigh()
    assert found.verdict == VERDICTS[id]
    assert isinstance(found.why, str) and found.why.endswith(".")
    assert isinstance(found.evidence, dict) and found.evidence
    assert all(isinstance(name, str) for name in found.evidence)


def test_any_gain_at_all_is_no_regression(altered):
    altered(v2_64k_series=0.5)
    assert checks.weigh_regression_gone().verdict == ClaimVerdict.ARITHMETIC


def test_a_share_is_told_in_per_cent(monkeypatch):
    """A corner at which invalidations are a quarter of the penalty, and one with half of it."""
    rows = [(name, 0.25, 0.5) for name in cost.WEIGHTS]
    found = pd.DataFrame(rows, columns=["weight", "lowest_share", "highest_share"])
    monkeypatch.setattr(cost, "ranges", lambda table, reading: found)
    told = checks.weigh_bottleneck()
    assert "at most 50 % of the penalty at 70 cores and 50 % at 8;" in told.why
    assert told.evidence["share in v4, lowest"] == 0.25


@pytest.mark.parametrize("size", ["4k", "2m"])
def test_a_gain_stands_beside_the_spread(size):
    found = remarks.weigh_gain(size)().evidence
    assert found["spread %"] == 13
    # 2.306 times 13 % times the root of 2 / 5
    assert found["refused only beyond %"] == 19.0


def test_whole_folios_are_counted_over_as_many_iterations_as_the_kernel_s():
    found = remarks.whole_on(False)
    for variant in (Variant.V3, Variant.V6_10):
        run = simulated.by_iteration(AllocatorTest(variant=variant, iterations=20))
        assert found[f"{variant.name.lower()}, model"] == run["swpout"].sum()


def test_order_4_is_refused_where_every_second_slot_is_free(monkeypatch):
    real, free = remarks.folio_alloc_swap, []

    def watched(si, cpu, order):
        free.append(int((si.swap_map == 0).sum()) if order else 0)
        return real(si, cpu, order)

    monkeypatch.setattr(remarks, "folio_alloc_swap", watched)
    remarks.weigh_no_page()
    assert max(free) == 8 * 512 // 2

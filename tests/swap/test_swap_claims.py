"""The swap thread's ledger: its verdicts, and that they follow the evidence when it changes."""

import pytest

from lorelab import threads
from lorelab.claims import Verdict, claims
from lorelab.swap import cost, evidence

VERDICTS = {
    "v3-4k-base": "arithmetic only",
    "v3-64k-base": "not testable here",
    "v3-2m-base": "not testable here",
    "v3-4k-series": "not testable here",
    "v3-64k-series": "not testable here",
    "v3-2m-series": "not testable here",
    "improvement": "arithmetic only",
    "regression-gone": "holds",
    "4k-improves": "holds with another number",
    "2m-improves": "contradicted",
    "tlbi": "holds",
    "bottleneck": "arithmetic only",
    "no-swapin": "holds",
    "no-search": "holds",
    "no-fragmentation": "holds",
    "fallback": "holds",
    "interleaving": "holds",
    "stealing": "holds",
    "tied-up": "holds",
    "capacity": "arithmetic only",
    "diffstat": "arithmetic only",
    "nr-swap-order": "contradicted",
    "chris-without-a": "holds",
    "chris-without-as": "holds",
    "chris-without-s": "contradicted",
    "chris-without-none": "contradicted",
    "chris-with-a": "holds",
    "chris-with-none": "holds",
    "barry-none": "holds",
    "barry-last": "holds",
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


@pytest.fixture
def altered(monkeypatch):
    """Change printed figures as the checks see them."""

    def alter(**changes):
        rows = threads.figures("swap")
        for id, value in changes.items():
            rows.loc[id.replace("_", "-"), "value"] = value
        monkeypatch.setattr(threads, "figures", lambda design: rows)
        cost.fit.cache_clear()

    yield alter
    cost.fit.cache_clear()


@pytest.mark.parametrize(
    ("changes", "weigh", "verdict"),
    [
        ({"v3_4k_base": 1.0}, evidence.weigh_unit, Verdict.CONTRADICTED),
        ({"v3_64k_base": 44.1}, evidence.weigh_cell("v3-64k-base", 4, False), "contradicted"),
        ({"v3_2m_base": -56.0}, evidence.weigh_cell("v3-2m-base", 9, False), "contradicted"),
        ({"v5_2m_series": 95.0}, evidence.weigh_2m_gain, "holds"),
        ({"v5_4k_series": -1.0}, evidence.weigh_4k_gain, "contradicted"),
        ({"v4_4k_series": 4.9}, evidence.weigh_4k_gain, "holds"),
        ({"v2_64k_series": -0.9}, evidence.weigh_regression_gone, "contradicted"),
        ({"v2_tied_up": 24}, evidence.weigh_tied_up, "holds with another number"),
        ({"swap_device": 30}, evidence.weigh_capacity, "contradicted"),
        ({"insertions": 120}, evidence.weigh_diffstat, "contradicted"),
        ({"files_changed": 4}, evidence.weigh_no_swapin, "contradicted"),
        ({"nr_swap_order_10": 9}, evidence.weigh_nr_swap_order, "holds"),
        ({"tool1_chris_5_swpout": 111}, evidence.weigh_first_tool, "contradicted"),
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
    whole = evidence.counted(evidence.Variant.V3, 4)
    monkeypatch.setattr(evidence, "counted", lambda variant, order: whole)
    assert evidence.weigh_tlbi().verdict == Verdict.CONTRADICTED


def test_throughput_gives_every_table_back_and_time_only_v3s_within_the_spread():
    spread = evidence.spread() / 100
    for table in cost.TABLES:
        assert cost.fit(table, "throughput").worst < 1e-6
        assert cost.fit(table, "throughput", aging=False).worst > 0.12
        assert cost.ranges(table, "time").empty
    assert 0.05 < cost.fit("v3", "time").worst < spread
    assert min(cost.fit(table, "time").worst for table in ("v4", "v5")) > 3 * spread


def test_weights_are_not_negative_and_the_invalidation_alone_is_pinned():
    for table in cost.TABLES:
        found = cost.ranges(table, "throughput").set_index("weight")
        assert list(found.index) == list(cost.WEIGHTS)
        assert (found["lowest"] > -1e-9).all()
        free = found["highest"] - found["lowest"]
        assert (free[["fault", "flush", "slot", "split"]] > 1e-3).all()
        assert free["invalidation"] < 1e-4


def test_the_shares_of_the_penalty_hold_the_fit():
    weights = cost.fit("v3", "throughput").weights
    found = cost.ranges("v3", "throughput").set_index("weight")
    for name, value in weights.items():
        assert found.loc[name, "lowest"] - 1e-6 <= value <= found.loc[name, "highest"] + 1e-6


def test_a_table_made_of_weights_is_fitted_exactly(altered):
    weights = [0.3, 0.01, 0.02, 0.0, 0.01, 0.2]
    printed, counts = cost.cells("v3", "time")
    made = counts @ weights / (counts[0] @ weights)
    changes = {
        f"v3_{row.size.lower()}_{'series' if row.series else 'base'}": 100 * (1 - value)
        for row, value in zip(printed.itertuples(), made, strict=True)
    }
    altered(**changes)
    assert cost.fit("v3", "time").worst < 1e-6


def test_a_table_that_no_weights_can_make_is_refused(altered):
    # 64K whole has no event more than 4K, so it can't cost more
    altered(v3_64k_series=-40.0)
    assert cost.fit("v3", "throughput").worst > 0.1
    assert cost.ranges("v3", "throughput").empty

"""What later messages state: verdicts, and that they move with figures and with the model."""

import pandas as pd
import pytest

from lorelab.experiments import experiment
from lorelab.fairzone import figures
from lorelab.fairzone.params import Tiobench, Variant
from lorelab.fairzone.thread import checks, follow_ups
from lorelab.fairzone.thread.claims import CLAIMS
from lorelab.judging import threads
from lorelab.judging.claims import ClaimVerdict
from tests.fairzone.thread.test_evidence import PHASES, evidence, of, share

HOLDS, OTHER, AGAINST = ClaimVerdict.HOLDS, ClaimVerdict.OTHER_NUMBER, ClaimVerdict.CONTRADICTED
OFF = ClaimVerdict.NOT_TESTABLE
EXPECTED = {
    "full-before": HOLDS,
    "june18-seqread-few": OFF,
    "june18-seqread-many": OFF,
    "june18-with-cfq": ClaimVerdict.ARITHMETIC,
    "june18-cfq600": ClaimVerdict.ARITHMETIC,
    "june18-lessdirty": ClaimVerdict.ARITHMETIC,
    "june18-laptop": ClaimVerdict.ARITHMETIC,
    "june18-desktop": ClaimVerdict.ARITHMETIC,
    "june18-on-3-0": ClaimVerdict.ARITHMETIC,
    "june18-allocs": HOLDS,
    "june18-allocs-on-3-0": OTHER,
    "big-seqread-few": OTHER,
    "big-seqread-many": OFF,
    "big-seqread-on-3-0": ClaimVerdict.ARITHMETIC,
    "big-one-node": ClaimVerdict.ARITHMETIC,
    "big-velocity": OTHER,
    "june25-seqread-few": OTHER,
    "june25-seqread-many": OFF,
    "june25-checklow-few": OTHER,
    "june25-checklow-many": OFF,
    "checklow-xfs": OFF,
    "june25-with-cfq": ClaimVerdict.ARITHMETIC,
    "june27-seqread-few": OTHER,
    "june27-seqread-many": OFF,
    "june30-seqread-few": OTHER,
    "june30-seqread-many": OFF,
    "june30-on-3-0": ClaimVerdict.ARITHMETIC,
    "july1-allocs": HOLDS,
    "june27-allocs": OFF,
    "june27-dma": HOLDS,
    "june30-system": ClaimVerdict.NOT_TESTABLE,
    "v4r8-seqread-few": OTHER,
    "v4r8-seqread-many": OFF,
    "v4r8-classzone": HOLDS,
    "v4r8-velocity": HOLDS,
    "preserved": HOLDS,
    "v4r8-split": OTHER,
    "peak": ClaimVerdict.ARITHMETIC,
    "merged-numa": ClaimVerdict.ARITHMETIC,
    "merged-uma": OFF,
}


def weighed(id):
    return next(claim for claim in CLAIMS if claim.id == id).weigh()


@pytest.mark.parametrize("id", EXPECTED)
def test_verdicts(id):
    assert weighed(id).verdict == EXPECTED[id]


def test_a_share_is_the_same_within_five_per_cent_or_on_the_same_side():
    assert follow_ups.verdict_of_share(0.30, 0.31, 0.2) == HOLDS
    assert follow_ups.verdict_of_share(0.0, 0.0, 0.2) == HOLDS
    assert follow_ups.verdict_of_share(0.10, 0.19, 0.2) == OTHER
    assert follow_ups.verdict_of_share(0.09, 0.19, 0.2) == OFF
    assert follow_ups.verdict_of_share(0.21, 0.19, 0.2) == OFF
    assert follow_ups.verdict_of_share(0.11, 0.21, 0.2) == OFF
    assert follow_ups.worst([HOLDS, OFF, OTHER]) == OFF
    assert follow_ups.worst([HOLDS, OTHER]) == OTHER


@pytest.fixture
def figures_with(monkeypatch):
    """Figures with some of them replaced."""
    rows = threads.figures("fairzone")

    def show(**values):
        table = rows.copy()
        for id, value in values.items():
            table.loc[id, "value"] = value
        monkeypatch.setattr(threads, "figures", lambda design: table)

    return show


FALSE = [
    # id, figures, the verdict that they give
    ("full-before", {"boundary-before-low": 50}, AGAINST),
    ("june18-with-cfq", {"june18-seqread-4-fairzone": 108}, AGAINST),
    ("june18-lessdirty", {"june18-seqread-8-lessdirty": 99}, AGAINST),
    ("june18-laptop", {"laptop-seqread-4-cfq600": 60}, AGAINST),
    ("june18-desktop", {"desktop-seqread-16-3.0": 90}, AGAINST),
    ("june25-seqread-few", {"june25-seqread-4-lessdirty": 108}, AGAINST),
    ("june25-checklow-few", {"june25-seqread-1-checklow": 130}, AGAINST),
    ("june25-with-cfq", {"june25-seqread-1-cfq600": 150}, AGAINST),
    ("june27-seqread-few", {"june27-seqread-2-vanilla": 99}, AGAINST),
    ("june30-on-3-0", {"june30-seqread-16-3.0": 80}, AGAINST),
    ("july1-allocs", {"july1-dma32-allocs-fairzone": 5e6}, OFF),
    ("june18-cfq600", {"june18-seqread-4-cfq600": 98}, AGAINST),
    ("june18-on-3-0", {"june18-seqread-16-vanilla": 70}, AGAINST),
    ("june18-allocs", {"june18-dma32-allocs-fairzone": 8e6}, OTHER),
    ("june18-allocs", {"june18-dma32-allocs-vanilla": 14e6}, OFF),
    ("june18-allocs-on-3-0", {"june18-dma32-allocs-3.0": 12e6}, OFF),
    ("big-seqread-few", {"big-seqread-1-bigbatches": 120}, AGAINST),
    # As fast as before is no gain.
    ("big-seqread-few", {"big-seqread-1-bigbatches": 129.69}, AGAINST),
    ("big-velocity", {"big-velocity-dma32-bigbatches": 12e3}, AGAINST),
    (
        "june27-allocs",
        {"june27-dma32-allocs-checklow": 1.12e8, "june27-dma32-allocs-fairzone": 1.12e8},
        HOLDS,
    ),
    ("june27-dma", {"june27-dma-allocs-checklow": 1}, AGAINST),
    ("june27-dma", {"managed-dma": 9000}, AGAINST),
    ("v4r8-seqread-few", {"v4r8-seqread-1-series": 150}, AGAINST),
    ("v4r8-classzone", {"v4r8-seqread-1-classzone": 140}, AGAINST),
    ("v4r8-velocity", {"v4r8-velocity-dma32-series": 100}, OFF),
    ("v4r8-seqread-many", {"v4r8-seqread-16-series": 150}, AGAINST),
    ("preserved", {"v4r8-velocity-dma32-series": 1}, AGAINST),
    ("v4r8-split", {"v4r8-split-series": 11}, HOLDS),
    ("v4r8-split", {"v4r8-split-series": 45}, OFF),
    ("peak", {"seqreadv4-peak": 170}, AGAINST),
    ("peak", {"seqreadv4-peak": 130}, AGAINST),
    (
        "merged-numa",
        {"merged-system-numa-vmstat": 7e4, "merged-system-numa-lowercost": 7e4},
        AGAINST,
    ),
    ("big-velocity", {"big-velocity-dma32-bigbatches": 5e2}, OFF),
]  # fmt: skip


@pytest.mark.parametrize(("id", "values", "verdict"), FALSE)
def test_a_false_figure_moves_the_verdict(id, values, verdict, figures_with):
    assert EXPECTED[id] != verdict
    figures_with(**values)
    assert weighed(id).verdict == verdict


OTHER_MODEL = [
    # id, the variant that is run in the place of all, the verdict that this gives
    ("june18-allocs", Variant.BASELINE, OFF),
    ("june18-allocs-on-3-0", Variant.BASELINE, OFF),
    ("v4r8-classzone", Variant.V1, AGAINST),
    ("v4r8-velocity", Variant.BASELINE, OFF),
    ("preserved", Variant.BASELINE, OFF),
    ("v4r8-split", Variant.BASELINE, OFF),
]


@pytest.mark.parametrize(("id", "variant", "verdict"), OTHER_MODEL)
def test_a_model_that_does_otherwise_moves_the_verdict(id, variant, verdict, monkeypatch):
    def others(asked, **given):
        given.pop("balance_reserves", None)
        return real(variant, **given)

    real = checks.ran
    monkeypatch.setattr(follow_ups, "ran", others)
    assert EXPECTED[id] != verdict
    assert weighed(id).verdict == verdict


@pytest.mark.parametrize("id", ["big-seqread-few", "big-velocity"])
def test_large_batches_that_do_nothing_move_the_verdict(id, monkeypatch):
    monkeypatch.setattr(follow_ups, "big_batches", lambda **given: checks.ran(Variant.BASELINE))
    assert weighed(id).verdict == OFF
    assert id != "big-seqread-few" or weighed(id).why == "The model finds nothing cached."


def test_a_zone_dma_that_serves_moves_the_verdict(monkeypatch):
    monkeypatch.setattr(follow_ups, "ran", lambda *given, **named: pd.DataFrame({"dma": [1]}))
    assert weighed("june27-dma").verdict == AGAINST


def test_batches_of_managed_over_four_are_nothing_but_that():
    table = follow_ups.big_batches(disk_mb_s=132, data_percent=200)
    base = checks.ran(Variant.BASELINE)
    assert table.loc["read", "share"] < base.loc["read", "share"]
    assert list(table.index) == list(PHASES)


def test_shares_of_a_whole_run():
    params = Tiobench(variant=Variant.JUNE_18, steps=1, data_percent=80)
    table = experiment("fairzone/tiobench").simulate(params)
    taken = table.groupby("counter")["value"].sum()
    whole = taken["allocated_dma32"] / (taken["allocated_dma32"] + taken["allocated_normal"])
    assert evidence("june18-allocs")["fairzone, model"] == pytest.approx(whole)
    posted = 9459921 / (9459921 + 20429838)
    assert evidence("june18-allocs")["fairzone, posted"] == pytest.approx(posted)


def test_evidence_of_the_static_zone():
    zones = follow_ups.reviewers()
    assert zones == {"below_4g_mib": round(0.4 * 7973)}
    still = of(Variant.MERGED, balance_reserves=False, **zones)
    found = evidence("v4r8-velocity")
    assert found["reads, v4r8"] == share(still, "read") == 0
    assert found["reads of the model, baseline"] == share(of(Variant.BASELINE, **zones), "read")
    before = 8213.852 / (8213.852 + 11358.492)
    assert (found["posted, rc1"], found["posted, series"]) == (pytest.approx(before), 0)
    assert evidence("v4r8-split")["filled once"] == pytest.approx(0.4 / 3.6)
    assert evidence("june27-dma")["reserve"] == (755409 + 1281601) // 256
    june = evidence("june27-allocs")
    assert june["checklow, fillings of DMA32"] == pytest.approx(9.76, abs=0.01)
    assert june["checklow, allocations of that run, MB/s"] == pytest.approx(795.6, abs=0.1)
    assert june["fairzone, fillings of DMA32"] == pytest.approx(7920241 / 755409)
    assert june["fairzone, allocations of that run, MB/s"] == pytest.approx(796.5, abs=0.1)
    saved = evidence("june30-system")
    assert saved["uma, user and system time saved, s"] == pytest.approx(8.8)
    assert saved["uma, elapsed time saved, s"] == pytest.approx(248.96)
    assert evidence("peak")["hits it needs"] == pytest.approx(1 - 132 / 150)


def test_a_series_is_two_claims_by_threads():
    """Those of 1 to 4 threads and those of 8 and 16 are weighed by themselves."""
    few, many = (evidence(f"v4r8-seqread-{name}") for name in ("few", "many"))
    lines = [[n for n in (1, 2, 4, 8, 16) if f"model to print, {n}" in one] for one in (few, many)]
    assert lines == [[1, 2, 4], [8, 16]]
    said = next(claim for claim in CLAIMS if claim.id == "v4r8-seqread-few").statement
    assert "15.31 to 20.44 % faster with 1, 2 and 4 threads" in said


def test_the_reserve_of_dma32_is_above_its_high_watermark():
    found = evidence("preserved")
    assert (
        found["June, free where the allocator stops"]
        > found["June, free below which kswapd begins"]
    )
    assert (found["reads of the model"], found["velocity, posted"]) == (0, 0)


def test_gains_of_a_series():
    table = figures.gains("v4r8-seqread", "rc1", "series")
    assert table["percent"].tolist() == [20.44, 19.66, 15.31, 6.65, 5.92]
    assert figures.follows(table)
    assert not figures.follows(table.assign(percent=table["percent"] + 0.5))
    over_another = figures.gains("big-seqread", "rc1", "bigbatches")
    assert over_another["percent"].isna().all(), "printed over 3.0"
    printed = figures.printed(figures.gains("june18-seqread", "cfq600", "fairzone")).round(2)
    assert printed.tolist() == [8.29, 10.64, 7.74, 7.10, 5.94]

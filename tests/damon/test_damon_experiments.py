"""The experiments: what must come out whatever the seed, and how bad input is refused."""

import numpy as np
import pandas as pd
import pytest

from lorelab import counters
from lorelab.damon import hotspot, operations, workload
from lorelab.damon.params import Accuracy, Masim, Schemes
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.params import parse


def run(name, **given):
    """Counters of a whole run by name, or of every step by step and name."""
    found = experiment(name)
    return wide(found.simulate(parse(found.Params, given)))


def wide(table):
    assert list(table.columns) == counters.COLUMNS
    return table.pivot_table(index="step", columns="counter", values="value")


def windows(**given):
    """The same of one run of damon/schemes, window by window."""
    return wide(operations.history(parse(Schemes, given)))


@pytest.fixture
def small(tmp_path):
    """A masim file of two seconds: one of two regions of 8 MiB touched, then the other."""
    file = tmp_path / "small.cfg"
    file.write_text(
        "a, 8388608\nb, 8388608\n\none\n1000\na, 0, 4096, 1\n\nother\n1000\nb, 0, 4096, 1\n"
    )
    return str(file)


def test_a_scan_of_all_pages_sees_the_truth(small):
    seen = run("damon/masim", workload=small, variant="page-scan", check_ns=0)
    whole = seen.index[seen["end"] != seen["end"].iloc[9]]
    assert (seen["rate_error"].loc[whole[:-1]] < 1e-9).all()
    assert (seen["wss"] == seen["true_wss"]).all()


def test_damon_finds_the_working_set_with_far_fewer_checks(small):
    seen = run("damon/masim", workload=small)
    scan = run("damon/masim", workload=small, variant="page-scan", check_ns=0)
    assert seen["wss"].median() == pytest.approx(scan["wss"].median(), rel=0.1)
    assert seen["checks"].sum() < scan["checks"].sum() / 50
    assert seen["nr_regions"].max() <= 1000


def test_a_tlb_that_holds_all_hides_all(small):
    seen = run("damon/masim", workload=small, tlb=4096)
    assert seen["wss"].iloc[3:9].max() == 0
    flushed = run("damon/masim", workload=small, tlb=4096, switch_us=4000)
    assert flushed["wss"].iloc[3:9].min() > 0


def test_the_cost_of_damon_does_not_grow_with_memory():
    cost = [run("damon/overhead", mib=mib, seconds=5).iloc[0] for mib in (64, 1 << 20)]
    assert cost[0]["checks_per_second"] == pytest.approx(cost[1]["checks_per_second"], rel=0.5)
    assert cost[1]["nr_regions_max"] <= 1000
    scan = [
        run("damon/overhead", mib=mib, variant="page-scan").iloc[0]["nr_regions_mean"]
        for mib in (64, 1 << 20)
    ]
    assert scan[1] == scan[0] * (1 << 14)


def test_the_chain_is_a_distribution_that_only_grows():
    found = hotspot.chain(1 << 22, 1 << 30, 20, 200, always=False)
    assert (np.diff(found) >= -1e-12).all() and found[0] >= 0 and found[-1] <= 1 + 1e-9
    for pieces in (2, 3):
        assert sum(chance for _, chance in hotspot._pieces(pieces)) == pytest.approx(1)
    assert hotspot.stand_out(1, 1, 20, always=True) == 1
    assert hotspot.stand_out(1, 2, 1, always=False) == 0.5


def test_lags_count_from_the_window_of_the_change():
    seen = pd.DataFrame(
        {
            "seconds": [0.1, 0.2, 0.3, 0.4, 0.5],
            "misplaced": [0, 9, 0, 9, 9],
            "hot": [10, 10, 10, 10, 10],
        }
    )
    assert workload.lags(seen, [0.1, 0.3], 0.1) == [2, 2]
    assert workload.lags(seen, [], 0.1) == []


def test_the_threads_schemes_in_the_units_of_6_12():
    table = operations.parse(operations.BUILTIN["ethp"], Schemes())
    assert table["min_nr_accesses"].tolist() == [1, 0]
    assert table["max_nr_accesses"].tolist() == [2**32 - 1, 1]
    assert table["min_age_region"].tolist() == [0, 10]
    assert table["min_sz_region"].tolist() == [2 << 20, 2 << 20]
    assert operations.parse(operations.BUILTIN["prcl"], Schemes())["min_age_region"] == 50


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "takes ethp, prcl, or a scheme a line"),
        ("4K null null 5 5s null", "takes minimum and maximum of size"),
        ("4K null null 5 5s null burn", "unknown action burn: takes willneed"),
        ("4Q null null 5 5s null pageout", "'4Q': takes a size like 4K or 2M, or null"),
        ("8K 4K null 5 5s null pageout", "8K 4K: takes the lower bound first"),
        ("4K null null 5 5 null pageout", "'5': takes a time like 1s"),
    ],
)
def test_a_scheme_that_cannot_be_is_refused_in_one_line(text, complaint):
    with pytest.raises(BadInput) as refused:
        operations.parse(text, Schemes())
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"sample_us": "200000"}, "no longer than the aggregation interval"),
        ({"min_regions": "2000"}, "no higher than the upper bound"),
        ({"min_regions": "2"}, "min_regions=2: "),
        ({"variant": "idle"}, "takes one of page-scan, fixed, damon"),
    ],
)
def test_attributes_that_cannot_be_are_refused(given, complaint):
    for params in (Masim, Accuracy):
        with pytest.raises(BadInput) as refused:
            parse(params, given)
        assert complaint in str(refused.value)


def test_a_page_out_comes_back_only_when_touched(small):
    seen = windows(workload=small, schemes="4K null null 0 200ms null pageout")
    assert seen["paged_out"].iloc[-1] > 0
    swapped = seen["swapped"] // 4096 + seen["refaults"]
    assert (swapped == seen["paged_out"]).all()


def test_a_quota_bounds_all_charge_windows_but_the_first(small):
    """The quota in bytes is 0, which is none, until damos_adjust_quota() opens a second window."""
    given = {"workload": small, "schemes": "4K null null 0 200ms null pageout"}
    seen = windows(**given, quota_mib=1, quota_ms=500)
    tried = seen["scheme0_sz_tried"]
    assert tried.iloc[6] > 2 << 20
    # Five windows of 100 ms touch at most two charge windows.
    assert tried.iloc[7:].diff(5).max() <= 2 << 20
    assert tried.iloc[-1] > tried.iloc[7]


def test_only_a_border_of_two_mappings_splits_a_pmd(small):
    """Nothing else takes a huge page away, and its pages stay resident."""
    seen = windows(workload=small, schemes="ethp")
    made = (seen["huge_faults"] + seen["collapses"] - seen["pmd_splits"]) * (2 << 20)
    assert (seen["huge"] == made).all()
    assert (seen["resident"].diff().dropna() >= 0).all()


def test_schemes_end_as_their_last_window_does(small):
    """A run a step, each with a seed of its own."""
    given = {"workload": small, "schemes": "4K null null 0 200ms null pageout"}
    totals = run("damon/schemes", **given, seed=3, runs=2)
    assert (totals["memory"] == 2 * 8388608).all()
    for step, seed in ((1, 3), (2, 4)):
        seen = windows(**given, seed=seed)
        for name in totals.columns.intersection(seen.columns):
            assert totals[name][step] == seen[name].iloc[-1]
        assert totals["resident_mean"][step] == seen["resident"].mean()


def test_khugepaged_scans_at_the_first_mark_and_then_every_ten_seconds(tmp_path):
    """4096 pages are eight huge pages a scan (mm/khugepaged.c); what is touched stays so."""
    file = tmp_path / "large.cfg"
    file.write_text("a, 100000000\n\nall\n25000\na, 0, 4096, 1\n")
    seen = windows(workload=str(file), schemes="2M null 5 null null null hugepage")
    grown = seen["collapses"].diff().fillna(seen["collapses"].iloc[0])
    assert grown[grown > 0].tolist() == [8, 8, 8]
    assert np.diff(grown.index[grown > 0]).tolist() == pytest.approx([100, 100], abs=2)


def test_khugepaged_takes_its_time_and_pauses_from_the_end_of_a_scan(tmp_path):
    """A second a huge page: what is marked as it comes to it counts, and 18 s lie between scans."""
    file = tmp_path / "large.cfg"
    file.write_text("a, 100000000\n\nall\n25000\na, 0, 4096, 1\n")
    rules = "2M null 5 null null null hugepage"
    seen = windows(workload=str(file), schemes=rules, collapse_ns=10**9)
    grown = seen["collapses"].diff().fillna(seen["collapses"].iloc[0])
    assert grown.max() == 1 and grown.sum() == 15
    between = np.diff(grown.index[grown > 0])
    assert between.tolist() == pytest.approx([10] * 7 + [110] + [10] * 6, abs=2)


def test_monitoring_may_lead_the_program(small):
    """Cold memory ages meanwhile, and its windows are not among those of the run."""
    given = {"workload": small, "schemes": "4K null null 0 200ms null pageout"}
    alone, led = windows(**given), windows(**given, lead_us=350_000)
    assert abs(len(alone) - len(led)) <= 1
    assert led["scheme0_nr_tried"].iloc[0] > alone["scheme0_nr_tried"].iloc[0] == 0
    assert led["resident"].iloc[0] > 0

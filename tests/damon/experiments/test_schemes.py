"""Schemes in the thread's notation, and what they do."""

import numpy as np
import pytest

from lorelab.damon.experiments import schemes
from lorelab.damon.pages import simulated
from lorelab.damon.params import ALONE, Schemes, Speeds
from lorelab.damon.workload.schemes import BUILTIN
from lorelab.errors import BadInput
from lorelab.params import parse
from tests.damon.running import run, wide


def windows(speeds=ALONE, **given):
    """The same of one run of damon/schemes, window by window."""
    return wide(simulated.schemes_by_window(parse(Schemes, given), speeds))


def test_the_threads_schemes_in_the_units_of_6_12():
    table = schemes.parse(BUILTIN["ethp"], Schemes())
    assert table["min_nr_accesses"].tolist() == [1, 0]
    assert table["max_nr_accesses"].tolist() == [2**32 - 1, 1]
    assert table["min_age_region"].tolist() == [0, 10]
    assert table["min_sz_region"].tolist() == [2 << 20, 2 << 20]
    assert schemes.parse(BUILTIN["prcl"], Schemes())["min_age_region"] == 50


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
        schemes.parse(text, Schemes())
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


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
    seen = windows(Speeds(collapse_ns=10**9), workload=str(file), schemes=rules)
    grown = seen["collapses"].diff().fillna(seen["collapses"].iloc[0])
    assert grown.max() == 1 and grown.sum() == 15
    between = np.diff(grown.index[grown > 0])
    assert between.tolist() == pytest.approx([10] * 7 + [110] + [10] * 6, abs=2)


def test_monitoring_may_lead_the_program(small):
    """Cold memory ages meanwhile, and its windows are not among those of the run."""
    given = {"workload": small, "schemes": "4K null null 0 200ms null pageout"}
    alone, led = windows(**given), windows(Speeds(lead_us=350_000), **given)
    assert abs(len(alone) - len(led)) <= 1
    assert led["scheme0_nr_tried"].iloc[0] > alone["scheme0_nr_tried"].iloc[0] == 0
    assert led["resident"].iloc[0] > 0


@pytest.mark.parametrize("aggr_us", [2_000_000_000, 3_600_000_000])
def test_a_window_longer_than_the_program_is_refused(aggr_us):
    with pytest.raises(BadInput, match=f"aggr_us={aggr_us}: no window ends in the .* s that"):
        schemes.simulate(Schemes(aggr_us=aggr_us))

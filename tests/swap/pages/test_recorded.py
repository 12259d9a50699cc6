"""What pages show of recorded runs: every one is there, and a row says what was recorded."""

import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.experiments import experiment
from lorelab.judging.rows import compare, exact
from lorelab.lab import records
from lorelab.swap.pages import recorded
from lorelab.swap.params import AllocatorTest, Swapout, Switches
from lorelab.swap.workload.cpus import in_steps, totals

TEST = recorded.ALLOCATOR_TEST
SHORT = AllocatorTest(options="-s", iterations=20, large_swapin=False)


@pytest.fixture(scope="module")
def runs():
    return recorded.runs()


def test_every_recorded_run_is_a_row_and_equal(runs):
    assert len(runs) == len(records.recorded(TEST.name, AllocatorTest))
    assert (runs["equal"] == runs["iterations"]).all()
    assert not runs["parameters"].duplicated().any()
    [as_it_is] = runs[runs["parameters"] == "default"].to_dict("records")
    counted = TEST.recorded(AllocatorTest()).counters.groupby("counter")["value"].sum()
    assert as_it_is["swpout"] == counted["swpout"]
    assert as_it_is["iterations"] == 100 and not as_it_is["patched"]


def test_a_step_that_differs_is_not_counted_as_equal():
    counted = TEST.recorded(AllocatorTest()).counters
    changed = counted.assign(value=counted["value"] + (counted["step"] == 7))
    both = compare(changed.assign(source="model"), counted)
    assert recorded._equal_steps(both) == 99


def test_splits_of_a_side_add_up():
    counted = TEST.recorded(AllocatorTest(large_swapin=False)).counters
    fell_back = counted.loc[counted["counter"] == "swpout_fallback", "value"]
    assert recorded.split(counted) == fell_back.sum() > 0


def test_pinned_runs_are_those_of_several_cpus():
    table = recorded.pinned()
    assert (table["cpus"] > 1).all()
    assert (table["kernel"] == table["model"]).all()
    assert (table["kernel"] != table["alone"]).any()


def test_repeats_have_both_sides():
    table = recorded.by_repeat()
    assert set(table.index.get_level_values("side")) == {"kernel", "model"}
    assert set(table.index.get_level_values("counter")) == {"swpout_fallback", "migrations"}
    assert list(table.columns) == [1, 2, 3, 4, 5, 6]
    assert table.index.names[:2] == ["CPUs", "side"]


def test_ranges_are_what_agree_says():
    cpus, usemem = recorded.of_cpus(), recorded.of_usemem()
    for ranges in (cpus, usemem):
        assert {"runs", "model", "kernel", "least", "most", "agrees"} <= set(ranges.columns)
        assert (ranges["least"] <= ranges["kernel"] + 1e-12).all()
    assert cpus["agrees"].all() and "migrations" not in cpus.index.get_level_values("counter")
    assert set(usemem["cpus"]) == {1, 4}


def test_v3_and_v6_10_part_on_several_cpus():
    table = recorded.of_switches()
    assert set(table.index.get_level_values("setting")) == {"v6.10", "v3"}
    assert (table.groupby("moves after")["swpout_fallback"].nunique() == 2).all()


def test_turns_of_a_record_beside_the_model():
    told = recorded.in_turns(Switches())
    assert exact(told)
    assert set(told["turn"]) == {"turn 1", "turn 2"}


def test_other_kernels_are_told_by_their_release():
    table = recorded.on_other_kernels()
    assert len(table) == len(recorded.other_kernels()) > 0
    same = table["kernel"].str.startswith("6.12.117+")
    assert (table.loc[same, "equal to 6.12"] == 100).all()
    assert (table.loc[~same, "equal to 7.2"] == 100).all()
    assert not any(release.startswith("6.12.") for release, _, _ in recorded.later_kernels())
    assert not any(params.large_swapin for _, params, _ in recorded.later_kernels())


def test_both_changes_of_7_2_together_give_its_splits():
    table = recorded.taken_over()
    assert (table["both"] == table["7.2.12"]).all()
    assert (table["allocator"] != table["7.2.12"]).any()


def test_counters_by_kernel_have_the_options_asked_for():
    table = recorded.by_kernel(("-s",))
    assert set(table["options"]) == {"-s"}
    assert set(table["kernel"]) > {"6.12.117"}


def test_a_folio_is_a_share_of_the_total():
    total, each = recorded.totals(folios=256), recorded.per_folio(folios=256)
    assert (total == each * 256).all()
    kept = experiment("swap/swapout").recorded(Swapout())
    assert total.to_dict() == kept.counters.set_index("counter")["value"].to_dict()


def test_every_recorded_run_is_there_once():
    found = recorded.every("swap/paths")
    assert list(found) == records.recorded("swap/paths", AllocatorTest)
    for params, record in found.items():
        assert record.provenance.params == params.model_dump(mode="json")


def test_sums_are_of_either_kernel():
    columns = ["patched", "parameters", "swpout", "swpout_fallback", "iterations", "equal"]
    rows = [(False, "a", 5, 1, 2, 2), (True, "b", 7, 0, 3, 2), (False, "c", 1, 1, 1, 0)]
    table = recorded.in_sum(pd.DataFrame(rows, columns=columns))
    assert table.loc["unmodified"].to_list() == [2, 6, 2, 3, 2]
    assert table.loc["patched"].to_list() == [1, 7, 0, 3, 2]


def test_releases_are_shown_as_their_devices_give_folios_back():
    shown = recorded.releases()
    sources = shown.groupby("variant", sort=False)["source"].unique().map(list).to_dict()
    assert sources == {
        "6.10 (model)": ["model"],
        "6.12.117, page by page": ["kernel"],
        "6.12.117, whole folios": ["kernel"],
        "7.3.4, page by page": ["kernel"],
    }
    assert recorded.split_by_release(shown).round(1).tolist() == [100, 92, 0, 92.9]


def test_todays_kernel_splits_no_folio_where_folios_come_back_whole():
    assert recorded.whole_on_7_3().to_dict() == {"swpout": 94_981, "swpout_fallback": 0}


def test_searches_are_of_every_run_that_probes_watched():
    found = recorded.searches()
    watched = records.recorded("swap/probed", AllocatorTest)
    assert sorted(found.index.unique("MiB")) == sorted(params.device_mib for params in watched)
    kernel = found.loc[(64, "6.12.117")]
    counted = experiment("swap/probed").recorded(SHORT).counters
    totals = counted[counted["step"] == 0].set_index("counter")["value"]
    assert kernel["slots"] * kernel["allocations"] == pytest.approx(totals["scanned_4"])
    assert kernel["fail"] * kernel["allocations"] == pytest.approx(100 * totals["fail_4"])
    once = kernel["allocations"] - totals["fail_4"]
    assert kernel["visited"] * totals["fail_4"] + once == pytest.approx(totals["visited_4"])


def test_a_failing_search_of_7_2_visits_one_frag_cluster():
    seven = recorded.searches().xs("7.2 (model)", level="allocator")
    assert seven["visited"].between(1, 2).all()


def joined(kernel):
    """Two turns of two iterations under two settings, where the model says 1 of each counter."""
    rows = [
        (f"{setting}.{counter}", step)
        for setting in ("a", "b c")
        for counter in ("swpout", "swpout_fallback", "free_4")
        for step in range(1, 5)
    ]
    table = pd.DataFrame(rows, columns=["counter", "step"]).assign(unit="folios", model=1, kernel=1)
    for (counter, step), value in kernel.items():
        table.loc[(table["counter"] == counter) & (table["step"] == step), "kernel"] = value
    return table.assign(difference=table["model"] - table["kernel"])


def test_settings_and_turns_are_told_apart():
    told = recorded.by_setting(joined({}), 2)
    assert set(told["setting"]) == {"a", "b c"}
    assert set(told["counter"]) == {"swpout", "swpout_fallback", "free_4"}
    assert told.loc[told["turn"] == "turn 2", "step"].unique().tolist() == [3, 4]


def test_an_iteration_is_equal_if_both_counters_are():
    told = recorded.by_setting(joined({("a.swpout", 3): 5, ("b c.swpout_fallback", 1): 4}), 2)
    table = recorded.by_turn(told)
    assert table["iterations equal"].to_numpy().tolist() == [[2, 1], [1, 2]]
    assert table["split"].to_numpy().tolist() == [[2, 2], [5, 2]]


def test_a_turn_is_drawn_with_its_settings_as_variants():
    drawn = recorded.as_counters(recorded.by_setting(joined({}), 2), "turn 2")
    assert set(drawn["variant"]) == {"a", "b c"} and set(drawn["step"]) == {3, 4}
    assert set(drawn["source"]) == {"model", "kernel"}
    assert set(drawn["counter"]) == {"swpout", "swpout_fallback"}


def test_a_repeat_is_a_column():
    repeats = [totals(9 - n, n, 2 * n, {}) for n in range(3)]
    wide = recorded.splits_and_moves(in_steps("model", repeats))
    assert wide.loc["swpout_fallback"].tolist() == [0, 1, 2]
    assert wide.loc["migrations"].tolist() == [0, 2, 4]


def test_instructions_are_told_for_64_kib():
    steps = {"swapout": [3200, 3300], "swapin": [1600, 1600], "pages": [32, 32]}
    counted = {name: ("", values) for name, values in steps.items()}
    found = recorded.instructions_per_64k(table("swap/instructions", "v6.12", "kernel", counted))
    assert found["swapout"] == pytest.approx(1.625)
    assert found["swapout spread"] == pytest.approx(100 * 100 / 3250)
    assert (found["swapin"], found["swapin spread"]) == (pytest.approx(0.8), 0)

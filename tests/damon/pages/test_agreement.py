"""What the pages `kernel` and `agreement` show of recorded runs, by other arithmetic."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lorelab import counters
from lorelab.damon.agree import accuracy as agree_accuracy
from lorelab.damon.kernel import follow as logs
from lorelab.damon.pages import agreement
from lorelab.damon.params import Accuracy, FollowedSchemes, Masim, Overhead, Variant
from lorelab.lab import records

PROGRAM = "zigzag-30secs"


@pytest.fixture(scope="module")
def sides(runs, as_kernel):
    """Six runs of a short program, taken for a kernel's, and the model's."""
    params, said = runs
    return {PROGRAM: agree_accuracy.sides(params, as_kernel(said))}


@pytest.fixture(scope="module")
def judged(sides):
    return agreement.agreed(sides)


def test_a_row_is_its_record():
    params = Masim(workload="random")
    row = agreement.windows(params)
    record = records.load(logs.NAME, params)
    given = logs.unpack(record.counters, params)
    assert row["parameters"] == "workload=random"
    assert row["windows"] == row["equal"] == len(given.windows)
    assert row["regions"] == max(map(len, given.windows))
    assert row["checks"] > row["windows"] and row["merges"] > 0 < row["splits"]


def test_rows_are_in_the_order_of_their_boots(monkeypatch):
    when = {"a": (2, 1), "b": (1, 2), "c": (1, 1)}
    monkeypatch.setattr(agreement.records, "recorded", lambda *_: list(when))
    monkeypatch.setattr(
        agreement, "windows", lambda name: dict(zip(("boot", "place"), when[name], strict=True))
    )
    assert agreement.all_windows().to_numpy().tolist() == [[1, 1], [1, 2], [2, 1]]


def test_a_mean_count_is_of_twenty_samples():
    row = agreement.mean_count(mib=1)
    record = agreement.MASIM.recorded(Masim(workload="whole", mib=1))
    assert row["runs"] == 3 and 19 < row["least"] <= row["most"] <= 20
    wide = record.counters.pivot_table(index="step", columns="counter", values="value")
    mean = 20 * wide["hot_seen"].sum() / wide["hot"].sum()
    assert row["least"] - 1e-9 <= mean <= row["most"] + 1e-9


def test_pages_seen_are_of_late_windows():
    """Of as many as are hot in the first of them; the share that is seen, of those."""
    hot = [8 * 4096.0] * 6 + [4 * 4096.0] * 2
    said = {"hot": ("bytes", hot), "hot_seen": ("bytes", [0.0] * 5 + [4096.0, 2048.0, 2048.0])}
    table = counters.table("damon/masim", "damon", "kernel", said, first=0)
    assert agreement.pages_seen(table) == (8, 1.0)


def test_sides_are_judged_by_program(sides, judged):
    assert set(judged.index.get_level_values(0)) == {PROGRAM}
    shown = agreement.to_table(judged, ["regions_mean", "wss_p50"])
    assert list(shown.columns) == ["runs", "unit", "kernel", "model", "model/kernel", "low", "high"]
    assert shown.loc[(PROGRAM, "wss_p50"), "unit"] == "MB"
    megabytes = judged.loc[(PROGRAM, "wss_p50"), "kernel"] / 1e6
    assert shown.loc[(PROGRAM, "wss_p50"), "kernel"] == f"{megabytes:.4f}"
    assert shown.loc[(PROGRAM, "regions_mean"), "kernel"] == (
        f"{judged.loc[(PROGRAM, 'regions_mean'), 'kernel']:.4f}"
    )


def test_sides_are_the_records_runs_and_a_model_that_may_be_another(monkeypatch):
    monkeypatch.setattr(agreement, "ACCURACY", SimpleNamespace(recorded=lambda params: params))
    monkeypatch.setattr(agreement.agree_accuracy, "sides", lambda *given: given)
    plain = Accuracy(workload=PROGRAM, runs=24)
    other = plain.model_copy(update={"variant": Variant.SPLIT_2})
    assert agreement.sides(PROGRAM, variant=Variant.SPLIT_2) == (other, plain)


def test_another_model_stands_beside_both(sides, judged):
    other = {PROGRAM: sides[PROGRAM]._replace(model_counted=sides[PROGRAM].model_counted[6:])}
    curves = agreement.curves(sides, other, "later runs")
    assert set(curves["side"]) == {"kernel", "model", "later runs"}
    assert set(curves["program"]) == {PROGRAM}
    names = ["windows_by_sampled", "regions_by_age"]
    far = agreement.distances(judged, other, "later runs", names)
    assert list(far.index) == [(PROGRAM, of) for of in ("model", "by chance", "later runs")]
    assert list(far.loc[(PROGRAM, "model")]) == list(judged.loc[PROGRAM].loc[names, "distance"])
    again = agree_accuracy.compare_sides(other[PROGRAM]).set_index("counter")
    assert list(far.loc[(PROGRAM, "later runs")]) == list(again.loc[names, "distance"])


def test_runs_behind_a_tlb_are_the_records_means(monkeypatch):
    monkeypatch.setattr(agreement, "SEEDS", range(1, 2))
    rows = agreement.behind_tlb(PROGRAM, 0, [0])
    assert list(rows) == [("kernel", "on"), ("model", "0 pages")]
    said = agreement.ACCURACY.recorded(Accuracy(workload=PROGRAM, runs=6)).counters
    mean = said.loc[said["counter"] == "regions_mean", "value"].mean()
    assert rows["kernel", "on"]["regions_mean"] == pytest.approx(mean)


def test_without_the_flush_both_programs_are_there(monkeypatch):
    def behind_tlb(of, tlb, holds):
        row = pd.Series({"misplaced": 2e6, "wss_p50": 3e6, "hot_seen": 0.5})
        return {("model", f"{pages:,} pages"): row for pages in holds} | {("kernel", str(tlb)): row}

    monkeypatch.setattr(agreement, "behind_tlb", behind_tlb)
    table = agreement.without_flush(["a", "b"], ["hot_seen", "misplaced", "wss_p50"])
    assert len(table) == 2 * (2 + 4)
    assert list(table.columns) == ["hot_seen", "misplaced, MB", "wss_p50, MB"]
    assert table.drop_duplicates().to_numpy().tolist() == [[0.5, 2, 3]]


def test_a_cost_is_the_records():
    params = agreement.three_seconds(100, 264)
    assert params == Overhead(seconds=3, tlb=264, min_regions=100, max_regions=100)
    said = agreement.OVERHEAD.recorded(params).counters
    assert agreement.cost(100, 264).to_dict() == dict(
        zip(said["counter"], said["value"], strict=True)
    )
    turns = agreement.turns(100, 264)
    assert turns["cpu", "kernel"] == agreement.cost(100, 264)["cpu"]
    assert turns["cpu", "model"] == pytest.approx(turns["cpu", "kernel"], rel=0.005)


def test_runs_with_schemes_are_free_or_driven():
    free, driven = agreement.schemes_followed()
    every = records.recorded(agreement.schemes_log.NAME, FollowedSchemes)
    assert len(free) + len(driven) == len(every) and len(driven) == 3
    assert all(params.wmark_high or params.goal_percent for params in driven)
    row = agreement.schemes_row(next(params for params in free if params.schemes == "prcl"))
    assert row["windows"] == row["equal"] > 0 and row["applied"] <= row["tried"]
    rests = [agreement.watermarks_row(params) for params in driven]
    assert all(one["equal"] == one["windows"] for one in rests)
    marked = [one for one in rests if one["marks, below"]]
    assert all(0 <= one["inactive"] <= one["checks"] for one in marked) and len(marked) == 2


def test_totals_that_are_not_zero_in_their_units():
    index = pd.MultiIndex.from_product([["ethp"], ["resident_mean", "paged_out", "memory"]])
    row = {"runs": 6, "least": 2.0**20, "most": 2.0**21, "model": 2.0**20, "agrees": True}
    found = pd.DataFrame([row, row | {"least": 0, "most": 0, "model": 0}, row], index)
    table = agreement.in_units(found.assign(unit="bytes"))
    assert list(table.columns) == ["runs", "least", "most", "model", "agrees"]
    assert table["agrees"].dtype == object
    assert list(table.index) == [("ethp", "resident_mean")]
    assert table[["least", "most", "model"]].to_numpy().tolist() == [[1, 2, 1]]
    assert np.array_equal(table["agrees"], [True])


def test_totals_have_a_table_a_case(monkeypatch):
    table = pd.DataFrame({"counter": ["memory"], "agrees": [True]})
    asked = SimpleNamespace(
        recorded=lambda params: params,
        agree=lambda params, _: SimpleNamespace(table=table.assign(of=params.workload)),
    )
    monkeypatch.setattr(agreement, "SCHEMES", asked)
    found = agreement.totals({"ethp": {"workload": "sparse", "schemes": "ethp"}, "any": {}})
    assert list(found.index) == [("ethp", "memory"), ("any", "memory")]
    assert found.loc["ethp", "of"].tolist() == ["sparse"]


def test_what_is_recorded_is_counted():
    files = list((records.FOLDER / "damon/overhead").glob("*.csv"))
    row = agreement.statistical().loc["damon/overhead"]
    assert row["settings"] == len({file.name.split("--")[0] for file in files})
    assert row["values"] == sum(len(pd.read_csv(file)) for file in files)


def test_runs_that_keep_many_regions_are_counted_by_record():
    found = agreement.runs_above()
    assert found.loc["boots of 6 runs"].tolist() == [6, 3]
    assert found.loc["boots of 24 runs", "runs"] == 144
    assert agreement.runs_above(0)["crowded"].eq(found["runs"]).all()

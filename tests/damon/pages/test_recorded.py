"""Recorded runs beside the model: a row says what its record has, by other arithmetic."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lorelab import counters
from lorelab.damon.pages import recorded, studies
from lorelab.damon.params import FollowedSchemes, Hotspot, Masim, Overhead, Schemes
from lorelab.experiments import experiment
from lorelab.lab import records


def waits(*found, regions=10.0, thirds=0.5):
    said = {
        "wait": ("windows", list(found)),
        "nr_regions": ("regions", [regions]),
        "in_three": ("share", [thirds]),
    }
    return counters.table("damon/hotspot", "damon", "kernel", said)


def test_a_run_that_the_model_has_not_is_refused(monkeypatch):
    params = Masim(workload="random")
    assert recorded.followed(params).provenance.params["workload"] == "random"
    off = pd.DataFrame({"agrees": [True, False]})
    monkeypatch.setattr(recorded.agree_follow, "compared", lambda *_: off)
    with pytest.raises(AssertionError):
        recorded.followed(params)


def test_pairs_of_neighbours_are_those_that_were_one_region():
    """By a loop over the windows of the run with a fixed number of regions."""
    found = recorded.merging(26)
    params = Masim(workload="even", mib=26, max_regions=40)
    still = recorded.even(params.model_copy(update={"min_regions": 40}))
    apart, counted, every = 0, 0, []
    for _, rows in still.groupby("window"):
        counts = rows["nr_accesses"].tolist()
        every += counts
        for n in range(1, len(counts), 2):
            counted += 1
            apart += abs(counts[n] - counts[n - 1]) > 2
    assert found["pairs"] == counted > 500
    assert found["fail to merge"] == pytest.approx(apart / counted)
    assert found["rate"] == pytest.approx(np.mean(every) / 20)
    assert found["binomial"] == studies.apart(20, found["rate"], 2)
    assert found["regions"] > 1


def test_a_half_in_turn_has_both_sides_and_the_formula(monkeypatch):
    monkeypatch.setattr(recorded.agree_runs, "RUNS", 2)
    speeds = recorded.guest_speeds()
    assert speeds.cpus == 1 and speeds.access_ns > 0 and speeds.check_ns > 0
    found = recorded.halves(400, speeds, 1)
    for side in ("kernel", "model"):
        assert found[side, 0.1] <= found[side, 0.5] <= found[side, 0.9]
        assert 100 <= found[side, "s"] < 130  # intervals of 100 ms, and what a sample takes
    t, s = found["kernel", "T"], found["kernel", "s"]
    assert 400 <= t < 440  # a turn ends with its last batch
    assert found["formula", ""] == pytest.approx(20 * min(1, (t + s) / (2 * t)))


def test_bounds_of_a_recorded_run():
    found = recorded.bounded(10)
    assert 0 < found["largest region"] <= 0.1
    assert found["regions_p50"] <= found["regions_max"] <= 1000
    assert 0 < found["rate_error"] < 1


def test_sides_have_the_records_runs_and_twice_as_many():
    params = Hotspot(hot_kib=256, own=True, runs=12, windows=150)
    kernel, model = recorded.sides(params)
    assert (kernel["counter"] == "wait").sum() == 12
    assert (model["counter"] == "wait").sum() == 24


def test_waits_are_compared_by_name_and_side():
    fast, slow = waits(*range(10, 30)), waits(*range(40, 80, 2))
    found = {("1 GiB", "off"): (slow, fast), ("1 GiB", "on"): (fast, fast)}
    table = recorded.compared(found, ["1 GiB"])
    kernel, model = table.loc[("1 GiB", "kernel")], table.loc[("1 GiB", "model")]
    assert kernel["off"] == "50 59 68" and kernel["on"] == "15 20 24"
    low, estimate, high = recorded.slower(slow, fast)
    assert kernel["low"] == low > 1 and f"{estimate:.1f}" in kernel["off / on"]
    assert model["low"] <= 1 <= model["high"] and high > low


def test_draws_are_summed_over_runs():
    said = {"wide": ("draws", [10, 30]), "out_of_reach": ("draws", [0, 10])}
    table = counters.table("damon/hotspot", "damon", "kernel", said)
    found = recorded.drawn({("1 GiB", "on"): table})
    assert found.loc[("1 GiB", "on")].to_dict() == {"wide": 40, "out_of_reach": 10, "share": 0.25}


def test_kdamonds_have_a_row_a_side():
    pair = {1: (waits(1, 2, 3), waits(4, 5, 6)), 2: (waits(7, 8, 9, regions=3.14159), waits(1, 1))}
    table = recorded.kdamonds(pair)
    assert list(table.index) == [
        *("1 kdamond, kernel", "1 kdamond, model"),
        *("2 kdamonds, kernel", "2 kdamonds, model"),
    ]
    assert table.loc["2 kdamonds, kernel"].tolist() == [3.14, 0.5, "8 8 8"]


def test_pages_listed_are_the_median_over_windows():
    said = {"hot_seen": ("bytes", [4096.0, 8192.0, 40_960.0]), "hot": ("bytes", [1.0])}
    assert recorded.listed(counters.table("damon/masim", "damon", "model", said)) == 2
    table = recorded.waiting()
    assert list(table.index) == ["on the lists", "fresh"] and (table > 0).all(axis=None)


def test_a_count_is_of_twenty_samples_after_five_windows():
    params = Masim(workload="whole", mib=16)
    run = experiment("damon/masim").recorded(params).counters
    late = run[run["step"] >= 5 + run["step"].min()]
    seen, hot = (late.loc[late["counter"] == name, "value"] for name in ("hot_seen", "hot"))
    assert recorded.count(mib=16) == pytest.approx(20 * seen.sum() / hot.sum())


def test_cost_and_accuracy_are_what_agree_compared(monkeypatch):
    names = ["regions_mean", "rate_error", "lag_mean", "wss_p50", "checks_per_second"]
    found = pd.DataFrame({"counter": names, "kernel": [2.0**20] * 5, "model": [2.0**21] * 5})
    asked = SimpleNamespace(
        recorded=lambda params: params, agree=lambda *_: SimpleNamespace(table=found)
    )
    monkeypatch.setattr(recorded, "ACCURACY", asked)
    table = recorded.against(("zigzag-30secs",))
    full = Overhead(min_regions=1000, seconds=3)
    cpu = experiment("damon/overhead").recorded(full).counters.set_index("counter")["value"]["cpu"]
    assert table.loc["1000 regions, cpu", "kernel"] == pytest.approx(cpu)
    assert table.loc["zigzag-30secs, wss_p50"].tolist() == [1, 2]
    assert table.loc["zigzag-30secs, lag_mean"].tolist() == [2**20, 2**21]


def test_outcomes_are_of_free_runs(monkeypatch):
    runs = records.recorded(recorded.schemes_log.NAME, FollowedSchemes)
    driven = [params for params in runs if params.wmark_high or params.goal_percent]
    prcl = next(params for params in runs if params.schemes == "prcl" and not params.quota_mib)
    monkeypatch.setattr(recorded.records, "recorded", lambda *_: [*driven, prcl])
    [row] = recorded.outcomes().to_dict("records")
    assert row["program"] == "turns" and row["quota"] == ""
    assert row["MiB out"] > 0 and row["huge pages made"] == 0


def test_totals_are_those_asked_for_and_agree(monkeypatch):
    table = pd.DataFrame({"counter": ["memory", "huge", "collapses"], "agrees": True})
    table = table.assign(least=1, most=2, model=1)
    asked = SimpleNamespace(
        recorded=lambda params: params, agree=lambda *_: SimpleNamespace(table=table)
    )
    monkeypatch.setattr(recorded, "experiment", lambda name: asked)
    found = recorded.totals(Schemes(), ["collapses", "memory"])
    assert list(found.index) == ["collapses", "memory"]
    table["agrees"] = [True, False, True]
    with pytest.raises(AssertionError):
        recorded.totals(Schemes(), ["memory"])


def test_a_sample_is_a_twentieth_of_a_window(monkeypatch):
    """In the kernel, from the ends of its windows; of the model's, five of which took 11 s."""
    monkeypatch.setattr(recorded, "followed", lambda params: records.load("damon/follow", params))
    monkeypatch.setattr(recorded.studies, "counts", lambda *_: pd.Series(range(6)))
    ends = pd.DataFrame({"window": [1, 1, 2, 3, 4, 5, 6], "end": [2, 2, 4, 6, 8, 10, 13.0]})
    monkeypatch.setattr(recorded.views, "history", lambda *_: ends)
    found = recorded.halves(400, recorded.guest_speeds(), 1)
    table = records.load("damon/follow", recorded.in_turn(400)).counters
    ended = table.loc[table["window"] > 0, "us"].to_numpy()
    a_window_ms = (ended[-1] - ended[0]) / (len(ended) - 1) / 1000
    assert found["kernel", "s"] == pytest.approx(a_window_ms / 20, rel=1e-9)
    assert found["model", "s"] == pytest.approx(1000 * 11 / 5 / 20)
    assert [found["model", q] for q in (0.1, 0.5, 0.9)] == [3, 4, 5]

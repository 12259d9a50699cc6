"""Figures and distributions of model and kernel."""

import pytest

from lorelab.counters import table
from lorelab.damon.agree import accuracy as agree_accuracy
from lorelab.damon.params import Accuracy, Variant
from lorelab.damon.workload import accuracy
from lorelab.lab import records


def test_the_model_agrees_with_itself(runs, as_kernel):
    params, said = runs
    mine = agree_accuracy.compared(params, as_kernel(said)).set_index("counter")
    assert mine["agrees"].all() and set(accuracy.DISTRIBUTIONS) < set(mine.index)
    assert (mine.loc[[*accuracy.DISTRIBUTIONS], "runs"] == 6).all()
    assert mine["distance"].notna().sum() == len(accuracy.DISTRIBUTIONS)


def test_more_regions_show(runs, as_kernel):
    params, said = runs
    more = said["value"].where(said["counter"] != "regions_mean", said["value"] * 2)
    found = agree_accuracy.compared(params, as_kernel(said.assign(value=more))).set_index("counter")
    assert not found.loc["regions_mean", "agrees"]
    assert found.loc["regions_mean", "model/kernel"] == pytest.approx(0.5, rel=0.2)


@pytest.mark.parametrize("name", accuracy.DISTRIBUTIONS)
def test_another_distribution_shows(runs, name, as_kernel):
    params, said = runs
    mine = said["counter"] == name
    # All of them have one value, above what any has.
    step = said["step"].where(~mine, said.loc[mine, "step"].max() + 1)
    found = agree_accuracy.compared(params, as_kernel(said.assign(step=step))).set_index("counter")
    assert not found.loc[name, "agrees"] and found.loc[name, "distance"] > 0.9


def test_counters_of_before_have_no_distributions(runs, as_kernel):
    params, said = runs
    before = said[~said["counter"].isin(accuracy.DISTRIBUTIONS)]
    assert not set(agree_accuracy.compared(params, as_kernel(before))["counter"]) & set(
        accuracy.DISTRIBUTIONS
    )


def test_a_model_that_never_splits_in_three_shows():
    params = Accuracy(workload="zigzag-30secs", runs=24)
    record = records.load("damon/accuracy", params)
    other = params.model_copy(update={"variant": Variant.SPLIT_2})
    found = agree_accuracy.compared(other, record).set_index("counter")
    assert not found.loc["windows_by_sampled", "agrees"]
    assert not found.loc["checks_per_second", "agrees"]


@pytest.mark.parametrize("name", ["zigzag-30secs", "stairs-30secs"])
def test_distributions_are_the_kernels_to_within_five_per_cent(name):
    params = Accuracy(workload=name, runs=24)
    found = agree_accuracy.compared(params, records.load("damon/accuracy", params)).set_index(
        "counter"
    )
    assert found["runs"].min() >= 144 and found["agrees"].all()
    shown = ["regions_mean", "checks_per_second", "rate_error", "hot_seen", "lag_mean"]
    assert found.loc[[*shown, *accuracy.DISTRIBUTIONS], "within"].all()


def test_the_model_runs_twice_as_often_from_the_same_seed_on(monkeypatch, as_kernel):
    seeds = []
    monkeypatch.setattr(agree_accuracy, "RUNS", 1)
    monkeypatch.setattr(agree_accuracy, "simulated", lambda one, _: seeds.append(one.seed))
    figures = {"runs": ("runs", 1.0)}
    monkeypatch.setattr(agree_accuracy, "model_figures", lambda *_: figures)
    monkeypatch.setattr(agree_accuracy, "distributions", lambda *_: {})
    said = {"runs": ("runs", [1.0] * 8), "access": ("ns", [10.0] * 8), "check": ("ns", [50.0] * 8)}
    measured = as_kernel(table("damon/accuracy", "damon", "kernel", said))
    both = agree_accuracy.sides(Accuracy(seed=1234, runs=8), measured)
    assert seeds == list(range(1234, 1234 + 16)) and len(both.model_counted) == 16

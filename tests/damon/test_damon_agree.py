"""Runs against runs: what is summed, what the model is told, and that a difference shows."""

import numpy as np
import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.damon import agree, operations, told, workload
from lorelab.damon.params import Accuracy, Masim, Overhead, Schemes, Variant
from lorelab.errors import BadInput
from lorelab.lab import records
from lorelab.lab.records import Record

SHORT = "a, 4000000\nb, 4000000\n\none\n400\na, 0, 4096, 1\n\ntwo\n400\nb, 0, 4096, 1\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return str(path)


def as_kernel(counters):
    return Record(counters.assign(source="kernel"), None)


def test_totals_are_sums_over_the_windows_of_each_run():
    def run(regions):
        found = {"nr_regions": ("regions", regions), "access": ("ns", [9.0])}
        return table("damon/masim", "damon", "model", found)

    wide = agree.totals([run([1, 2, 3]), run([4, 5])]).pivot_table(
        index="step", columns="counter", values="value"
    )
    assert wide.to_dict("index") == {
        1: {"windows": 3, "nr_regions": 6},
        2: {"windows": 2, "nr_regions": 9},
    }


@pytest.fixture(scope="module")
def runs(file):
    """Runs of the model, to be taken for a kernel's: parameters and counters."""
    params = Accuracy(workload=file, runs=6, seed=100, cpus=1, tick_us=agree.TICK_US)
    each = [params.model_copy(update={"seed": 100 + n}) for n in range(6)]
    said = [told.simulated(one) for one in each]
    found = [told.model_figures(*pair) for pair in zip(each, said, strict=True)]
    counted = [told.distributions(params, one) for one in said]
    counted = told.distribution_counters(counted, params, "kernel")
    return params, pd.concat([workload.accuracy_counters(found, params, "kernel"), counted])


def test_the_model_agrees_with_itself(runs):
    params, said = runs
    mine = agree.accuracy(params, as_kernel(said)).set_index("counter")
    assert mine["agrees"].all() and set(told.DISTRIBUTIONS) < set(mine.index)
    assert (mine.loc[[*told.DISTRIBUTIONS], "repeats"] == 6).all()
    assert mine["distance"].notna().sum() == len(told.DISTRIBUTIONS)


def test_more_regions_show(runs):
    params, said = runs
    more = said["value"].where(said["counter"] != "regions_mean", said["value"] * 2)
    found = agree.accuracy(params, as_kernel(said.assign(value=more))).set_index("counter")
    assert not found.loc["regions_mean", "agrees"]
    assert found.loc["regions_mean", "ratio"] == pytest.approx(0.5, rel=0.2)


@pytest.mark.parametrize("name", told.DISTRIBUTIONS)
def test_another_distribution_shows(runs, name):
    params, said = runs
    mine = said["counter"] == name
    # All of them have one value, above what any has.
    step = said["step"].where(~mine, said.loc[mine, "step"].max() + 1)
    found = agree.accuracy(params, as_kernel(said.assign(step=step))).set_index("counter")
    assert not found.loc[name, "agrees"] and found.loc[name, "distance"] > 0.9


def test_counters_of_before_have_no_distributions(runs):
    params, said = runs
    before = said[~said["counter"].isin(told.DISTRIBUTIONS)]
    assert not set(agree.accuracy(params, as_kernel(before))["counter"]) & set(told.DISTRIBUTIONS)


def test_a_model_that_never_splits_in_three_shows():
    params = Accuracy(workload="zigzag-30secs", runs=24)
    record = records.load("damon/accuracy", params)
    other = params.model_copy(update={"variant": Variant.SPLIT_2})
    found = agree.accuracy(other, record).set_index("counter")
    assert not found.loc["windows_by_sampled", "agrees"]
    assert not found.loc["checks_per_second", "agrees"]


@pytest.mark.parametrize("name", ["zigzag-30secs", "stairs-30secs"])
def test_distributions_are_the_kernels_to_within_five_per_cent(name):
    params = Accuracy(workload=name, runs=24)
    found = agree.accuracy(params, records.load("damon/accuracy", params)).set_index("counter")
    assert found["repeats"].min() >= 144 and found["agrees"].all()
    shown = ["regions_mean", "checks_per_second", "rate_error", "hot_seen", "lag_mean"]
    assert found.loc[[*shown, *told.DISTRIBUTIONS], "within"].all()


def test_the_model_runs_at_the_kernels_speeds(file, monkeypatch):
    params = Masim(workload=file)
    asked = []
    seen = pd.DataFrame(np.ones((3, len(workload.OBSERVED))), columns=workload.OBSERVED)
    seen["checks"] = 20 * 38
    monkeypatch.setattr(told, "modelled", lambda one: asked.append(one) or seen)
    said = workload.masim_counters(
        seen,
        params,
        "kernel",
        55.4,
        20_000.6,
        5400,
    )
    assert agree.masim(params, as_kernel(said))["agrees"].all()
    speeds = {(one.access_ns, one.check_ns, one.sample_ns, one.sample_us) for one in asked}
    assert speeds == {(55, 19_001, 38_002, 5_000)}  # 40 times 19,001 a sample of 38 checks
    assert {(one.aggr_us, one.cpus, one.tick_us) for one in asked} == {(100_000, 1, 1_000)}
    assert [one.seed for one in asked] == list(range(1, 1 + 2 * agree.RUNS))


@pytest.mark.parametrize("params", records.recorded("damon/masim", Masim), ids=str)
def test_a_program_is_seen_as_the_kernel_sees_it(params):
    """But where QEMU's TLB keeps the 4,096 pages of 16 MiB, and the model's 264."""
    found = agree.masim(params, records.load("damon/masim", params))
    kept = params.tlb and params.mib == 16
    assert found["agrees"].all() == (not kept)


def test_memory_that_waits_for_an_lru_list_is_the_kernels_page_by_page():
    params = Masim(workload="whole", mib=1, min_regions=1000, fresh=True)
    found = agree.masim(params, records.load("damon/masim", params))
    assert len(found) == 9 and np.allclose(found["model"], found["mean"], rtol=1e-9)


@pytest.mark.parametrize("params", records.recorded("damon/overhead", Overhead), ids=str)
def test_the_cost_is_the_kernels(params):
    """Within 0.5 %: the tick and who has the CPU at it follow from the scheduler."""
    found = agree.overhead(params, records.load("damon/overhead", params))
    assert found["agrees"].all() and ((found["ratio"] - 1).abs() < 0.005).all()


def test_a_cost_that_differs_shows():
    params = Overhead(min_regions=100, max_regions=100, seconds=1)
    counters = table(
        "damon/overhead",
        "damon",
        "kernel",
        {
            "instructions_per_check": ("instructions", [1650.0]),
            "nr_regions_mean": ("regions", [100.0]),
            "nr_regions_max": ("regions", [150.0]),
        },
        first=0,
    )
    found = agree.overhead(params, Record(counters, None)).set_index("counter")["agrees"]
    assert found["nr_regions_mean"] and not found["nr_regions_max"]


def test_a_sample_costs_as_much_as_two_checks_beside_its_own():
    runs = {n: Overhead(min_regions=n, max_regions=n, tlb=264, seconds=3) for n in (100, 1000)}
    said = {
        n: records.load("damon/overhead", params).counters.set_index("counter")["value"]
        for n, params in runs.items()
    }
    few, many = (
        said[n][["nr_regions_mean", "instructions_per_sample"]].to_numpy() for n in (100, 1000)
    )
    check = (many[1] - few[1]) / (many[0] - few[0])
    none = few[1] - few[0] * check
    assert 2_000 < check < 2_200 and 2 <= none / check < 3
    # Of damon/accuracy, where a probe counts the checks and makes each longer.
    for workload_, seed in (("zigzag-30secs", 1), ("zigzag-30secs", 25), ("stairs-30secs", 1)):
        params = Accuracy(workload=workload_, runs=24, seed=seed)
        record = records.load("damon/accuracy", params).counters
        like = agree.alike(params, record)
        assert 140_000 < like.sample_ns < 200_000
        took = record.loc[record["counter"] == "check", "value"].mean()
        assert 30 < like.sample_ns / (took - like.check_ns) < 45


def test_totals_of_schemes_agree_within_five_per_cent_and_no_further(file):
    rules = "4K null null 0 200ms null pageout"
    params = Schemes(workload=file, schemes=rules, runs=2, access_ns=50, check_ns=9_000, cpus=1)
    said = operations.schemes(params)
    took = {"access": 50.4, "check": 9_000.2, "sleep": 5_010, "page": 5_000, "collapse": 0}
    took["lead"] = 0
    speeds = {name: ("ns", [value] * 2) for name, value in took.items()}
    said = pd.concat([said, table("damon/schemes", "damon", "model", speeds)])
    plain = params.model_copy(update={"access_ns": 10, "check_ns": 1_650, "cpus": 2})
    told = agree.schemes(plain, as_kernel(said)).set_index("counter")
    assert told["agrees"].all() and told.loc["paged_out", "mean"] > 500
    assert not {*took} & {*told.index}
    for share, agrees in ((1.04, True), (3, False)):
        more = said["value"].where(said["counter"] != "paged_out", said["value"] * share)
        found = agree.schemes(plain, as_kernel(said.assign(value=more))).set_index("counter")
        assert found.loc["paged_out", "agrees"] == agrees
    with pytest.raises(BadInput, match="measure again"):
        agree.schemes(plain, as_kernel(operations.schemes(params)))

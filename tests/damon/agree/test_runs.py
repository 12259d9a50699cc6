"""What the model is told of the kernel's machine."""

from lorelab.damon.agree.runs import alike
from lorelab.damon.params import Accuracy, Overhead
from lorelab.lab import records


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
        like = alike(params, record)
        assert 140_000 < like.sample_ns < 200_000
        took = record.loc[record["counter"] == "check", "value"].mean()
        assert 30 < like.sample_ns / (took - like.check_ns) < 45

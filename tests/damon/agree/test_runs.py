"""What the model is told of the kernel's machine."""

import pandas as pd
import pytest

from lorelab.damon.agree.runs import TICK_US, alike
from lorelab.damon.experiments import accuracy, truth
from lorelab.damon.params import Accuracy, Overhead
from lorelab.lab import records

SHORT = "a, 4000000\nb, 4000000\n\none\n400\na, 0, 4096, 1\n\ntwo\n400\nb, 0, 4096, 1\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return str(path)


@pytest.fixture(scope="module")
def runs(file):
    """Runs of the model, to be taken for a kernel's: parameters and counters."""
    params = Accuracy(workload=file, runs=6, seed=100, cpus=1, tick_us=TICK_US)
    each = [params.model_copy(update={"seed": 100 + n}) for n in range(6)]
    said = [truth.simulated(one) for one in each]
    found = [accuracy.model_figures(*pair) for pair in zip(each, said, strict=True)]
    counted = [accuracy.distributions(params, one) for one in said]
    counted = accuracy.distribution_counters(counted, params, "kernel")
    return params, pd.concat([accuracy.accuracy_counters(found, params, "kernel"), counted])


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

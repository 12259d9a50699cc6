"""What the model is told of the kernel's machine, and how runs are judged."""

import numpy as np
import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.damon.agree.runs import guest_speeds, intervals, judged
from lorelab.damon.kernel.hotspot import SHIFT
from lorelab.damon.params import Accuracy, Overhead
from lorelab.lab import records


def test_a_sample_costs_as_many_checks_beside_its_own_as_was_measured():
    runs = {n: Overhead(min_regions=n, max_regions=n, tlb=264, seconds=3) for n in (100, 1000)}
    said = {
        n: records.load("damon/overhead", params).counters.set_index("counter")["value"]
        for n, params in runs.items()
    }
    few, many = (
        said[n][["nr_regions_mean", "instructions_per_sample"]].to_numpy() for n in (100, 1000)
    )
    check = (many[1] - few[1]) / (many[0] - few[0])
    none_ns = (few[1] - few[0] * check) * 2**SHIFT
    # Of damon/accuracy, where a probe counts the checks and makes each longer.
    for workload_, seed in (("zigzag-30secs", 1), ("zigzag-30secs", 25), ("stairs-30secs", 1)):
        params = Accuracy(workload=workload_, runs=24, seed=seed)
        record = records.load("damon/accuracy", params).counters
        like = guest_speeds(params, record)
        # A whole number of checks is at most half of one off.
        assert abs(like.sample_ns - none_ns) <= like.check_ns / 2
        took = record.loc[record["counter"] == "check", "value"].mean()
        assert 30 < like.sample_ns / (took - like.check_ns) < 45


@pytest.mark.parametrize(
    ("rows", "inputs", "verdict"),
    [
        ([("a", True, 0.1), ("b", True, 0.0)], (), "passed"),
        ([("a", True, 0.1), ("b", True, 0.11)], (), "undecided"),
        ([("a", True, 0.1), ("b", False, 0.0)], (), "failed"),
        ([("a", True, 0.1), ("b", False, 0.0)], ("b",), "passed"),
        ([("a", True, 0.1)], ("a",), "undecided"),  # nothing is left to be judged
    ],
)
def test_a_verdict_passes_what_would_have_refused_a_tenth(rows, inputs, verdict):
    given = pd.DataFrame(rows, columns=["counter", "agrees", "detectable"]).assign(unit="pages")
    found = judged(given, "how", inputs)
    assert found.verdict == verdict
    assert (found.table["verdict"] == "input").tolist() == [name in inputs for name, *_ in rows]


def test_more_runs_of_either_side_refuse_smaller_deviations():
    """By their ranges, as the counters agree, more runs would refuse less."""

    def side(number, mean):
        values = mean * np.random.default_rng(number).normal(1, 0.05, number)
        found = {"runs": ("runs", [1.0] * number), "regions": ("regions", values)}
        return table("damon/accuracy", "damon", "model", found)

    few, many = (intervals(side(number, 30), side(number + 1, 31), "runs") for number in (6, 400))
    assert few["detectable"].iloc[0] > 0.05 > many["detectable"].iloc[0] > 1 / 30 / 2


@pytest.mark.parametrize(
    ("said", "checks"),
    [
        ({"checks": 60.0}, 3),  # of a window of 20 samples
        # Three in a sample of 5 ms asleep and 3 x 0.1 ms at work.
        ({"checks_per_second": 3 / 0.0053, "sleep": 5000.0}, 3),
        ({}, 0),
    ],
)
def test_what_a_check_takes_is_what_is_left_of_three_more(said, checks):
    took = {"access": 10.0, "check": 100_000.0} | said
    counters = {name: ("", [value]) for name, value in took.items()}
    like = guest_speeds(Accuracy(), table("damon/accuracy", "damon", "kernel", counters))
    check = 100_000 * checks / (checks + 3) if checks else 100_000
    assert (like.check_ns, like.sample_ns) == (check, 3 * check if checks else 0)

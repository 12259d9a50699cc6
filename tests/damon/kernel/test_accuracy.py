"""What several runs come to."""

import numpy as np
import pytest

from lorelab.damon.experiments import accuracy
from lorelab.damon.kernel import accuracy as kernel_accuracy
from lorelab.damon.kernel import boot
from lorelab.damon.params import Accuracy
from lorelab.lab.records import Record

LOG_STARTS = 2**32 - 10  # us; the log's clock wraps


@pytest.fixture
def played():
    """Region a in the first second, b in the next; DAMON sees each a window late."""
    second = 10**9
    log = []
    at = LOG_STARTS
    for window in range(20):
        hot = (window - 1) // 10
        for region in range(2):
            start = 0x10000 + region * 0x10000
            log.append((start, start + 0x10000, 20 * window, 20 * (region == hot), 0,
                        boot.AGGREGATED, (at + (window + 1) * 100_000) % 2**32))  # fmt: skip
    return boot.Run(
        np.array([[0x10000, 0x10000], [0x20000, 0x10000]], np.uint64),
        np.zeros((0, 2), np.uint64),
        np.zeros((0, 2), np.uint64),
        np.array([[at * 1000, 2], [at * 1000 + second, 3]], np.uint64),
        at * 1000 + 2 * second,
        300,
        2_000_000,
        1,
        [],
        np.array(log, boot.EVENT),
    )


def test_accuracy_has_figures_of_each_run_and_distributions_over_all(played, monkeypatch):
    class Booted:
        def record(self, name, params, counters, run):
            return Record(counters, (name, run))

    params = Accuracy(workload="zigzag", runs=2)
    monkeypatch.setattr(kernel_accuracy, "watched", lambda wanted, lab: ([played] * 2, Booted()))
    [record] = kernel_accuracy.measure([params])
    said = record.counters.set_index("counter")
    assert said.loc["runs", "step"].tolist() == [1, 2]
    for name, one in accuracy.distributions(params, boot.told(played)).items():
        mine = said.loc[[name]]
        assert dict(zip(mine["step"], mine["value"], strict=True)) == (2 * one).to_dict()
    # 19 windows, of a region that is accessed in each sample and one that never is.
    assert said.loc["windows_by_regions", ["step", "value"]].tolist() == [2, 38]
    assert said.loc["regions_by_count", ["step", "value"]].to_numpy().tolist() == [
        [0, 38],
        [20, 38],
    ]

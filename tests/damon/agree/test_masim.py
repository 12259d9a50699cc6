"""Sums over windows of model and kernel."""

import numpy as np
import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.damon.agree import masim as agree_masim
from lorelab.damon.agree.runs import RUNS
from lorelab.damon.params import Masim, Speeds
from lorelab.damon.workload import truth
from lorelab.damon.workload.truth import masim_counters
from lorelab.lab import records


def test_totals_are_sums_over_the_windows_of_each_run():
    def run(regions):
        found = {"nr_regions": ("regions", regions), "access": ("ns", [9.0])}
        return table("damon/masim", "damon", "model", found)

    wide = agree_masim.totals([run([1, 2, 3]), run([4, 5])]).pivot_table(
        index="step", columns="counter", values="value"
    )
    assert wide.to_dict("index") == {
        1: {"windows": 3, "nr_regions": 6},
        2: {"windows": 2, "nr_regions": 9},
    }


def test_the_model_runs_at_the_kernels_speeds(file, monkeypatch, as_kernel):
    params = Masim(workload=file)
    asked = []
    seen = pd.DataFrame(np.ones((3, len(truth.Observed._fields))), columns=truth.Observed._fields)
    seen["checks"] = 20 * 38
    monkeypatch.setattr(agree_masim, "modelled", lambda *of: asked.append(of) or seen)
    said = masim_counters(seen, params, "kernel", Speeds(55.4, 20_000.6, 5400))
    assert agree_masim.compared(params, as_kernel(said))["agrees"].all()
    # 41 times 18,537 a sample of 38 checks, and three of them what a sample takes beside those
    machine = Speeds(55, 18_537, sleep_us=5_000, sample_ns=55_611, cpus=1, tick_us=1_000)
    assert {speeds for _, speeds in asked} == {machine}
    assert {(one.sample_us, one.aggr_us) for one, _ in asked} == {(5_000, 100_000)}
    assert [one.seed for one, _ in asked] == list(range(1, 1 + 2 * RUNS))


@pytest.mark.parametrize("params", records.recorded("damon/masim", Masim), ids=str)
def test_a_program_is_seen_as_the_kernel_sees_it(params):
    """But where QEMU's TLB keeps the 4,096 pages of 16 MiB, and the model's 264."""
    found = agree_masim.compared(params, records.load("damon/masim", params))
    kept = params.tlb and params.mib == 16
    assert found["agrees"].all() == (not kept)


def test_memory_that_waits_for_an_lru_list_is_the_kernels_page_by_page():
    params = Masim(workload="whole", mib=1, min_regions=1000, fresh=True)
    found = agree_masim.compared(params, records.load("damon/masim", params))
    assert len(found) == 9 and np.allclose(found["model"], found["kernel"], rtol=1e-9)

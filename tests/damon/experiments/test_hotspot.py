"""The Markov chain, and what runs come to."""

import numpy as np
import pytest

from lorelab.damon.experiments import hotspot
from lorelab.damon.params import Hotspot
from lorelab.damon.workload import hotspot as workload
from lorelab.experiments import experiment


def test_the_chain_is_a_distribution_that_only_grows():
    found = hotspot.chain(1 << 22, 1 << 30, 20, 200, always=False)
    assert (np.diff(found) >= -1e-12).all() and found[0] >= 0 and found[-1] <= 1 + 1e-9
    for pieces in (2, 3):
        assert sum(chance for _, chance in hotspot._pieces(pieces)) == pytest.approx(1)
    assert hotspot.stand_out(1, 1, 20, always=True) == 1
    assert hotspot.stand_out(1, 2, 1, always=False) == 0.5


HOTSPOT = experiment("damon/hotspot")


def test_two_kdamonds_cut_in_three_less_often_than_one():
    alone, two = (
        [
            hotspot.watched(Hotspot(hot_kib=64, windows=100, seed=n, kdamonds=k, own=True))
            for n in range(5)
        ]
        for k in (1, 2)
    )
    assert np.mean([run.in_three for run in two]) < 0.5 * np.mean([run.in_three for run in alone])


def test_seeds_of_several_runs_wrap_at_64_bits():
    last = Hotspot(runs=3, hot_kib=1 << 10, mib=64, windows=20, seed=2**64 - 1)
    found = HOTSPOT.simulate(last)
    first = HOTSPOT.simulate(last.model_copy(update={"seed": 0, "runs": 2}))
    waits = [each.query("counter == 'wait'")["value"].tolist() for each in (found, first)]
    assert waits[0][1:] == waits[1]


def test_a_hot_range_in_huge_pages_is_found_as_fast_as_page_by_page(monkeypatch):
    params = Hotspot(mib=4096, hot_kib=64 << 10, runs=20, windows=50)
    huge = HOTSPOT.simulate(params).query("counter == 'wait'")["value"]
    monkeypatch.setattr(workload, "HUGE_KIB", 1 << 30)
    small = HOTSPOT.simulate(params).query("counter == 'wait'")["value"]
    assert huge.median() == pytest.approx(small.median(), rel=0.5)

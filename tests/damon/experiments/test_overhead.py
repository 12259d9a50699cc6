"""The cost of monitoring."""

import pytest

from tests.damon.running import run


def test_the_cost_of_damon_does_not_grow_with_memory():
    cost = [run("damon/overhead", mib=mib, seconds=5).iloc[0] for mib in (64, 1 << 20)]
    assert cost[0]["checks_per_second"] == pytest.approx(cost[1]["checks_per_second"], rel=0.5)
    assert cost[1]["nr_regions_max"] <= 1000
    scan = [
        run("damon/overhead", mib=mib, variant="page-scan").iloc[0]["nr_regions_mean"]
        for mib in (64, 1 << 20)
    ]
    assert scan[1] == scan[0] * (1 << 14)


def test_one_second_has_its_windows():
    """Of 100 ms and the time of the checks each: fewer than ten a second."""
    [found] = run("damon/overhead", mib=1, seconds=1).to_dict("records")
    assert 8 < found["windows_per_second"] < 10
    assert found["nr_regions_max"] >= found["nr_regions_mean"] >= 10

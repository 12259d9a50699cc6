"""The cost of monitoring, of model and kernel."""

import pytest

from lorelab.counters import table
from lorelab.damon.agree import overhead as agree_overhead
from lorelab.damon.params import Overhead
from lorelab.lab import records
from lorelab.lab.records import Record


@pytest.mark.parametrize("params", records.recorded("damon/overhead", Overhead), ids=str)
def test_the_cost_is_the_kernels(params):
    """Within 0.5 %: the tick and who has the CPU at it follow from the scheduler."""
    found = agree_overhead.compared(params, records.load("damon/overhead", params))
    assert found["agrees"].all() and ((found["model/kernel"] - 1).abs() < 0.005).all()


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
    found = agree_overhead.compared(params, Record(counters, None)).set_index("counter")["agrees"]
    assert found["nr_regions_mean"] and not found["nr_regions_max"]

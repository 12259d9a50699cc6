"""Figures of a run."""

from collections import Counter

import pandas as pd

from lorelab.damon.workload import accuracy, truth
from tests.damon.running import SPEEDS


def test_distributions_count_every_region_of_every_window_looked_at(short, said):
    """By loops over plain numbers; sizes of one region each are in the bucket that holds them."""
    found = accuracy.distributions(short, said)
    inside, before = [], -1
    checks = []
    for window in said.windows:
        if before >= 0 and window.end_ns <= said.ended:
            inside.append(window.regions.tolist())
            checks.append(window.checks)
        before = window.end_ns
    assert not any(each % 20 for each in checks)
    assert found["windows_by_sampled"].to_dict() == Counter(each // 20 for each in checks)
    assert len(inside) == len(truth.observed(short, said, SPEEDS))
    of = said.windows[0].regions.dtype.names
    regions = [dict(zip(of, row, strict=True)) for rows in inside for row in rows]
    assert found["windows_by_regions"].to_dict() == Counter(len(rows) for rows in inside)
    assert found["regions_by_count"].to_dict() == Counter(r["nr_accesses"] for r in regions)
    assert found["regions_by_age"].to_dict() == Counter(r["age"] for r in regions)
    pages = [(r["end"] - r["start"]) // 4096 for r in regions]
    lowest = [max(one for one in accuracy.BUCKETS.tolist() if one <= n) for n in pages]
    assert found["regions_by_size"].to_dict() == Counter(lowest)
    assert accuracy.BUCKETS[0] == 1 and (accuracy.BUCKETS[9:] / accuracy.BUCKETS[8:-1] < 1.25).all()


def test_lags_count_from_the_window_of_the_change():
    seen = pd.DataFrame(
        {
            "seconds": [0.1, 0.2, 0.3, 0.4, 0.5],
            "misplaced": [0, 9, 0, 9, 9],
            "hot": [10, 10, 10, 10, 10],
        }
    )
    assert accuracy.lags(seen, [0.1, 0.3], 0.1) == [2, 2]
    assert accuracy.lags(seen, [], 0.1) == []

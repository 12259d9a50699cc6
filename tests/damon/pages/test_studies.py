"""The small programs and the exact chances that the answers rest on."""

import numpy as np
import pandas as pd
import pytest

from lorelab.damon.experiments import hotspot
from lorelab.damon.model.state import SNAPSHOT
from lorelab.damon.pages import studies
from lorelab.damon.params import Monitoring
from lorelab.damon.workload import masim


def test_two_counts_of_one_sample_differ_when_one_alone_hits():
    assert studies.apart(1, 0.3, 0) == pytest.approx(2 * 0.3 * 0.7)
    assert studies.apart(2, 0.5, 1) == pytest.approx(2 / 16)
    assert studies.apart(20, 0.5, 20) == 0


def test_addresses_are_those_of_the_program():
    config = studies.program({"a": 10_000, "b": 5000, "c": 1}, masim.Access("b", False, 64, 1))
    patterns, _, vmas = masim.program(config)
    low, high = studies.addresses(config, "b")
    assert low == int(patterns["start"][0]) - masim.MALLOC_HEADER and high - low == 5000
    assert studies.addresses(config, "c")[0] == vmas[1][1]


def test_counts_are_of_the_region_asked_for():
    config = studies.program({"hot": 1 << 24, "cold": 1 << 24}, masim.Access("hot", False, 4096, 1))
    params = Monitoring()
    assert studies.counts(params, 20, config, "hot")[10:].min() > 19
    assert studies.counts(params, 20, config, "cold")[10:].max() < 1


def test_a_range_too_small_for_two_pieces_is_found_with_three():
    two, three = (hotspot.chain(1 << 16, 1 << 27, 20, 500, False, pieces) for pieces in (2, 3))
    assert two[-1] < 0.05 and three[-1] > 0.5


def test_a_region_that_reaches_past_the_range_is_not_inside():
    rows = np.array([(0, 0, 8, 1, 2), (0, 8, 16, 3, 4), (0, 16, 32, 5, 6)], SNAPSHOT)
    found = studies.regions_within([rows[:2], rows], 8, 24)
    assert found["window"].tolist() == [1, 2]
    assert found[["size", "nr_accesses", "age"]].drop_duplicates().to_numpy().tolist() == [
        [8, 3, 4]
    ]


def test_the_error_of_a_settled_window_is_of_bytes():
    truth = pd.DataFrame({"begin": [0, 5], "end": [5, 9], "low": [0, 8], "high": [8, 16]})
    said = pd.DataFrame({"begin": [1, 1, 4], "end": [2, 2, 6], "low": [0, 12, 0]})
    said = said.assign(high=[12, 16, 16], nr_accesses=[20, 5, 3])
    # 4 of 12 bytes are said to be hot and are not; 4 more are hot a quarter of the time.
    assert studies.rate_errors(said, truth, 20).to_dict() == {2: (4 + 4 / 4) / 16}

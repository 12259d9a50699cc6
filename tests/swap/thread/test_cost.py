"""Costs of events fitted to the printed tables."""

import numpy as np
import pytest

from lorelab.swap import figures
from lorelab.swap.thread import cost


def test_throughput_gives_every_table_back_and_time_only_v3s_within_the_spread():
    spread = figures.spread() / 100
    for table in cost.TABLES:
        assert cost.fit(table, "throughput").worst < 1e-6
        assert cost.fit(table, "throughput", aging=False).worst > 0.12
        assert cost.ranges(table, "time").empty
    assert 0.05 < cost.fit("v3", "time").worst < spread
    assert min(cost.fit(table, "time").worst for table in ("v4", "v5")) > 3 * spread


def test_weights_are_not_negative_and_the_invalidation_alone_is_pinned():
    for table in cost.TABLES:
        found = cost.ranges(table, "throughput").set_index("weight")
        assert list(found.index) == list(cost.WEIGHTS)
        assert (found["lowest"] > -1e-9).all()
        free = found["highest"] - found["lowest"]
        assert (free[["fault", "flush", "slot", "split"]] > 1e-3).all()
        assert free["invalidation"] < 1e-4


def test_the_shares_of_the_penalty_hold_the_fit():
    weights = cost.fit("v3", "throughput").weights
    found = cost.ranges("v3", "throughput").set_index("weight")
    for name, value in weights.items():
        assert found.loc[name, "lowest"] - 1e-6 <= value <= found.loc[name, "highest"] + 1e-6


def test_a_table_made_of_weights_is_fitted_exactly(altered):
    weights = [0.3, 0.01, 0.02, 0.0, 0.01, 0.2]
    printed, counts = cost.cells("v3", "time")
    made = counts @ weights / (counts[0] @ weights)
    changes = {
        f"v3_{row.size.lower()}_{'series' if row.series else 'base'}": 100 * (1 - value)
        for row, value in zip(printed.itertuples(), made, strict=True)
    }
    altered(**changes)
    assert cost.fit("v3", "time").worst < 1e-6


def test_a_table_that_no_weights_can_make_is_refused(altered):
    # 64K whole has no event more than 4K, so it can't cost more
    altered(v3_64k_series=-40.0)
    assert cost.fit("v3", "throughput").worst > 0.1
    assert cost.ranges("v3", "throughput").empty


def test_gains_are_costs_before_over_costs_with_the_series():
    found = cost.gains("v3")
    assert found["size"].tolist() == ["4K", "64K", "2M"] * 2
    row = found[(found["reading"] == "throughput") & (found["size"] == "64K")].iloc[0]
    before, after = (figures.figure(f"v3-64k-{column}") / 100 for column in ("base", "series"))
    assert row["gain"] == pytest.approx((1 + after) / (1 + before))


def test_errors_and_nearest_costs_are_those_of_the_fits():
    worst, nearest = cost.errors(), cost.nearest()
    assert worst.loc["v4", ("time", True)] == round(100 * cost.fit("v4", "time").worst, 1)
    assert len(nearest) == len(cost.TABLES) * len(cost.READINGS) * len(cost.KINDS) * 2
    [row] = nearest[
        (nearest["table"] == "v4")
        & (nearest["reading"] == "time")
        & (nearest["kind"] == "2M")
        & (nearest["cost is"] == "fitted")
    ].to_dict("records")
    assert row["cost"] == round(cost.fit("v4", "time").kinds.loc["2M", "fitted"], 3)


def test_spans_have_every_weight_of_every_table():
    found = cost.spans(("v3", "v4"))
    assert len(found) == 2 * len(cost.WEIGHTS)
    assert (found["lowest"] <= found["highest"]).all()
    values = found.to_numpy()
    assert not np.signbit(values[values == 0]).any(), "no cell says -0.0"
    assert list(found.index.names) == ["table", "weight"]


def test_without_chance_the_share_is_the_printed_one_and_chance_widens_it():
    for table in ("v3", "v4"):
        bounds = cost.ranges(table, "throughput").set_index("weight").loc["invalidation"]
        ends = cost.spread(table, 1e-9, draws=8)
        assert bounds["lowest_share"] - 1e-6 < ends[0] < ends[1] < bounds["highest_share"] + 1e-6
        some, more = cost.spread(table, 3), cost.spread(table, 13)
        assert more[0] < some[0] < ends[0] < some[1] < more[1]


def test_the_spread_of_drawn_tables_is_that_of_what_ranges_says_of_each(altered):
    """Tables are drawn one by one, as a reader would alter what is printed."""
    printed, _ = cost.cells("v3", "throughput")
    random, shares, spread = np.random.default_rng(5), [], cost.spread("v3", 3)
    for _ in range(400):
        means = (1 + 0.03 / np.sqrt(5) * random.standard_normal(len(printed))) / printed["cost"]
        drawn = 100 * (means / means[0] - 1)
        names = [
            f"v3_{row.size.lower()}_{'series' if row.series else 'base'}"
            for row in printed.itertuples()
        ]
        altered(**dict(zip(names[1:], drawn[1:], strict=True)))
        found = cost.ranges("v3", "throughput").set_index("weight")
        if len(found):
            shares.append(found.loc["invalidation", ["lowest_share", "highest_share"]].mean())
    assert len(shares) > 100
    assert np.quantile(shares, [0.025, 0.975]) == pytest.approx(spread, abs=0.015)

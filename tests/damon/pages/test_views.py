"""What the pictures are drawn from."""

import numpy as np
import pandas as pd
import pytest

from lorelab.damon.pages import views
from lorelab.damon.params import Masim
from lorelab.damon.workload.setup import configuration, context, memory


@pytest.fixture
def two(small):
    return Masim(workload=small)


def test_regions_are_those_of_the_lists(two):
    pages = memory(two, configuration(two))
    ctx = context(two, pages)
    rows = views.regions(ctx)
    assert len(rows) == int(ctx.nr_regions[0])
    assert sum(rows["pages"]) * 4096 == sum(
        int(e, 16) - int(s, 16) for s, e in zip(rows["start"], rows["end"], strict=True)
    )


def test_history_has_every_byte_twice_a_window(two):
    rows = views.history(two, 5)
    size = (rows["high"] - rows["low"]).groupby([rows["stage"], rows["window"]]).sum()
    assert len(size) == 10 and (size == size.iloc[0]).all()
    for _, one in rows.groupby(["stage", "window"]):
        assert (one["low"].to_numpy()[1:] >= one["high"].to_numpy()[:-1]).all()
    both = rows[["window", "stage"]].drop_duplicates().to_numpy().tolist()
    assert both == [[n, stage] for n in range(1, 6) for stage in ("sampled", "reported")]
    merged = rows.groupby(["window", "stage"]).size().unstack()  # noqa: PD010
    assert (merged["reported"] <= merged["sampled"]).all()


def test_the_true_half_of_a_heat_map_is_the_program(two):
    cells = views.heats(two, (10, 8))
    true = cells[cells["what"] == "truth"]
    # The later region of the file lies lower; each is touched for one of the two seconds.
    low = true[true["top"] <= 7]
    late = low[(low["time"] <= 1.5) & (low["until"] > 1.5)]
    assert len(late) == 3 and (late["rate"] == 1).all()
    assert low[(low["time"] <= 0.5) & (low["until"] > 0.5)].empty
    assert set(cells["what"]) == {"truth", "model"}


def test_what_was_reported_is_spread_over_addresses():
    trace = np.zeros(3, [("start", "u8"), ("end", "u8"), ("nr_accesses", "u4")])
    trace["start"], trace["end"] = [0, 100, 400], [50, 200, 500]
    trace["nr_accesses"] = [20, 10, 5]
    rates = views._reported(trace, np.linspace(0, 400, 5), 100, 20)
    assert rates.tolist() == [0.5, 0, 0, 0.25]


def test_the_front_is_what_nothing_betters():
    rows = pd.DataFrame({"checks": [3.0, 1, 2, 2, 4], "error": [1.0, 5, 4, 3, 1]})
    assert views.front(rows)["front"].tolist() == [True, True, False, True, False]


def test_placed_regions_touch_and_count():
    made = views.placed([(3, 1, 2, 4), (5, 6, 7, 8)], 1)
    rows = views.regions(made)
    assert rows["pages"].tolist() == [3, 5] and rows["end"][0] == rows["start"][1]
    assert rows[views.COUNTS].to_numpy().tolist() == [[1, 2, 4], [6, 7, 8]]


def test_cold_and_old_regions_are_paged_out_first():
    """damon_hot_score() of 6.12: frequency and age of equal weight, 0 to 99; pageout inverts it."""
    table = views.pageout_scores(
        views.placed([(1, 0, 0, 0)], 1), (0, 10, 20), {"new": 0, "old": 90}
    )
    assert table["new"].is_monotonic_decreasing and table["old"].is_monotonic_decreasing
    assert table.loc[0, "old"] > table.loc[0, "new"] > table.loc[2, "old"]
    assert table.min(axis=None) >= 0 and table.max(axis=None) <= 99

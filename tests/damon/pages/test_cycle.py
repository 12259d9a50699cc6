"""The cycle that the slider moves over is that of kdamond, as any other run of it."""

import pandas as pd
import pytest

from lorelab.damon.pages import charts, cycle, views
from lorelab.damon.params import Masim
from lorelab.damon.workload.setup import configuration, memory


@pytest.fixture
def two(small):
    return Masim(workload=small)


@pytest.fixture
def rows(two):
    return cycle.around_change(two, mib=1 << 40)


def one(rows, window, stage):
    found = rows[(rows["window"] == window) & (rows["stage"] == stage)]
    return found[["low", "high", "count"]].to_numpy().tolist()


def test_the_windows_are_those_around_the_first_change(two, rows):
    seen = rows["window"].unique().tolist()
    assert len(seen) == 10 and seen == list(range(seen[0], seen[0] + 10))
    ends = views.history(two, seen[-1]).groupby("window")["end"].first()
    # The first phase lasts a second.
    assert ends[seen[3] - 1] < 1 <= ends[seen[3]]


def test_watching_the_count_changes_nothing_of_the_run(two, rows):
    border = int(memory(two, configuration(two)).patterns["start"].max())
    plain = views.history(two, int(rows["window"].max()))
    for window in rows["window"].unique():
        ran = plain[(plain["window"] == window) & (plain["stage"] == "reported")]
        expected = [
            [(int(low) - border) / cycle.MIB, (int(high) - border) / cycle.MIB, count]
            for low, high, count in zip(ran["low"], ran["high"], ran["nr_accesses"], strict=True)
        ]
        assert one(rows, window, "merged") == expected


def test_what_is_counted_was_split_and_is_merged(rows):
    first, *following = rows["window"].unique()
    for window in following:
        pieces = [piece[:2] for piece in one(rows, window - 1, "split")]
        counted = one(rows, window, "counted")
        assert [region[:2] for region in counted] == pieces
        for low, high, count in one(rows, window, "merged"):
            parts = [part for part in counted if low <= part[0] and part[1] <= high]
            assert (parts[0][0], parts[-1][1]) == (low, high)
            assert min(part[2] for part in parts) <= count <= max(part[2] for part in parts)
        for low, high, count in one(rows, window, "split"):
            [whole] = [of for of in one(rows, window, "merged") if of[0] <= low and high <= of[1]]
            assert count == whole[2]
    assert len(one(rows, first, "split")) > len(one(rows, first, "merged"))


def test_only_what_is_near_the_border_is_shown(two):
    near = cycle.around_change(two, before=1, after=1, mib=2)
    assert near["window"].nunique() == 3
    assert near["low"].min() == -2 and near["high"].max() == 2
    assert (near["low"] < near["high"]).all()


def test_the_slider_moves_over_windows_of_three_panels(two):
    rows = cycle.around_change(two, before=1, after=1, mib=2)
    spec = charts.cycle(rows, int(rows["window"].min())).to_dict()
    [moved] = spec["params"]
    assert (moved["bind"]["min"], moved["bind"]["max"]) == (
        rows["window"].min(),
        rows["window"].max(),
    )
    drawn = pd.DataFrame(spec["data"]["values"])
    assert drawn["window"].tolist() == rows["window"].unique().tolist()
    assert [list(dict.fromkeys(stages)) for stages in drawn["stage"]] == [list(cycle.STAGES)] * 3

"""Recorded runs: every logged walk is the model's, and a record that was changed is not."""

import pytest

from lorelab.fairzone.agree.followed import agree
from lorelab.fairzone.pages import kernel_views as views
from lorelab.lab.records import Record

RUNS = views.recorded("fairzone/followed")
IDS = [f"{params.layout}-{params.mib}-{params.mode}" for params, _ in RUNS]


@pytest.mark.parametrize(("params", "record"), RUNS, ids=IDS)
def test_each_recorded_walk_is_the_models(params, record):
    found = agree(params, record)
    assert found.verdict == "passed", found.method
    assert (found.table["walks"] > 10_000).all()


@pytest.mark.parametrize(("params", "record"), RUNS, ids=IDS)
@pytest.mark.parametrize("column", ["zone", "passes", "batch", "diff"])
def test_one_other_walk_is_seen(params, record, column):
    log = record.counters.copy()
    walks = log.index[(log["kind"] == "walk") & (log["flags"] & 16 > 0) & (log["zone"] < 255)]
    row = walks[len(walks) // 2]
    if column == "zone":
        log.loc[row, "zone"] = 0 if log.loc[row, "zone"] == 1 else 1
    else:
        log.loc[row, column] += 1
    assert agree(params, Record(log, record.provenance)).verdict == "failed"


@pytest.mark.parametrize("layout", ["zones", "movable"])
def test_every_mode_is_recorded(layout):
    modes = {params.mode for params, _ in RUNS if params.layout == layout}
    assert {"off", "baseline", "v1", "v1-local", "v1-reachable", "fixed"} <= modes


def test_no_allocation_for_normal_comes_from_a_movable_zone():
    for params, record in RUNS:
        if params.layout == "movable":
            walks = record.counters.query("kind == 'walk' and zone < 255")
            assert set(walks["klass"]) >= {2, 3} and set(walks["zone"]) == {0, 1, 3}
            assert not (walks["zone"] > walks["klass"]).any()


def test_movables_share_by_hand():
    [(params, record)] = [
        run for run in RUNS if run[0].layout == "movable" and run[0].mode == "off"
    ]
    pages = {0: 0, 1: 0, 3: 0}
    for row in record.counters.query("kind == 'walk' and zone < 255 and klass == 3").itertuples():
        pages[row.zone] += row.count * 2**row.order
    table = views.movable().set_index(["MiB", "mode"]).loc[(params.mib, "off")]
    assert table["share"] == round(100 * pages[3] / sum(pages.values()), 1)


def test_v1_resets_seldom_where_zone_dma_has_pages_to_give():
    table = views.followed().set_index("mode")
    assert 10 * table.loc[["v1", "v1-local"], "resets"].max() < table.loc["baseline", "resets"]
    assert views.from_zone(0)["v1"] > 0


def test_walks_that_a_zone_served():
    modes = {params.mode: record.counters for params, record in RUNS if params.layout == "zones"}
    rows = modes["v1"]
    served = sum(
        count
        for kind, zone, count in zip(rows["kind"], rows["zone"], rows["count"], strict=True)
        if kind == "walk" and zone == 1
    )
    assert views.from_zone(1)["v1"] == served

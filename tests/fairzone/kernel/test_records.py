"""Recorded runs: every logged walk is the model's, and a record that was changed is not."""

import pytest

from lorelab.fairzone.agree.followed import agree
from lorelab.fairzone.kernel import views
from lorelab.lab.records import Record

RUNS = views.recorded("fairzone/followed")
IDS = [f"{params.mode}-{params.cpus}-{'exact' if params.exact else 'percpu'}" for params, _ in RUNS]


@pytest.mark.parametrize(("params", "record"), RUNS, ids=IDS)
def test_each_recorded_walk_is_the_models(params, record):
    found = agree(params, record)
    assert found.verdict == "passed", found.judged
    assert (found.table["walks"] > 10_000).all()


@pytest.mark.parametrize(("params", "record"), RUNS, ids=IDS)
@pytest.mark.parametrize("column", ["zone", "passes", "batch", "diff"])
def test_one_other_walk_is_seen(params, record, column):
    log = record.counters.copy()
    walks = log.index[(log["kind"] == "walk") & (log["flags"] & 16 > 0) & (log["zone"] < 3)]
    row = walks[len(walks) // 2]
    log.loc[row, column] += -1 if column == "zone" and log.loc[row, "zone"] == 2 else 1
    assert agree(params, Record(log, record.provenance)).verdict == "failed"


def test_every_mode_is_recorded():
    modes = {params.mode for params, _ in RUNS}
    assert {"off", "baseline", "v1", "v1-local", "v1-reachable", "merged"} <= modes


def test_v1_resets_seldom_where_zone_dma_has_pages_to_give():
    table = views.followed().set_index("mode")
    assert 10 * table.loc[["v1", "v1-local"], "resets"].max() < table.loc["baseline", "resets"]
    assert views.from_zone(0)["v1"] > 0


def test_walks_that_a_zone_served():
    modes = {params.mode: record.counters for params, record in RUNS}
    rows = modes["v1"]
    served = sum(
        count
        for kind, zone, count in zip(rows["kind"], rows["zone"], rows["count"], strict=True)
        if kind == "walk" and zone == 1
    )
    assert views.from_zone(1)["v1"] == served

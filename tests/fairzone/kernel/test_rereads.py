"""Recorded runs on the throttled disk: what the page of the kernel says of them."""

import pytest

from lorelab.fairzone.pages import kernel_views as views
from lorelab.fairzone.workload.reread import PARTS, pages_of, plan

RECORDED = views.recorded("fairzone/reread")
RUNS = [run for run in RECORDED if run[0].workload != "two-files"]
IDS = [f"{params.mode}-{params.workload}-{params.program}" for params, _ in RUNS]


@pytest.fixture(params=RUNS, ids=IDS)
def run(request):
    params, record = request.param
    return params, record.counters.pivot_table(index="step", columns="counter", values="value")


def test_hits_are_cached_pages(run):
    params, said = run
    cached = said[[f"read_cached_{part:02}" for part in range(PARTS)]].sum(axis=1)
    assert (said["read_hits"] <= cached).all()
    assert (cached > 0).all() == (params.workload != "drop-caches")


def test_no_more_is_cached_than_was_free(run):
    _, said = run
    free = said.filter(regex=r"^zone_0_.*_free$").sum(axis=1)
    cached = said[[f"read_cached_{part:02}" for part in range(PARTS)]].sum(axis=1)
    assert (cached <= free).all()


def test_the_disk_was_written_whole(run):
    _, said = run
    assert (said["write_disk_written"] == said["write_touched"]).all()


def test_no_reading_of_two_files_finds_more_than_is_cached():
    two = [run for run in RECORDED if run[0].workload == "two-files"]
    assert {(run.mode, run.data_percent, run.memory_cgroups) for run, _ in two} == {
        *((mode, 200, False) for mode in ("baseline", "v1")),
        *((mode, 90, False) for mode in ("off", "baseline", "v1")),
        ("off", 90, True),
    }
    for params, record in two:
        said = record.counters.pivot_table(index="step", columns="counter", values="value")
        for name, *_ in plan(params, pages_of(params)):
            cached = said[[f"{name}_cached_{part:02}" for part in range(PARTS)]].sum(axis=1)
            assert (said[f"{name}_hits"] <= cached).all()


def test_of_files_that_fit_one_by_one_the_second_is_found_in_part():
    found = views.two_files(90)
    assert (found[1, 2] > 99).all() and (found[2, 2] < 1).all()
    assert found[2, 3].between(5, 95).all() and (found[2, 5] > 99).all()


def test_lengths_that_are_old_demote_more_and_differ_from_run_to_run():
    found = views.with_and_without_memory_cgroups()
    spread = found["found, most"] - found["found, least"]
    assert spread["on"] > 3 * spread["off"]
    assert found.loc["on", "demoted, median"] > found.loc["off", "demoted, most"]


def test_both_sides_of_the_thread_are_recorded():
    assert {"baseline", "v1"} <= {params.mode for params, _ in RUNS}

"""Recorded launches, forks and receives: what follows from the program, and each step of a log."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.lab.run import RunOptions
from lorelab.vmalock.agree import workloads, workloads_followed
from lorelab.vmalock.agree.followed import followed
from lorelab.vmalock.kernel.workloads import measure
from lorelab.vmalock.params import Workloads, WorkloadsFollowed

NAME, FOLLOWED = "vmalock/workloads", "vmalock/workloads-followed"
OURS = [(None, params) for params in records.recorded(NAME, Workloads)]
LATER = records.others(NAME, Workloads)
LOGS = records.recorded(FOLLOWED, WorkloadsFollowed)


def recorded(release, params):
    found = records.load(NAME, params, release=release)
    assert found is not None
    return found


@pytest.mark.parametrize(("release", "params"), OURS + LATER, ids=str)
def test_every_recorded_run_has_what_follows_from_its_program(release, params):
    found = workloads.agree(params, recorded(release, params))
    assert found.verdict is AgreementVerdict.PASSED, found.table
    identities = set(found.table.loc[found.table["verdict"] == "identity", "counter"])
    assert "reads" in identities or params.workload != "receive" or params.path == "mmap"
    assert not identities & {"faults", "writes", "marks"}


def test_each_workload_is_recorded_on_both_kernels_and_each_path_on_ours():
    every = {"launch", "fork", "receive"}
    for path in ("vma", "mmap"):
        assert {params.workload for _, params in OURS if params.path == path} == every
    assert {params.workload for _, params in LATER} == every


@pytest.mark.parametrize(("release", "params"), OURS + LATER, ids=str)
def test_one_more_or_less_of_anything_is_seen(release, params):
    record = recorded(release, params)
    judged = set(workloads.agree(params, record).table["counter"]) | {"locked", "refused"}
    seen = set()
    for counter in judged & set(record.counters["counter"]):
        for more in (-1, 1):
            other = record.counters.copy()
            other.loc[other["counter"] == counter, "value"] += more
            found = workloads.agree(params, record._replace(counters=other))
            assert found.verdict is AgreementVerdict.FAILED, counter
            seen.add(counter)
    assert {"locked", "refused", "writes"} <= seen


def test_a_reason_that_is_not_counted_is_seen():
    params = Workloads(workload="receive", threads=4, size=300, same=True)
    record = recorded(None, params)
    other = record.counters.copy()
    other.loc[other["counter"] == "step_trylock", "value"] -= 1
    found = workloads.agree(params, record._replace(counters=other))
    assert not found.table.set_index("counter")["agrees"]["reasons of vma_lock_abort"]


@pytest.mark.parametrize("params", LOGS, ids=str)
def test_each_logged_step_is_the_models(params):
    record = experiment(FOLLOWED).recorded(params)
    found = workloads_followed.agree(params, record)
    assert found.verdict is AgreementVerdict.PASSED, found.method
    events = set(record.counters["event"])
    assert {"locked", "mmap_write", "marked"} <= events


def test_each_workload_is_logged():
    assert {params.workload for params in LOGS} == {"launch", "fork", "receive"}


@pytest.mark.parametrize("size", [15, 10_001])
def test_a_launch_of_too_few_or_many_pages_is_refused(size):
    with pytest.raises(BadInput, match=rf"size={size}: a launch takes 16 to 10000"):
        measure([Workloads(size=size)], RunOptions())


RECEIVES = WorkloadsFollowed(workload="receive", threads=3, same=True)


def receives():
    log = experiment(FOLLOWED).recorded(RECEIVES).counters
    area = int(log.loc[log["event"].isin(("marked", "wait")), "vma"].iloc[0])
    return log, area


def others(log, area):
    replayed, _ = followed(log, area)
    return int((replayed["outcome"] == "other").sum())


def test_a_receive_that_was_refused_has_to_take_mmap_lock():
    log, area = receives()
    refused = log.index[log["event"] == "trylock"][0]
    who = log.loc[refused, "task"]
    after = log.index[(log.index > refused) & (log["task"] == who)][0]
    assert log.loc[after, "event"] == "mmap_read"
    assert others(log.drop(index=after), area)


def test_who_does_not_know_the_area_takes_receives_for_faults():
    log, _ = receives()
    assert others(log, 0) > len(log[log["event"] == "locked"]) // 2


def test_a_reader_that_gets_past_a_writer_in_the_queue_is_seen():
    log, area = receives()
    replayed, _ = followed(log, area)
    certain = replayed.index[(replayed["event"] == "trylock") & (replayed["outcome"] == "same")]
    assert len(certain)
    log = log.copy()
    log.loc[certain[0], "event"] = "locked"
    assert others(log, area)


def changed(log, rows):
    """The log with steps of task 1 put in front: (event, vma, mm_lock_seq)."""
    seq = int(log["mm_lock_seq"].iloc[0])
    made = log.iloc[:0].copy()
    for n, (event, vma, ahead) in enumerate(rows):
        made.loc[n] = [event, 1, vma, 0, seq + ahead, 0]
    return made


@pytest.mark.parametrize(
    ("steps", "right"),
    [
        (["locked", "range", "unlocked", "mmap", "mmap_read", "mmap_read_end"], True),
        (["locked", "range", "unlocked", "done"], False),
        (["locked", "detached", "unlocked", "locked", "unlocked", "done"], True),
        (["locked", "unlocked", "mmap"], False),
        (["no_vma", "mmap", "mmap_try", "mmap_read", "mmap_read_end"], True),
        (["no_vma", "done"], False),
        (["mmap", "locked"], False),
    ],
)
def test_a_fault_goes_one_way_to_its_end(steps, right):
    log, _ = receives()
    even = int(log["mm_lock_seq"].iloc[0]) & 1
    rows = [(e, 0 if e in ("no_vma", "mmap", "done") or "mmap" in e else 1, even) for e in steps]
    assert (others(changed(log, rows), 0) == 0) is right


def test_readers_and_the_writer_of_mmap_lock_keep_each_other_out():
    log, _ = receives()
    odd = 1 - (int(log["mm_lock_seq"].iloc[0]) & 1)
    inside = changed(log, [("mmap_write", 0, odd), ("marked", 1, odd), ("mmap_read", 0, odd)])
    assert others(inside.iloc[:2], 0) == 0
    inside.loc[2, "task"] = 2
    assert others(inside, 0) == 1
    assert others(changed(log, [("mmap_read", 0, 1 - odd), ("marked", 1, 1 - odd)]), 0) == 1

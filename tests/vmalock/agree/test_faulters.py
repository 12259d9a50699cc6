"""Runs of faulters.c: what follows from the program, and that one more or less of it is seen."""

from types import SimpleNamespace

import pytest

from lorelab.counters import table
from lorelab.experiments import experiment
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.lab.records import Record
from lorelab.vmalock.agree.invariants import SUMS
from lorelab.vmalock.params import Taken, Threads

MODES = {"private", "shared", "merging"}
RUNS = [
    (name, release, params)
    for name, model in (("vmalock/threads", Threads), ("vmalock/taken", Taken))
    for release, params in [
        *((None, params) for params in records.recorded(name, model)),
        *records.others(name, model),
    ]
]


def on(release, counters):
    """A record of a kernel of some release."""
    return Record(counters, SimpleNamespace(kernel=SimpleNamespace(release=release)))


def judged(name, params, counters):
    [variant] = counters["variant"].unique()
    found = experiment(name).agree(
        params, on({"v6.12": "6.12.117", "v7.3": "7.3.4"}[variant], counters)
    )
    return found, {term for each in found.table["counter"] for term in SUMS.get(each, (each,))}


def recorded(name, release, params):
    return records.load(name, params, release=release).counters


def off(counters, counter, more):
    """The counters with one that is off."""
    return counters.assign(
        value=counters["value"].where(counters["counter"] != counter, counters["value"] + more)
    )


@pytest.mark.parametrize(("name", "release", "params"), RUNS, ids=str)
def test_every_recorded_run_has_what_follows_from_the_program(name, release, params):
    found, _ = judged(name, params, recorded(name, release, params))
    assert found.verdict is AgreementVerdict.PASSED, found.table


def test_each_mode_is_recorded_on_each_path_and_on_the_later_kernel():
    for name in ("vmalock/threads", "vmalock/taken"):
        for path in ("vma", "mmap"):
            assert {p.mode for n, r, p in RUNS if (n, r, p.path) == (name, None, path)} == MODES
    assert {params.mode for _, release, params in RUNS if release} == MODES


@pytest.mark.parametrize(("name", "release", "params"), RUNS, ids=str)
def test_one_more_or_less_of_anything_is_seen(name, release, params):
    counters = recorded(name, release, params)
    _, terms = judged(name, params, counters)
    for counter in terms:
        for more in (-1, 1):
            found, _ = judged(name, params, off(counters, counter, more))
            assert found.verdict is AgreementVerdict.FAILED, counter


def taken(params, later=False, refused=0, shared=0):
    """What faulters.c comes to, call by call, if all are served one after another.

    The first `refused` faults are refused their VMA's lock, and for `shared` of them another
    faulter was first.
    """
    n = dict.fromkeys(("faults", "locked", "refused", "marks", "reads", "writes", "failed"), 0)

    def fault():
        n["faults"] += 1
        if params.path == "mmap":
            n["reads"] += 1
        elif n["refused"] < refused:
            n["refused"] += 1
            n["reads"] += 1
        else:
            n["locked"] += 1

    def drop():
        n["locked" if later else "reads"] += 1

    def write(*marks, reads=False):
        n["writes"] += 1
        n["reads"] += reads
        n["marks"] += len(set(marks)) if later else len(marks)

    for _ in range(params.faulters * params.rounds):
        for _ in range(params.pages):
            fault()
        drop()
    # Pages that another faulter had touched before.
    n["faults"] -= shared
    n["locked"] -= shared
    for _ in range(params.mappers * params.rounds):
        if params.mode == "private":
            write("map")
            write("map", "rest", "map")
            write("map", "rest", reads=True)
        if params.mode == "shared":
            write("area")
        if params.mode == "merging":
            write("area")
            write("area", "page", "page", reads=True)
    variant = "v7.3" if later else "v6.12"
    units = {name: ("times", [value]) for name, value in n.items()}
    return table("vmalock/taken", variant, "kernel", units, first=0)


PROGRAMS = [
    ({"mode": "private", "pages": 3}, {}),
    ({"mode": "private", "path": "mmap", "mappers": 0}, {}),
    ({"mode": "shared", "faulters": 1}, {"refused": 7}),
    ({"mode": "shared", "faulters": 4}, {"refused": 7, "shared": 11}),
    ({"mode": "merging", "faulters": 3}, {"refused": 2, "shared": 1}),
]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(("given", "met"), PROGRAMS)
def test_a_program_gone_through_call_by_call_comes_to_the_same(given, met, later):
    params = Taken(rounds=5, **given)
    counters = taken(params, later, **met)
    found, terms = judged("vmalock/taken", params, counters)
    assert found.verdict is AgreementVerdict.PASSED, found.table
    assert {"locked", "refused", "reads", "writes", "marks"} <= terms
    for counter in terms | {"faults"}:
        for more in (-1, 1):
            wrong, _ = judged("vmalock/taken", params, off(counters, counter, more))
            assert wrong.verdict is AgreementVerdict.FAILED, counter


def names(**given):
    params = Taken(rounds=5, **given)
    return set(judged("vmalock/taken", params, taken(params))[0].table["counter"])


def test_what_the_order_of_events_decides_is_not_judged():
    assert {"faults", "refused", "failed", "marks"} <= names()
    assert not names(mode="merging") & {"faults", "refused", "failed"}
    assert "faults" in names(mode="shared", faulters=1)
    assert "failed" not in names(path="mmap")
    assert "marks" not in names(mappers=2)
    assert "faults" in names(pages=511) and "faults" not in names(pages=512)


def test_what_is_not_judged_is_named():
    said = "; not judged, for the order of events decides: "
    params = Taken(rounds=5, mode="shared", mappers=2)
    found, _ = judged("vmalock/taken", params, taken(params))
    assert found.method.partition(said)[2].partition(";")[0] == "faults, refused, marks, failed"
    params = Taken(rounds=5)
    found, _ = judged("vmalock/taken", params, taken(params))
    assert found.method == "7 of 7 counters are what follows from the program, exactly"


COUNTS = {
    "pgfault": 160,
    "vma_lock_success": 147,
    "vma_lock_abort": 13,
    "vma_lock_retry": 0,
    "vma_lock_miss": 2,
    "step_no_vma": 0,
    "step_early": 4,
    "step_trylock": 5,
    "step_late": 1,
    "step_range": 3,
    "step_locked": 152,
    "step_mmap": 13,
    "step_marked": 28,
    "step_marked_again": 10,
    "step_wait": 2,
    "rwsem_sleep_reader": 9,
}
MERGING = Threads(mode="merging", faulters=1, mappers=1, rounds=10)


def threads(counts):
    rows = {name: ("faults", [value]) for name, value in counts.items()}
    return table("vmalock/threads", "v6.12", "kernel", rows, first=0)


def test_faults_that_went_every_way_there_is_add_up():
    found, _ = judged("vmalock/threads", MERGING, threads(COUNTS))
    assert found.verdict is AgreementVerdict.PASSED, found.table


@pytest.mark.parametrize("counter", sorted(set(COUNTS) - {"rwsem_sleep_reader"}))
def test_a_fault_that_is_counted_in_one_place_alone_is_seen(counter):
    for more in (-1, 1):
        found, _ = judged("vmalock/threads", MERGING, off(threads(COUNTS), counter, more))
        assert found.verdict is AgreementVerdict.FAILED


def test_sleeps_are_left_to_timing():
    found, _ = judged("vmalock/threads", MERGING, off(threads(COUNTS), "rwsem_sleep_reader", 1))
    assert found.verdict is AgreementVerdict.PASSED
    assert "rwsem_sleep_reader" in found.method


@pytest.mark.parametrize(
    ("mode", "wrong"),
    [
        ("shared", {"vma_lock_miss", "step_range", "step_marked + step_wait", "step_marked_again"}),
        (
            "private",
            {"vma_lock_miss", "vma_lock_abort", "step_early", "step_trylock", "step_late"}
            | {"step_range", "step_wait", "step_marked + step_wait"},
        ),
    ],
)
def test_where_nothing_merges_no_vma_goes_or_ends_earlier(mode, wrong):
    params = MERGING.model_copy(update={"mode": mode})
    found, _ = judged("vmalock/threads", params, threads(COUNTS))
    rows = found.table.set_index("counter")["agrees"]
    assert set(rows.index[~rows]) == wrong


def test_a_kernel_that_took_the_lock_with_path_mmap_is_seen():
    params = MERGING.model_copy(update={"path": "mmap"})
    found, _ = judged("vmalock/threads", params, threads(COUNTS))
    rows = found.table.set_index("counter")["agrees"]
    assert rows.index[~rows].to_list() == ["success + retry + abort", "step_wait"]
    none = dict.fromkeys(COUNTS, 0) | {"pgfault": 160, "step_mmap": 160}
    marked = {"step_marked": 30, "step_marked_again": 10}
    found, _ = judged("vmalock/threads", params, threads(none | marked))
    assert found.verdict is AgreementVerdict.PASSED, found.table


def test_the_faults_are_the_programs_where_no_area_is_shared():
    found, _ = judged("vmalock/threads", MERGING, threads(COUNTS | {"pgfault": 161}))
    row = found.table.set_index("counter").loc["pgfault"]
    assert (row["model"], row["kernel"], row["agrees"]) == (160, 161, False)


@pytest.mark.parametrize(("name", "release", "params"), RUNS, ids=str)
def test_identities_of_the_kernels_own_counters_are_told_and_not_counted(name, release, params):
    found, _ = judged(name, params, recorded(name, release, params))
    rows = found.table
    counted = (rows["verdict"] != "identity").sum()
    assert found.method.startswith(f"{counted} of {counted} counters are what follows")
    identities = set(rows.loc[rows["verdict"] == "identity", "counter"])
    assert not identities & {"faults", "pgfault", "writes", "marks", "failed", "vma_lock_retry"}
    if name == "vmalock/threads":
        assert {"step_locked", "reasons of vma_lock_abort"} <= identities
    elif params.mode == "private":
        assert not identities


def test_marks_of_several_mappers_are_not_judged():
    for mappers in (1, 2):
        params = MERGING.model_copy(update={"mappers": mappers})
        found, _ = judged("vmalock/threads", params, threads(COUNTS))
        names = {"step_marked + step_wait", "step_marked_again"} & set(found.table["counter"])
        assert bool(names) is (mappers == 1)
        assert ("step_marked_again" in found.method) is (mappers == 2)

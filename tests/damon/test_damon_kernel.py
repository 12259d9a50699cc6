"""DAMON on a kernel: the road in and out, the model on recorded runs, and a short live run."""

import numpy as np
import pytest
from logged import MAX_REGIONS, Logged

from lorelab.damon import follow, kernel, masim, told
from lorelab.damon.params import Accuracy, Masim, Overhead, Variant
from lorelab.errors import BadInput
from lorelab.lab import records

RECORDED = records.recorded(follow.NAME, Masim)
PARAMS = Masim(max_regions=MAX_REGIONS)


@pytest.fixture(scope="module")
def logged():
    return Logged(seed=3).run(1_010)


def test_a_log_leads_the_model_to_the_same_regions(logged):
    given = follow.of(logged)
    found = follow.followed(PARAMS, given)
    assert len(found.windows) == 50
    assert found.windows["equal"].all()
    assert found.windows["splits"].iloc[-1] > 100 and found.windows["merges"].iloc[-1] > 100
    assert follow.sampled(PARAMS, logged, given) == (1_000, 1_000)


def test_a_record_says_what_its_log_says_but_for_the_pages_sampled(logged):
    given = follow.of(logged)
    again = follow.unpack(follow.pack(PARAMS, logged), PARAMS)
    assert again.mappings == given.mappings
    assert len(again.numbers) == len(given.numbers)
    assert (again.checks == given.checks).all()
    for mine, kernels in zip(again.windows, given.windows, strict=True):
        assert (mine == kernels).all()
    assert follow.followed(PARAMS, again).windows["equal"].all()
    table = follow.pack(PARAMS, logged)
    assert follow.accesses(table)[["begin", "end"]].to_numpy().tolist() == [[0, 3], [3, 5]]
    checks = int((logged.log["kind"] == kernel.CHECK).sum())
    took = (5 * 10**9 - 1) / 131_072, 1 / checks, 5 * 10**6
    assert follow.took(table) == pytest.approx(took, abs=0.06)
    said = follow.reports(table)
    assert len(said) == sum(map(len, given.windows))
    assert said["end"].iloc[-1] == 5.0


@pytest.mark.parametrize("what", ["check", "split", "region"])
def test_one_wrong_bit_shows(logged, what):
    given = follow.unpack(follow.pack(PARAMS, logged), PARAMS)
    if what == "check":
        # Of a region that is hot, so that its count can't stay what it was by chance.
        given.checks[np.flatnonzero(given.checks)[0]] ^= 1
    elif what == "split":
        given.numbers[np.flatnonzero(given.numbers)[0]] = 0
    else:
        given.windows[20]["age"][0] += 1
    try:
        same = follow.followed(PARAMS, given).windows["equal"].all()
    except ValueError:
        same = False
    assert not same


def test_a_log_that_ends_early_is_refused(logged):
    given = follow.of(logged)
    with pytest.raises(ValueError, match="more than were logged"):
        follow.followed(PARAMS, given._replace(checks=given.checks[:-1]))


def test_a_run_without_a_window_is_bad_input(logged):
    kernel.check_windows(PARAMS, logged)
    none = logged._replace(log=logged.log[logged.log["kind"] != kernel.AGGREGATED])
    says = "aggr_us=100000: no window ended in the 5.0 s .* a longer program"
    with pytest.raises(BadInput, match=says + "$"):
        kernel.check_windows(PARAMS, none)
    with pytest.raises(BadInput, match=says + ", or watermarks"):
        kernel.check_windows(PARAMS, none._replace(watermarks=[[803, 802, 0, 500_000]]))
    with pytest.raises(BadInput, match=r"ended in the 0.1 s"):
        kernel.check_windows(PARAMS, logged._replace(ended=99_000_000))


def test_hundreds_of_windows_are_recorded():
    windows = sum(follow.recorded(params).counters["window"].gt(0).sum() for params in RECORDED)
    assert windows > 900 and len(RECORDED) >= 5


def test_a_stale_tlb_entry_hides_a_hot_megabyte_from_the_kernel():
    def seen(**changes):
        record = records.load("damon/masim", Masim(workload="whole", mib=1, **changes))
        total = record.counters.groupby("counter")["value"].sum()
        return total["hot_seen"] / total["hot"]

    assert seen(tlb=0) > 0.9
    assert seen(tlb=264) < 0.01
    assert seen(tlb=264) < seen(tlb=264, switch_us=10_000) < seen(tlb=264, switch_us=1_000)


@pytest.mark.parametrize("params", RECORDED, ids=lambda p: str(p.model_dump(exclude_defaults=True)))
def test_the_model_follows_the_recorded_kernel_region_for_region(params):
    record = follow.recorded(params)
    assert record.provenance.kernel.patches
    given = follow.unpack(record.counters, params)
    found = follow.followed(params, given)
    assert len(found.windows) == len(given.windows) > 0
    assert found.windows["equal"].all()


def test_a_context_begins_with_what_the_last_one_left(logged):
    """last_nr_regions is one for the whole kernel: it decides between two pieces and three."""
    first = len(follow.of(logged).windows[0])
    given = follow.of(Logged(seed=3, last_nr_regions=first).run(200), first)
    found = follow.followed(PARAMS, given)
    assert found.windows["equal"].all()
    assert found.windows["splits"][0] > first
    forgotten = follow.followed(PARAMS, given._replace(last_nr_regions=0))
    assert not forgotten.windows["equal"].all()
    assert follow.left(PARAMS, given) == len(given.windows[-1])


@pytest.mark.parametrize(
    "params",
    [
        Masim(variant=Variant.FIXED),
        Masim(check_ns=1),
        Masim(access_ns=1),
        Masim(workload="random"),
        Masim(workload="sparse"),
        Accuracy(mib=4096),
    ],
)
def test_what_no_kernel_can_follow_is_bad_input(params):
    with pytest.raises(BadInput):
        kernel.masim([params])


def test_memory_for_the_guest():
    with pytest.raises(BadInput, match="room"):
        kernel.overhead([Overhead(mib=4096)])


def test_a_program_as_numbers():
    config = masim.parse("a, 5000\nb, 70\n\none\n10\nb, 1, 64, 3\na, 0, 4096, 1\n", "here")
    assert kernel.program(config, Masim(switch_us=1000, seed=9)) == (
        "1000 9 1\n2\n5000\n70\n1\n10 2\n1 1 64 3\n0 0 4096 1\n"
    )


def test_switches_follow_the_parameters():
    assert kernel.switches(Masim()) == {"damon/flush": "on"}
    assert kernel.switches(Masim(tlb=64)) == {}
    assert kernel.switches(Masim(tlb=64, rand64=True)) == {"damon/rand64": "on"}


LOG_STARTS = 2**32 - 10  # us; the log's clock wraps


@pytest.fixture
def played():
    """Region a in the first second, b in the next; DAMON sees each a window late."""
    second = 10**9
    log = []
    at = LOG_STARTS
    for window in range(20):
        hot = (window - 1) // 10
        for region in range(2):
            start = 0x10000 + region * 0x10000
            log.append((start, start + 0x10000, 20 * window, 20 * (region == hot), 0,
                        kernel.AGGREGATED, (at + (window + 1) * 100_000) % 2**32))  # fmt: skip
    return kernel.Run(
        np.array([[0x10000, 0x10000], [0x20000, 0x10000]], np.uint64),
        np.zeros((0, 2), np.uint64),
        np.zeros((0, 2), np.uint64),
        np.array([[at * 1000, 2], [at * 1000 + second, 3]], np.uint64),
        at * 1000 + 2 * second,
        300,
        2_000_000,
        1,
        [],
        np.array(log, kernel.EVENT),
    )


def test_truth_by_window_from_what_the_program_said(played):
    params, run, at = Masim(workload="zigzag"), played, LOG_STARTS
    seen = told.observed(params, kernel.told(run), 10.0, 0.0)
    assert len(seen) == 19  # without the one in which it began
    assert seen["true_wss"].tolist() == [0x10000] * 19
    assert seen["misplaced"].tolist() == [0] * 9 + [0x20000] + [0] * 9
    assert told.changes(params, kernel.told(run)) == [1.0]
    assert kernel.windows(run._replace(log=run.log[:0])) == []
    # Windows that are a ms late, with 20 checks each.
    late = run.log.copy()
    late["us"] = [(at + (n // 2 + 1) * 101_000) % 2**32 for n in range(40)]
    run = run._replace(log=late, ended=at * 1000 + 2_020_000_000)
    run = run._replace(sleeps=400)
    access, check, sleep = kernel.speeds(params, run)
    assert access == (2_020_000_000 - 2_000_000) / (run.draws * 131_072)
    assert check == 2_000_000 / (400 * 19 / 20)
    assert sleep == (2_020_000_000 - 2_000_000) / 400 / 1000


def test_accuracy_has_figures_of_each_run_and_distributions_over_all(played, monkeypatch):
    class Booted:
        def provenance(self, *of):
            return of

    params = Accuracy(workload="zigzag", runs=2)
    monkeypatch.setattr(kernel, "watched", lambda wanted, image: ([played] * 2, Booted()))
    [record] = kernel.accuracy([params])
    said = record.counters.set_index("counter")
    assert said.loc["runs", "step"].tolist() == [1, 2]
    for name, one in told.distributions(params, kernel.told(played)).items():
        mine = said.loc[[name]]
        assert dict(zip(mine["step"], mine["value"], strict=True)) == (2 * one).to_dict()
    # 19 windows, of a region that is accessed in each sample and one that never is.
    assert said.loc["windows_by_regions", ["step", "value"]].tolist() == [2, 38]
    assert said.loc["regions_by_count", ["step", "value"]].to_numpy().tolist() == [
        [0, 38],
        [20, 38],
    ]

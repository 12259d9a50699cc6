"""Schemes on a kernel: the road in and out, the model on an oracle's log and on recorded runs."""

import dataclasses

import pytest
from damon_oracle import PAGE, Scheme
from following import UINT_MAX, ULONG_MAX
from logged import MAX_REGIONS, Logged

from lorelab.damon import follow_schemes, kernel, kernel_schemes
from lorelab.damon.params import FollowedSchemes as Schemes
from lorelab.damon.params import Variant
from lorelab.errors import BadInput
from lorelab.lab import records
from lorelab.lab.records import Record

RULES = "4K null null 25 300ms null pageout"
PARAMS = Schemes(schemes=RULES, max_regions=MAX_REGIONS, quota_mib=4, quota_ms=500)
RECORDED = records.recorded(follow_schemes.NAME, Schemes)
EXPERIMENT = "damon/schemes"


def cold():
    """`RULES`, as the oracle takes them."""
    return Scheme((PAGE, ULONG_MAX), (0, 5), (3, UINT_MAX), "pageout", reset_ms=500,
                  quota_sz=4 << 20, weights=(1, 1))  # fmt: skip


@pytest.fixture(scope="module")
def record():
    return follow_schemes.pack(PARAMS, Logged(3, [cold()]).run(1_000))


def test_a_log_leads_the_model_to_the_same_regions_and_statistics(record):
    given = follow_schemes.unpack(record, PARAMS)
    found = follow_schemes.followed(PARAMS, given)
    assert len(found) == 50 and found["reported"].iloc[-1]
    told = follow_schemes.weigh(PARAMS, Record(record, None))
    assert told["agrees"].all() and told["equal"].tolist() == [50, 50, 50, 1]
    assert given.memory == {"refaults": 7.0}
    [said] = given.statistics
    # The scheme is held back, and some of what it is tried on holds the mapping without pages.
    assert said["qt_exceeds"] > 3 and 0 < said["nr_applied"] < said["nr_tried"]


def test_schemes_rest_and_work_by_the_watermarks():
    params = PARAMS.model_copy(update={"wmark_high": 1, "wmark_mid": 2})
    run = Logged(3, [cold()]).run(1_000, marks=[650, 600, 520])
    record = follow_schemes.pack(params, run)
    given = follow_schemes.unpack(record, params)
    assert 100 < sum(rests for window in given.looks for _, rests in window) < 10_000
    told = follow_schemes.weigh(params, Record(record, None)).set_index("counter")
    assert told.loc["rested", "windows"] == 50 and told["agrees"].all()
    given.watermarks[0][1] -= 5
    assert not follow_schemes.followed(params, given)["rested"].all()


def test_a_goal_not_reached_raises_the_quota_from_a_byte():
    """Below a page nothing fits, which is counted as tried, and traced by nobody."""
    params = Schemes(schemes=RULES, max_regions=MAX_REGIONS, goal_percent=50, quota_ms=200)
    scheme = dataclasses.replace(cold(), quota_sz=0, reset_ms=200, goals=[(100, 50)])
    run = Logged(3, [scheme]).run(1_000)
    record = Record(follow_schemes.pack(params, run), None)
    assert follow_schemes.weigh(params, record)["agrees"].all()
    traced = (run.log["kind"] == kernel.TRIED).sum()
    assert 0 < traced < run.schemes[0]["nr_tried"]
    wrong = params.model_copy(update={"goal_percent": 55})
    with pytest.raises(ValueError, match="more than were logged"):
        follow_schemes.weigh(wrong, record)


@pytest.mark.parametrize("what", ["clock", "trial", "bare", "statistics"])
def test_one_wrong_entry_shows(record, what):
    given = follow_schemes.unpack(record, PARAMS)
    if what == "clock":
        given = given._replace(jiffies=[100 * n // 3 for n in given.jiffies])
    elif what == "trial":
        first = next(n for n, tried in enumerate(given.tried) if tried)
        del given.tried[first][0]
    elif what == "bare":
        given = given._replace(bare=[])
    else:
        given.statistics[0]["qt_exceeds"] += 1
    try:
        found = follow_schemes.followed(PARAMS, given)
    except ValueError:
        return
    same = found["equal"] & (found["nr_tried0"] == found["kernel_nr_tried0"])
    assert not (same.all() and found["reported"].any())


@pytest.mark.parametrize("params", RECORDED, ids=lambda p: str(p.model_dump(exclude_defaults=True)))
def test_the_model_follows_the_recorded_schemes_region_for_region(params):
    record = records.load(follow_schemes.NAME, params)
    found = follow_schemes.weigh(params, record)
    assert found["windows"].iloc[0] > 100
    assert found["agrees"].all()


@pytest.mark.parametrize("experiment", [EXPERIMENT, follow_schemes.NAME])
def test_what_was_recorded_can_be_measured_again(experiment):
    given = records.recorded(experiment, Schemes)
    assert given
    for params in given:
        kernel_schemes.possible(params)


def test_totals_of_runs_and_what_things_took():
    scheme = cold()
    kdamond = Logged(3, [scheme])
    run = kdamond.run(1_000)
    memory = dict.fromkeys(kernel_schemes.UNITS, 3.0)
    memory |= {"paged_out": 200.0, "collapses": 4.0, "khugepaged_ns": 80_000}
    run = run._replace(
        memory=memory,
        applying_ns=1_000_000,
        work_ns=41_000_000,
        sleeps=1_000,
        draws=100,
        watched=-3_000_000,
    )
    idle = run._replace(memory=memory | {"paged_out": 0, "collapses": 0})
    found = kernel_schemes.totals(PARAMS, [run, idle])
    assert found["page"][1].tolist() == [5_000, 0] and found["collapse"][1].tolist() == [20_000, 0]
    assert found["lead"] == ("us", pytest.approx([3_000, 3_000]))
    assert found["scheme0_nr_tried"][1].tolist() == [scheme.stat["nr_tried"]] * 2
    assert found["windows"][1].tolist() == [50, 50]
    assert found["check"][1][0] * kdamond.checks == pytest.approx(40_000_000)


def test_schemes_as_the_guest_takes_them():
    [cold] = kernel_schemes.rules(Schemes(schemes="prcl", quota_mib=2, quota_ms=500))
    assert cold == {
        "action": "pageout",
        "sz": [4096, ULONG_MAX],
        "nr_accesses": [0, 1],
        "age": [50, UINT_MAX],
        "quota_bytes": 2 << 20,
        "quota_ms": 500,
    }
    hot, cold = kernel_schemes.rules(Schemes(schemes="ethp"))
    assert (hot["action"], hot["nr_accesses"]) == ("hugepage", [1, UINT_MAX])
    assert (cold["action"], cold["age"]) == ("nohugepage", [10, UINT_MAX])


@pytest.mark.parametrize(
    "params",
    [Schemes(variant=Variant.FIXED), Schemes(access_ns=1), Schemes(mib=4096)],
)
def test_what_no_kernel_can_run_is_bad_input(params):
    with pytest.raises(BadInput):
        kernel_schemes.schemes([params])

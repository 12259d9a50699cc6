"""The model follows a log of schemes, and a wrong one shows."""

import dataclasses

import pytest

from lorelab.damon.agree import schemes_followed
from lorelab.damon.kernel import boot
from lorelab.damon.kernel import schemes_followed as schemes_log
from lorelab.damon.params import FollowedSchemes as Schemes
from lorelab.lab import records
from lorelab.lab.records import Record
from tests.damon.following import UINT_MAX, ULONG_MAX
from tests.damon.logged import MAX_REGIONS, Logged
from tests.damon.oracle import PAGE, Scheme

RULES = "4K null null 25 300ms null pageout"


PARAMS = Schemes(schemes=RULES, max_regions=MAX_REGIONS, quota_mib=4, quota_ms=500)


RECORDED = records.recorded(schemes_log.NAME, Schemes)


def cold():
    """`RULES`, as the oracle takes them."""
    return Scheme((PAGE, ULONG_MAX), (0, 5), (3, UINT_MAX), "pageout", reset_ms=500,
                  quota_sz=4 << 20, weights=(1, 1))  # fmt: skip


@pytest.fixture(scope="module")
def record():
    return schemes_log.pack(PARAMS, Logged(3, [cold()]).run(1_000))


def test_a_log_leads_the_model_to_the_same_regions_and_statistics(record):
    given = schemes_log.unpack(record, PARAMS)
    found = schemes_followed.followed(PARAMS, given)
    assert len(found) == 50 and found["reported"].iloc[-1]
    told = schemes_followed.compared(PARAMS, Record(record, None))
    assert told["agrees"].all() and told["equal"].tolist() == [50, 50, 50, 1]
    assert given.memory == {"refaults": 7.0}
    [said] = given.statistics
    # The scheme is held back, and some of what it is tried on holds the mapping without pages.
    assert said["qt_exceeds"] > 3 and 0 < said["nr_applied"] < said["nr_tried"]


def test_schemes_rest_and_work_by_the_watermarks():
    params = PARAMS.model_copy(update={"wmark_high": 1, "wmark_mid": 2})
    run = Logged(3, [cold()]).run(1_000, marks=[650, 600, 520])
    record = schemes_log.pack(params, run)
    given = schemes_log.unpack(record, params)
    assert 100 < sum(rests for window in given.looks for _, rests in window) < 10_000
    told = schemes_followed.compared(params, Record(record, None)).set_index("counter")
    assert told.loc["rested", "compared"] == 50 and told["agrees"].all()
    [marks] = given.watermarks
    given = given._replace(watermarks=[marks._replace(mid=marks.mid - 5)])
    assert not schemes_followed.followed(params, given)["rested"].all()


def test_a_goal_not_reached_raises_the_quota_from_a_byte():
    """Below a page nothing fits, which is counted as tried, and traced by nobody."""
    params = Schemes(schemes=RULES, max_regions=MAX_REGIONS, goal_percent=50, quota_ms=200)
    scheme = dataclasses.replace(cold(), quota_sz=0, reset_ms=200, goals=[(100, 50)])
    run = Logged(3, [scheme]).run(1_000)
    record = Record(schemes_log.pack(params, run), None)
    assert schemes_followed.compared(params, record)["agrees"].all()
    traced = (run.log["kind"] == boot.TRIED).sum()
    assert 0 < traced < run.schemes[0]["nr_tried"]
    wrong = params.model_copy(update={"goal_percent": 55})
    with pytest.raises(ValueError, match="more than were logged"):
        schemes_followed.compared(wrong, record)


@pytest.mark.parametrize("what", ["clock", "trial", "bare", "statistics"])
def test_one_wrong_entry_shows(record, what):
    given = schemes_log.unpack(record, PARAMS)
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
        found = schemes_followed.followed(PARAMS, given)
    except ValueError:
        return
    same = found["equal"] & (found["nr_tried0"] == found["kernel_nr_tried0"])
    assert not (same.all() and found["reported"].any())


@pytest.mark.parametrize("params", RECORDED, ids=lambda p: str(p.model_dump(exclude_defaults=True)))
def test_the_model_follows_the_recorded_schemes_region_for_region(params):
    record = records.load(schemes_log.NAME, params)
    found = schemes_followed.compared(params, record)
    assert found["compared"].iloc[0] > 100
    assert found["agrees"].all()

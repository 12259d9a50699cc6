"""Schemes on a kernel: the road in and out, the model on an oracle's log and on recorded runs."""

import numpy as np
import pytest
from damon_oracle import INITIAL_JIFFIES, PAGE, Kdamond, Scheme
from following import UINT_MAX, ULONG_MAX, World

from lorelab.damon import follow_schemes, kernel, kernel_schemes
from lorelab.damon.params import Schemes, Variant
from lorelab.errors import BadInput
from lorelab.lab import records
from lorelab.lab.records import Record

BARE = (0x10000000, 0x10004000)
SPACE = [(0x1000, 0x900000), BARE, (BARE[1], 0x18000000), (0x40000000, 0x40008000)]
RULES = "4K null null 25 300ms null pageout"
PARAMS = Schemes(schemes=RULES, max_regions=60, quota_mib=4, quota_ms=500)
RECORDED = records.recorded(follow_schemes.NAME, Schemes)


class Logged(Kdamond):
    """The oracle with a scheme, and the log that a guest would send of it."""

    def __init__(self, seed):
        world = World(seed)
        scheme = Scheme((PAGE, ULONG_MAX), (0, 5), (3, UINT_MAX), "pageout", reset_ms=500,
                        quota_sz=4 << 20, weights=(1, 1))  # fmt: skip
        attrs = (5_000, 100_000, 60_000_000, 10, 60)
        super().__init__([SPACE], attrs, world.below, world.young, [scheme])
        self.log = []
        self.start()

    def note(self, kind, x, y=0, n=0, age=0):
        self.log.append((x, y, 0, n, age, kind, self.now))

    def rand(self, low, high):
        drawn = super().rand(low, high)
        self.note(kernel.RAND, low, high, drawn - low)
        return drawn

    def filtered(self, t, r, s):
        # The tracepoint is behind the filters; the action comes next.
        self.note(kernel.TRIED, r.start, r.end, r.bp // 10_000, r.age)
        if not (r.start < BARE[1] and BARE[0] < r.end):
            s.stat["nr_applied"] += 1
            s.stat["sz_applied"] += r.sz
        return super().filtered(t, r, s)

    def split(self):
        for _, start, end, nr_accesses, age in self.aggregated:
            self.note(kernel.AGGREGATED, start, end, nr_accesses, age)
        super().split()

    def run(self, samples):
        young = self.young
        self.young = lambda address: self.checked(address, young(address))
        for _ in range(samples):
            self.one_sample()
        regions = np.array([[0x10000000, 0x800000], [0x10800000, 0x800000]], np.uint64)
        truth = np.array([[0, 2], [3_000_000_000, 3]], np.uint64)
        vmas, log = np.array(SPACE, np.uint64), np.array(self.log, kernel.EVENT)
        statistics = [scheme.stat for scheme in self.schemes]
        return kernel.Run(
            regions, vmas[:0], vmas, truth, 5_000_000_000, 1, 1, 1, statistics, log,
            {"refaults": 7}, np.array([BARE]),
        )  # fmt: skip

    def checked(self, address, accessed):
        self.note(kernel.CHECK, address, INITIAL_JIFFIES + self.now // 1000, accessed)
        return accessed


@pytest.fixture(scope="module")
def record():
    return follow_schemes.pack(PARAMS, Logged(seed=3).run(1_000))


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

"""The model follows logs of 7.3 region for region; a wrong log shows, and each rule of 6.12's."""

import numpy as np
import pytest

from lorelab.damon.agree import follow
from lorelab.damon.kernel import boot
from lorelab.damon.kernel import follow as log
from lorelab.damon.params import Masim, Variant
from lorelab.errors import RunFailed
from lorelab.lab import records
from lorelab.lab.records import Record
from tests.damon.logged import MAX_REGIONS
from tests.damon.logged_v7_3 import SAMPLES, Logged73
from tests.damon.oracle_v7_3 import Kdamond73

PARAMS = Masim(variant=Variant.V7_3, max_regions=MAX_REGIONS, tlb=264)
RECORDED = [
    (release, params)
    for release, params in records.others(log.NAME, Masim)
    if params.variant is Variant.V7_3
]


def named(value):
    return str(value.model_dump(exclude_defaults=True)) if isinstance(value, Masim) else value


@pytest.fixture(scope="module")
def logged():
    return Logged73(seed=3, last_nr_regions=4, rotation=7).run(1_010)


def test_a_log_leads_the_model_to_the_same_regions_and_addresses(logged):
    given = log.of(logged)
    assert (given.last_nr_regions, given.rotation) == (4, 7)
    found = follow.followed(PARAMS, given).windows
    assert len(found) == 50
    assert found["equal"].all() and found["drawn"].all()
    assert found["splits"].iloc[-1] > 100 and found["merges"].iloc[-1] > 100


def test_a_record_says_all_that_its_log_says_but_for_the_addresses(logged):
    given, table = log.of(logged), log.pack(PARAMS, logged)
    again = log.unpack(table, PARAMS)
    assert again.mappings == given.mappings and again.drawn == given.drawn
    assert (again.last_nr_regions, again.rotation) == (4, 7)
    assert (again.rnd_state == given.rnd_state).all() and again.rnd_state.dtype == np.uint32
    assert (again.checks == given.checks).all()
    for mine, kernels in zip(again.windows, given.windows, strict=True):
        assert (mine == kernels).all()
    told = follow.agree(PARAMS, Record(table, None))
    assert told.verdict == "passed" and told.table["equal"].tolist() == [50, 50]


@pytest.mark.parametrize("what", ["check", "address", "state", "rotation", "count", "region"])
def test_one_wrong_bit_shows(logged, what):
    given = log.unpack(log.pack(PARAMS, logged), PARAMS)
    if what == "check":
        given.checks[np.flatnonzero(given.checks)[0]] ^= 1
    elif what == "address":
        given.drawn[30] ^= 1
    elif what == "state":
        given.rnd_state[2] ^= 1 << 9
    elif what == "rotation":
        given = given._replace(rotation=given.rotation + 1)
    elif what == "count":
        # What is cut in three if the last count was the same.
        given = given._replace(last_nr_regions=len(given.windows[0]))
    else:
        given.windows[20]["age"][0] += 1
    try:
        found = follow.followed(PARAMS, given).windows
    except ValueError:
        return
    assert not (found["equal"].all() and found["drawn"].all())


def test_an_address_that_was_not_drawn_shows(logged):
    at = int(np.flatnonzero(logged.log["kind"] == boot.CHECK)[1234])
    entries = logged.log.copy()
    entries["x"][at] += 4096
    found = follow.followed(PARAMS, log.of(logged._replace(log=entries))).windows
    assert found["equal"].all() and (~found["drawn"]).sum() == 1


def test_a_check_too_few_is_refused(logged):
    given = log.of(logged)
    with pytest.raises(ValueError, match="more than were logged"):
        follow.followed(PARAMS, given._replace(checks=given.checks[:-1]))
    entries = np.delete(logged.log, np.flatnonzero(logged.log["kind"] == boot.CHECK)[55])
    with pytest.raises(RunFailed, match=rf"window 1: \d+ checks in {SAMPLES} samples"):
        log.pack(PARAMS, logged._replace(log=entries))


def test_hundreds_of_windows_are_recorded():
    tables = [records.load(log.NAME, p, release=r).counters for r, p in RECORDED]
    assert sum(table["window"].gt(0).sum() for table in tables) > 600
    assert len(RECORDED) >= 8


@pytest.mark.parametrize(("release", "params"), RECORDED, ids=named)
def test_the_model_follows_the_recorded_kernel_region_for_region(release, params):
    record = records.load(log.NAME, params, release=release)
    kernel = record.provenance.kernel
    assert release.startswith("7.3.4") and kernel.package_version.startswith("7.3.4-")
    found = follow.followed(params, log.unpack(record.counters, params)).windows
    assert len(found) > 0 and found["equal"].all() and found["drawn"].all()


class Age612(Kdamond73):
    def restarts(self, r, thres):
        return abs(r.nr_accesses - r.last) > thres


class Split612(Kdamond73):
    """None above half of the bound, and the last count kept where some were split only."""

    def split(self):
        if len(self.all()) <= self.max // 2:
            super().split()


class First612(Kdamond73):
    """Equal pieces of each range."""

    def start(self):
        super().start()
        for t, mappings in enumerate(self.mappings):
            ranges = self.three_regions(mappings)
            piece = max(sum(end - start for start, end in ranges) // self.min, 4096)
            each = [self.evenly(start, end, (end - start) // piece) for start, end in ranges]
            self.targets[t] = [r for regions in each for r in regions]


class Limit612(Kdamond73):
    """Not rounded up to whole pages."""

    def apply_min(self):
        super().apply_min()
        self.sz_limit = self.limit()


def followed_by(kdamond, params, given):
    """Windows that `kdamond` reports as the kernel did, up to the first other one."""
    attrs = (params.sample_us, params.aggr_us, params.looks_us)
    checks = iter(given.checks.tolist())
    static = {"last_nr_regions": given.last_nr_regions, "rotation": given.rotation}
    one = kdamond(
        [given.mappings],
        (*attrs, params.min_regions, params.max_regions),
        given.rnd_state.tolist(),
        lambda address: next(checks),
        static,
    )
    one.start()
    for n, kernels in enumerate(given.windows):
        while not one.one_sample():
            pass
        if one.aggregated != kernels.tolist():
            return n
    return len(given.windows)


@pytest.mark.parametrize("rule", [Age612, Split612, First612, Limit612])
def test_with_one_rule_of_6_12_the_records_are_not_followed(rule):
    """By another hand's kdamond, which follows them with all rules of 7.3."""
    left = 0
    for release, params in RECORDED:
        given = log.unpack(records.load(log.NAME, params, release=release).counters, params)
        windows = len(given.windows)
        assert followed_by(Kdamond73, params, given) == windows
        left += followed_by(rule, params, given) < windows
    assert left > 0

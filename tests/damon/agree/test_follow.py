"""The model follows a log region for region, and a wrong one shows."""

import numpy as np
import pytest

from lorelab.damon.agree import follow
from lorelab.damon.kernel import follow as log
from lorelab.damon.params import Masim
from lorelab.lab import records
from tests.damon.logged import MAX_REGIONS, Logged

RECORDED = records.recorded(log.NAME, Masim)


PARAMS = Masim(max_regions=MAX_REGIONS)


def test_a_log_leads_the_model_to_the_same_regions(logged):
    given = log.of(logged)
    found = follow.followed(PARAMS, given)
    assert len(found.windows) == 50
    assert found.windows["equal"].all()
    assert found.windows["splits"].iloc[-1] > 100 and found.windows["merges"].iloc[-1] > 100
    assert follow.sampled(PARAMS, logged, given) == (1_000, 1_000)


@pytest.mark.parametrize("what", ["check", "split", "region"])
def test_one_wrong_bit_shows(logged, what):
    given = log.unpack(log.pack(PARAMS, logged), PARAMS)
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
    given = log.of(logged)
    with pytest.raises(ValueError, match="more than were logged"):
        follow.followed(PARAMS, given._replace(checks=given.checks[:-1]))


def test_hundreds_of_windows_are_recorded():
    windows = sum(
        records.load(log.NAME, params).counters["window"].gt(0).sum() for params in RECORDED
    )
    assert windows > 900 and len(RECORDED) >= 5


@pytest.mark.parametrize("params", RECORDED, ids=lambda p: str(p.model_dump(exclude_defaults=True)))
def test_the_model_follows_the_recorded_kernel_region_for_region(params):
    record = records.load(log.NAME, params)
    assert record.provenance.kernel.patches
    given = log.unpack(record.counters, params)
    found = follow.followed(params, given)
    assert len(found.windows) == len(given.windows) > 0
    assert found.windows["equal"].all()


def test_a_context_begins_with_what_the_last_one_left(logged):
    """last_nr_regions is one for the whole kernel: it decides between two pieces and three."""
    first = len(log.of(logged).windows[0])
    given = log.of(Logged(seed=3, last_nr_regions=first).run(200), first)
    found = follow.followed(PARAMS, given)
    assert found.windows["equal"].all()
    assert found.windows["splits"][0] > first
    forgotten = follow.followed(PARAMS, given._replace(last_nr_regions=0))
    assert not forgotten.windows["equal"].all()
    assert log.left(PARAMS.max_regions, given) == len(given.windows[-1])

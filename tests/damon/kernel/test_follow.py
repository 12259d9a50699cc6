"""The records of `damon/follow`."""

import pytest

from lorelab.damon.agree import follow
from lorelab.damon.kernel import boot
from lorelab.damon.kernel import follow as log
from lorelab.damon.pages import kernel_views as record_views
from lorelab.damon.params import Masim
from lorelab.lab.run import Measured
from tests.damon.logged import MAX_REGIONS

PARAMS = Masim(max_regions=MAX_REGIONS)


def test_a_record_says_what_its_log_says_but_for_the_pages_sampled(logged):
    given = log.of(logged)
    again = log.unpack(log.pack(PARAMS, logged), PARAMS)
    assert again.mappings == given.mappings
    assert len(again.numbers) == len(given.numbers)
    assert (again.checks == given.checks).all()
    for mine, kernels in zip(again.windows, given.windows, strict=True):
        assert (mine == kernels).all()
    assert follow.followed(PARAMS, again).windows["equal"].all()
    table = log.pack(PARAMS, logged)
    assert record_views.accesses(table)[["begin", "end"]].to_numpy().tolist() == [[0, 3], [3, 5]]
    checks = int((logged.log["kind"] == boot.CHECK).sum())
    took = (5 * 10**9 - 1) / 131_072, 1 / checks, 5 * 10**6
    assert record_views.took(table)[:3] == pytest.approx(took, abs=0.06)
    said = record_views.reports(table)
    assert len(said) == sum(map(len, given.windows))
    assert said["end"].iloc[-1] == 5.0


@pytest.mark.parametrize("small", [None, 0, 1])
def test_a_run_begins_with_what_those_before_it_left(logged, monkeypatch, small):
    """Of one whose regions never were few enough to be split, what the run before it left stays."""
    monkeypatch.setattr(log.boot, "read", lambda rows, number: rows[number])
    few = PARAMS.model_copy(update={"max_regions": 3})
    batch = [few if number == small else PARAMS for number in range(3)]
    measured = Measured([logged] * 3, {}, [], [], log.measure.request(batch))
    regions = log.left(MAX_REGIONS, log.of(logged))
    left = {None: [0, 1, 1, 1], 0: [0, 0, 1, 1], 1: [0, 1, 1, 1]}[small]
    assert regions > 1
    assert [log.left_before(measured, run) for run in range(4)] == [regions * n for n in left]

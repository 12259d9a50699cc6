"""One boot of the patched kernel: each walk of two policies is the model's."""

import pytest

from lorelab.fairzone.agree.followed import agree
from lorelab.fairzone.kernel import followed
from lorelab.fairzone.params import Followed
from lorelab.lab.run import Lab

RUNS = [Followed(mode="v1", log_mib=2), Followed(mode="baseline", log_mib=2)]


@pytest.fixture(scope="module")
def live(patched):
    patched("fairzone")
    return followed.measure(RUNS, Lab())


@pytest.mark.parametrize("run", range(len(RUNS)), ids=[params.mode for params in RUNS])
def test_a_live_kernel_is_followed_walk_for_walk(live, run):
    found = agree(RUNS[run], live[run])
    assert found.verdict == "passed", found.judged
    assert live[run].counters["count"].sum() > 2 * 256


def test_v1_resets_seldom(live):
    resets = [
        record.counters.loc[record.counters["flags"] & 2 > 0, "count"].sum() for record in live
    ]
    assert 10 * resets[0] < resets[1]

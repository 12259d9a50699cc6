"""A program watched by each variant."""

import pytest

from lorelab.damon.experiments import masim
from lorelab.damon.params import Masim, Speeds
from lorelab.params import parse
from tests.damon.running import run, wide

FREE = Speeds(check_ns=0)


def test_a_scan_of_all_pages_sees_the_truth(small):
    seen = wide(masim.simulate(parse(Masim, {"workload": small, "variant": "page-scan"}), FREE))
    whole = seen.index[seen["end"] != seen["end"].iloc[9]]
    assert (seen["rate_error"].loc[whole[:-1]] < 1e-9).all()
    assert (seen["wss"] == seen["true_wss"]).all()


def test_damon_finds_the_working_set_with_far_fewer_checks(small):
    seen = run("damon/masim", workload=small)
    scan = wide(masim.simulate(parse(Masim, {"workload": small, "variant": "page-scan"}), FREE))
    assert seen["wss"].median() == pytest.approx(scan["wss"].median(), rel=0.1)
    assert seen["checks"].sum() < scan["checks"].sum() / 50
    assert seen["nr_regions"].max() <= 1000


def test_a_tlb_that_holds_all_hides_all(small):
    seen = run("damon/masim", workload=small, tlb=4096)
    assert seen["wss"].iloc[3:9].max() == 0
    flushed = run("damon/masim", workload=small, tlb=4096, switch_us=4000)
    assert flushed["wss"].iloc[3:9].min() > 0

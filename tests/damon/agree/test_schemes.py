"""Totals of schemes, of model and kernel."""

import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.damon.agree import schemes as agree_schemes
from lorelab.damon.experiments import schemes
from lorelab.damon.params import Schemes, Speeds
from lorelab.errors import BadInput


def test_totals_of_schemes_agree_within_five_per_cent_and_no_further(file, as_kernel):
    rules = "4K null null 0 200ms null pageout"
    params = Schemes(workload=file, schemes=rules, runs=6)
    machine = Speeds(access_ns=50, check_ns=9_000, cpus=1)
    said = schemes.simulate(params, machine)
    took = {"access": 50.4, "check": 9_000.2, "sleep": 5_010, "page": 5_000, "collapse": 0}
    took["lead"] = 0
    speeds = {name: ("ns", [value] * 6) for name, value in took.items()}
    theirs = {name: ("pages", [3] * 6) for name in ("own", "splits")}
    said = pd.concat([said, table("damon/schemes", "damon", "model", speeds | theirs)])
    said = said[said["counter"] != "bloat"]
    told = agree_schemes.compared(params, as_kernel(said)).set_index("counter")
    assert told["agrees"].all() and told.loc["paged_out", "kernel"] > 500
    assert not {*took} & {*told.index}
    for share, agrees in ((1.04, True), (3, False)):
        more = said["value"].where(said["counter"] != "paged_out", said["value"] * share)
        found = agree_schemes.compared(params, as_kernel(said.assign(value=more))).set_index(
            "counter"
        )
        assert found.loc["paged_out", "agrees"] == agrees
    with pytest.raises(BadInput, match="measure again"):
        agree_schemes.compared(params, as_kernel(schemes.simulate(params, machine)))

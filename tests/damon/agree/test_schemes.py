"""Totals of schemes, of model and kernel."""

import pandas as pd
import pytest

from lorelab.counters import table
from lorelab.damon.agree import schemes as agree_schemes
from lorelab.damon.agree.runs import TICK_US
from lorelab.damon.experiments import accuracy, schemes, truth
from lorelab.damon.params import Accuracy, Schemes
from lorelab.errors import BadInput
from lorelab.lab.records import Record

SHORT = "a, 4000000\nb, 4000000\n\none\n400\na, 0, 4096, 1\n\ntwo\n400\nb, 0, 4096, 1\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return str(path)


def as_kernel(counters):
    return Record(counters.assign(source="kernel"), None)


@pytest.fixture(scope="module")
def runs(file):
    """Runs of the model, to be taken for a kernel's: parameters and counters."""
    params = Accuracy(workload=file, runs=6, seed=100, cpus=1, tick_us=TICK_US)
    each = [params.model_copy(update={"seed": 100 + n}) for n in range(6)]
    said = [truth.simulated(one) for one in each]
    found = [accuracy.model_figures(*pair) for pair in zip(each, said, strict=True)]
    counted = [accuracy.distributions(params, one) for one in said]
    counted = accuracy.distribution_counters(counted, params, "kernel")
    return params, pd.concat([accuracy.accuracy_counters(found, params, "kernel"), counted])


def test_totals_of_schemes_agree_within_five_per_cent_and_no_further(file):
    rules = "4K null null 0 200ms null pageout"
    params = Schemes(workload=file, schemes=rules, runs=2, access_ns=50, check_ns=9_000, cpus=1)
    said = schemes.simulate(params)
    took = {"access": 50.4, "check": 9_000.2, "sleep": 5_010, "page": 5_000, "collapse": 0}
    took["lead"] = 0
    speeds = {name: ("ns", [value] * 2) for name, value in took.items()}
    said = pd.concat([said, table("damon/schemes", "damon", "model", speeds)])
    plain = params.model_copy(update={"access_ns": 10, "check_ns": 1_650, "cpus": 2})
    told = agree_schemes.compared(plain, as_kernel(said)).set_index("counter")
    assert told["agrees"].all() and told.loc["paged_out", "mean"] > 500
    assert not {*took} & {*told.index}
    for share, agrees in ((1.04, True), (3, False)):
        more = said["value"].where(said["counter"] != "paged_out", said["value"] * share)
        found = agree_schemes.compared(plain, as_kernel(said.assign(value=more))).set_index(
            "counter"
        )
        assert found.loc["paged_out", "agrees"] == agrees
    with pytest.raises(BadInput, match="measure again"):
        agree_schemes.compared(plain, as_kernel(schemes.simulate(params)))

"""A short program, and runs of it that are taken for a kernel's."""

import pandas as pd
import pytest

from lorelab.damon.agree.runs import ON_ONE_CPU
from lorelab.damon.experiments import accuracy
from lorelab.damon.params import Accuracy
from lorelab.damon.params import runs as each_run
from lorelab.damon.workload import truth
from lorelab.damon.workload.accuracy import accuracy_counters, distribution_counters, distributions
from lorelab.lab.records import Record

SHORT = "a, 4000000\nb, 4000000\n\none\n400\na, 0, 4096, 1\n\ntwo\n400\nb, 0, 4096, 1\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Path of a program that touches one of two regions, then the other, 400 ms each."""
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return str(path)


@pytest.fixture(scope="session")
def as_kernel():
    """Take counters of the model for a kernel's."""
    return lambda counters: Record(counters.assign(source="kernel"), None)


@pytest.fixture(scope="module")
def runs(file):
    """Runs of the model, to be taken for a kernel's: parameters and counters."""
    params = Accuracy(workload=file, runs=6, seed=100)
    said = [truth.simulated(one, ON_ONE_CPU) for one in each_run(params)]
    found = [accuracy.model_figures(params, ON_ONE_CPU, one) for one in said]
    counted = [distributions(params, one) for one in said]
    counted = distribution_counters(counted, params, "kernel")
    return params, pd.concat([accuracy_counters(found, params, "kernel"), counted])

"""Programs of a second or two, what the model says, and runs that are taken for a kernel's."""

import pandas as pd
import pytest

from lorelab.damon.agree.accuracy import model_figures
from lorelab.damon.agree.runs import ON_ONE_CPU, simulated
from lorelab.damon.params import Accuracy, Masim
from lorelab.damon.params import runs as each_run
from lorelab.damon.workload.accuracy import accuracy_counters, distribution_counters, distributions
from lorelab.lab.records import Record
from tests.damon.logged import Logged
from tests.damon.running import SPEEDS

TWO_THEN_ONE = (
    "a, 4000000\nb, 2000000\n\nboth\n400\na, 0, 4096, 1\nb, 0, 4096, 1\n\nb\n400\nb, 0, 4096, 1\n"
)
SMALL = "a, 8388608\nb, 8388608\n\none\n1000\na, 0, 4096, 1\n\nother\n1000\nb, 0, 4096, 1\n"
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
    said = [simulated(one, ON_ONE_CPU) for one in each_run(params)]
    found = [model_figures(params, ON_ONE_CPU, one) for one in said]
    counted = [distributions(params, one) for one in said]
    counted = distribution_counters(counted, params, "kernel")
    return params, pd.concat([accuracy_counters(found, params, "kernel"), counted])


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Parameters of a program that touches two regions for 400 ms, then one of them."""
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(TWO_THEN_ONE)
    return Masim(workload=str(path))


@pytest.fixture(scope="module")
def said(short):
    """What the model says of it, at `SPEEDS`."""
    return simulated(short, SPEEDS)


@pytest.fixture
def small(tmp_path):
    """Path of a program of two regions of 8 MiB that touches one for a second, then the other."""
    file = tmp_path / "small.cfg"
    file.write_text(SMALL)
    return str(file)


@pytest.fixture(scope="module")
def logged():
    """The log of a kdamond of 1,010 samples."""
    return Logged(seed=3).run(1_010)

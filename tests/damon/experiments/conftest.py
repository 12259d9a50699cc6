"""Programs of a second or two, and what the model says of one."""

import pytest

from lorelab.damon.params import Masim
from lorelab.damon.workload import truth
from tests.damon.running import SPEEDS

SHORT = (
    "a, 4000000\nb, 2000000\n\nboth\n400\na, 0, 4096, 1\nb, 0, 4096, 1\n\nb\n400\nb, 0, 4096, 1\n"
)
SMALL = "a, 8388608\nb, 8388608\n\none\n1000\na, 0, 4096, 1\n\nother\n1000\nb, 0, 4096, 1\n"


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Parameters of a program that touches two regions for 400 ms, then one of them."""
    path = tmp_path_factory.mktemp("masim") / "short"
    path.write_text(SHORT)
    return Masim(workload=str(path))


@pytest.fixture(scope="module")
def said(short):
    """What the model says of it, at `SPEEDS`."""
    return truth.simulated(short, SPEEDS)


@pytest.fixture
def small(tmp_path):
    """Path of a program of two regions of 8 MiB that touches one for a second, then the other."""
    file = tmp_path / "small.cfg"
    file.write_text(SMALL)
    return str(file)

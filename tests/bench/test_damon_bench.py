"""The benchmark compares like with like: C, numba and plain Python report the same regions."""

import shutil

import numpy as np
import pytest

from bench.compare import same_rows
from bench.damon import implementations
from lorelab.errors import RunFailed

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


@needs_gcc
@pytest.mark.parametrize(
    ("least", "most", "rate"), [(10, 1000, 0.5), (10, 60, 0.05), (30, 30, 0.5), (5, 40, 0.98)]
)
def test_all_three_agree(least, most, rate):
    given = implementations.history(least, most, 12, rate, seed=1)
    expected, _, checks = implementations.run_python(given)
    assert len(expected) > 12 and expected["nr_accesses"].any()
    library = implementations.load_c()
    for found, _, made in (
        implementations.run_c(library, given),
        implementations.run_numba(given),
    ):
        assert found.tolist() == expected.tolist() and made == checks


def test_a_difference_ends_the_run():
    with pytest.raises(RunFailed, match="numba reports other regions than C"):
        same_rows("trace", "numba", np.array([1, 2]), np.array([1, 3]))

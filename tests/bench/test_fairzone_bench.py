"""The benchmark compares like with like: C, numba and plain Python take the same zones."""

import shutil

import numpy as np
import pytest

from bench.fairzone import implementations, tables
from lorelab.errors import RunFailed
from lorelab.fairzone.params import Variant

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


@needs_gcc
@pytest.mark.parametrize("variant", Variant)
def test_all_three_agree(monkeypatch, variant):
    monkeypatch.setattr(implementations, "MIB", 96)
    monkeypatch.setattr(implementations, "MIN_FREE_KIB", 2048)
    expected, counted = implementations.python(variant, 60_000)
    assert counted["slowpaths"] > 3
    assert len(set(expected.tolist())) > 1
    for other in (implementations.c, implementations.model):
        found, counts = other(variant, 60_000)
        assert found.tolist() == expected.tolist()
        assert counts == counted


def test_a_difference_ends_the_run():
    with pytest.raises(RunFailed, match="other zones"):
        tables._same("numba", (np.array([1]), {}), (np.array([2]), {}))

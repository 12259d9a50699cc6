"""The benchmark compares like with like: C, numba and plain Python take the same zones."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from bench.fairzone import implementations, tables
from lorelab.errors import RunFailed
from lorelab.fairzone.model import zones
from lorelab.fairzone.params import Variant

WALK = Path(implementations.__file__).with_name("walk.c")

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
        assert np.flatnonzero(found != expected)[:9].tolist() == []
        assert counts == counted


@pytest.mark.parametrize(
    ("struct", "names"),
    [("zone", zones.ZONE.names), ("info", zones.INFO.names), ("count", zones.COUNTS)],
)
def test_the_c_has_the_records_of_the_model(struct, names):
    (fields,) = re.findall(rf"struct {struct} {{\s+u?int64_t ([^;]+);\s+}};", WALK.read_text())
    assert tuple(re.split(r",\s+", fields)) == names


def test_a_difference_ends_the_run():
    with pytest.raises(RunFailed, match="other zones"):
        tables._same("numba", (np.array([1]), {}), (np.array([2]), {}))

"""The yardstick in C counts what the model of traffic counts, whatever a variant does."""

import ctypes

import numpy as np
import pytest

from bench import compiled
from bench.gso import tables
from lorelab.gso.experiments.traffic import setting
from lorelab.gso.model import traffic
from lorelab.gso.params import Traffic, Variant

SENDS = 50


def in_c(chosen):
    library = compiled.load("gso/traffic_6_12.c")
    counted = np.zeros(1, traffic.COUNTED)
    where = [array.ctypes.data_as(ctypes.c_void_p) for array in (chosen, counted)]
    library.run(where[0], ctypes.c_uint64(1), where[1])
    return counted


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("load", tables.LOADS)
def test_c_counts_what_the_model_counts(load, variant):
    chosen = setting(Traffic(variant=variant, sends=SENDS, **tables.LOADS[load]))
    counted = np.zeros(1, traffic.COUNTED)
    traffic.run(chosen, np.uint64(1), counted)
    assert dict(zip(counted.dtype.names, in_c(chosen)[0], strict=True)) == dict(
        zip(counted.dtype.names, counted[0], strict=True)
    )

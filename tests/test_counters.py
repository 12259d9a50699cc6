"""The table of a run: every value of every counter, in the order given, under its step."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.counters import COLUMNS, table

values = st.one_of(
    *(st.lists(of, min_size=1, max_size=4) for of in (st.integers(0, 2**40), st.floats(0, 1))),
    st.lists(st.integers(0, 2**32 - 1), max_size=4).map(lambda each: np.array(each, np.uint32)),
)
counters = st.dictionaries(st.text(max_size=5), st.tuples(st.text(max_size=5), values), min_size=1)


@given(counters, st.integers(0, 1))
def test_a_row_a_value(given, first):
    laid = table("one/two", "plain", "model", given, first)
    rows = [
        ("one", "two", "plain", "model", first + at, counter, unit, value)
        for counter, (unit, each) in given.items()
        for at, value in enumerate(each)
    ]
    assert [*laid.itertuples(index=False, name=None)] == rows
    assert [*laid.columns] == COLUMNS and laid.index.equals(pd.RangeIndex(len(rows)))


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        ([[1, 2], [3]], "i"),
        ([[1, 2], [0.5]], "f"),
        ([np.array([1], np.uint64), [2]], "f"),
        ([[1], []], "f"),
    ],
)
def test_a_column_has_one_type(of, kind):
    laid = table("one/two", "", "kernel", {str(n): ("", each) for n, each in enumerate(of)})
    assert laid["value"].dtype.kind == kind
    texts = laid.drop(columns=["step", "value"])
    assert all(pd.api.types.is_string_dtype(kind) for kind in texts.dtypes)

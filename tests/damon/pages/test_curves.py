"""The curves of the answers are drawn from all that they are given."""

import pandas as pd

from lorelab.damon.pages import curves


def data(chart):
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_the_tlb_has_a_line_for_each_switch_and_its_reach():
    stale = pd.DataFrame({"never": [0.0, 20.0], "4 ms": [20.0, 20.0]}, index=[1, 16])
    found = data(curves.tlb(stale))
    assert {"mib": curves.NOMINAL} in found
    assert {"mib": 1, "switch": "never", "count": 0.0} in found
    assert len(found) == 5


def test_ages_have_formula_and_model():
    exact = pd.DataFrame({"mean age": [4.6]}, index=[0.1])
    seen = pd.DataFrame({"mean age": [3.1]}, index=[0.1])
    assert [row["age"] for row in data(curves.ages(exact, seen))] == [4.6, 3.1]


def test_searches_have_a_line_for_each_column():
    sides = pd.MultiIndex.from_product([["damon", "split-2"], ["model", "chain"]])
    found = pd.DataFrame([[30, 27, 166, 120]], index=[256], columns=sides)
    assert [(row["who"], row["by"], row["windows"]) for row in data(curves.searches(found))] == [
        ("damon", "model", 30),
        ("damon", "chain", 27),
        ("split-2", "model", 166),
        ("split-2", "chain", 120),
    ]


def test_periods_have_band_median_and_formula():
    fast = pd.DataFrame({0.1: [3.0], 0.5: [10.2], 0.9: [18.0], "expected": [10.5]}, index=[100])
    found = data(curves.periods(fast))
    assert {"ms": 100, "0.1": 3.0, "0.5": 10.2, "0.9": 18.0, "expected": 10.5} in found
    assert {"ms": 100, "side": "formula", "count": 10.5} in found

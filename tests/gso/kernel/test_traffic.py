"""Wrong segments among those that overtake: between the model's number and all that left."""

import pytest

from lorelab.agreement import Verdict
from lorelab.experiments import experiment
from lorelab.gso.agree.traffic import agree
from lorelab.gso.params import Traffic

ASKED = experiment("gso/traffic")


def changed(params, **values):
    """The recorded run with other counters, which begin as the model's."""
    record = ASKED.recorded(params)
    table = ASKED.simulate(params)
    for name, value in values.items():
        table.loc[table["counter"] == name, "value"] = value
    return agree(params, record._replace(counters=table))


LATE = Traffic(variant="head-only", held=True, loss=5, reorder=10)
"""1,385 of 1,517 segments are wrong in the model."""


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [(1385, "passed"), (1386, "passed"), (1384, "failed"), (1600, "failed")],
)
def test_the_model_has_the_least(wrong, verdict):
    assert changed(LATE, wrong=wrong).verdict == Verdict(verdict)


def test_other_counters_have_to_be_equal_there_too():
    found = changed(LATE, wrong=1390, completions=39)
    assert found.verdict == Verdict.FAILED
    agrees = found.table.set_index("counter")["agrees"]
    assert agrees["wrong"] and not agrees["completions"]


def test_bounds_that_are_far_apart_decide_nothing():
    few = Traffic(variant="last-segment", held=True, loss=5, reorder=10)
    assert changed(few).verdict == Verdict.PASSED
    assert changed(few, wrong=102).verdict == Verdict.UNDECIDED


def test_without_overtaking_every_wrong_segment_is_the_model_s():
    held = Traffic(variant="head-only", held=True)
    assert changed(held).verdict == Verdict.PASSED
    wrong = int(ASKED.simulate(held).set_index("counter")["value"]["wrong"])
    assert changed(held, wrong=wrong - 1).verdict == Verdict.FAILED


def test_none_may_be_wrong_of_a_design_that_keeps_its_pages():
    safe = Traffic(held=True, loss=5, reorder=10)
    assert changed(safe).verdict == Verdict.PASSED
    assert changed(safe, wrong=1).verdict == Verdict.FAILED

"""Runs of instructions measured again, against the record."""

import pytest

from lorelab.experiments import experiment
from lorelab.gso.params import Breakeven, VhostCost
from lorelab.judging.agreement import AgreementVerdict


@pytest.mark.parametrize(
    ("name", "params"), [("breakeven", Breakeven(length=64_400)), ("vhost-cost", VhostCost())]
)
def test_a_record_agrees_with_itself_and_not_with_a_tenth_more(name, params):
    question = experiment(f"gso/{name}")
    record = question.recorded(params)
    counters = record.counters.astype({"value": float})
    counters.loc[counters["counter"] == "instructions", "value"] *= 1.1
    more = record._replace(counters=counters)
    agree = question.agree_with_record
    assert agree(params, record, record).verdict == AgreementVerdict.PASSED
    assert agree(params, record, more).verdict == AgreementVerdict.FAILED

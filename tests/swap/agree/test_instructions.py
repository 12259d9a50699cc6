"""swap/instructions: a run measured anew against the record."""

import pytest

from lorelab.experiments import experiment
from lorelab.judging.agreement import AgreementVerdict
from lorelab.swap.agree import instructions
from lorelab.swap.params import Instructions

FOUND = experiment("swap/instructions")


def test_a_record_is_as_it_was_and_another_cost_is_noticed():
    record = FOUND.recorded(Instructions())
    assert (
        FOUND.agree_with_record(Instructions(), record, record).verdict == AgreementVerdict.PASSED
    )
    counters = record.counters
    dearer = counters.assign(value=counters["value"] * (1 + (counters["counter"] == "swapout")))
    held = FOUND.agree_with_record(Instructions(), record, record._replace(counters=dearer))
    assert held.verdict == AgreementVerdict.FAILED
    assert held.table.set_index("counter")["agrees"].to_dict() == {"swapout": False, "swapin": True}


def test_more_instructions_are_told_in_per_cent():
    counters = FOUND.recorded(Instructions()).counters
    dearer = counters.assign(value=counters["value"] * 1.1)
    found = instructions.more(counters, dearer)
    assert list(found.index) == ["swapout", "swapin"]
    assert (found["estimate"] - 10).abs().max() < 0.5
    assert (found["low"] <= found["estimate"]).all() and (found["estimate"] <= found["high"]).all()


def test_each_counter_has_its_own_share():
    counters = FOUND.recorded(Instructions()).counters
    swapout = counters["counter"] == "swapout"
    dearer = counters.assign(value=counters["value"].where(~swapout, 1.5 * counters["value"]))
    found = instructions.more(counters, dearer)["estimate"]
    assert found["swapout"] - 50 == pytest.approx(0, abs=0.5)
    assert found["swapin"] == pytest.approx(0, abs=0.5)

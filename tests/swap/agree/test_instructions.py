"""swap/instructions: a run measured anew against the record."""

from lorelab.agreement import Verdict
from lorelab.experiments import experiment
from lorelab.swap.params import Instructions

FOUND = experiment("swap/instructions")


def test_a_record_is_as_it_was_and_another_cost_is_noticed():
    record = FOUND.recorded(Instructions())
    assert FOUND.again(record, record).verdict == Verdict.PASSED
    counters = record.counters
    dearer = counters.assign(value=counters["value"] * (1 + (counters["counter"] == "swapout")))
    held = FOUND.again(record, record._replace(counters=dearer))
    assert held.verdict == Verdict.FAILED
    assert held.table.set_index("counter")["agrees"].to_dict() == {"swapout": False, "swapin": True}

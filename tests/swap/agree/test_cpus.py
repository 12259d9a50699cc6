"""swap/cpus: the model, which moves as often as the kernel did, in the range of its repeats."""

import pytest

from lorelab.experiments import experiment
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.swap.params import Cpus
from lorelab.swap.workload.cpus import REPEATS

FOUND = experiment("swap/cpus")
RECORDED = records.recorded(FOUND.name, Cpus)


@pytest.mark.parametrize("params", RECORDED, ids=str)
def test_the_model_is_in_the_range_of_the_repeats(params):
    record = FOUND.recorded(params)
    assert set(record.counters["step"]) == set(range(1, 1 + REPEATS))
    held = FOUND.agree(params, record)
    assert held.table["agrees"].all()
    assert held.verdict != AgreementVerdict.FAILED
    # The model's task moves as often as the kernel's, so that the moves are no agreement.
    assert held.table.set_index("counter").loc["migrations", "verdict"] == "input"
    assert len(held.judged) == len(held.table) - 1 and "migrations" in held.method


def test_how_often_a_task_moves_is_not_judged():
    params = RECORDED[0]
    record = FOUND.recorded(params)
    counters = record.counters
    moved = counters["value"].where(counters["counter"] != "migrations", 5)
    held = FOUND.agree_with_record(
        params, record, record._replace(counters=counters.assign(value=moved))
    )
    assert held.verdict == AgreementVerdict.PASSED
    aside = held.table[held.table["verdict"] == "timing"]
    assert aside["counter"].tolist() == ["migrations"]

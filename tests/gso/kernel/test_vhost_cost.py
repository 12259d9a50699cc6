"""What a guest's packets cost: a record against itself, and what lending has to save."""

from lorelab.experiments import experiment
from lorelab.gso.agree.vhost_cost import agree_with_record
from lorelab.gso.pages import views
from lorelab.gso.params import VhostCost
from lorelab.judging.agreement import AgreementVerdict


def test_a_record_agrees_with_itself_and_not_with_a_tenth_more():
    params = VhostCost()
    record = experiment("gso/vhost-cost").recorded(params)
    assert agree_with_record(params, record, record).verdict == AgreementVerdict.PASSED
    more = record.counters.astype({"value": float})
    more.loc[more["counter"] == "instructions", "value"] *= 1.1
    assert (
        agree_with_record(params, record, record._replace(counters=more)).verdict
        == AgreementVerdict.FAILED
    )


def test_lending_saves_the_more_the_larger_the_packet():
    table = views.vhost_instructions()
    assert table.notna().all(axis=None)
    # A copied byte is an instruction.
    assert (table["copied"] > 1).all()
    assert (table["lent"] < table["copied"]).all()
    assert list(table.index) == [1408, 5600, 28_000, 56_000]
    assert table["saved"].is_monotonic_increasing

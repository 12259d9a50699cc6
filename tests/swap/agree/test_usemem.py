"""swap/usemem: the model in the range of the recorded repeats, and a wrong one not."""

import numpy as np
import pytest

from lorelab.experiments import experiment
from lorelab.judging import agreement, rows
from lorelab.judging.agreement import AgreementVerdict
from lorelab.lab import records
from lorelab.params import parse
from lorelab.swap.agree import usemem
from lorelab.swap.agree.usemem import TIMING
from lorelab.swap.kernel.usemem import IN_THE_GUEST, REPEATS
from lorelab.swap.params import Usemem

FOUND = experiment("swap/usemem")
REPEATED = records.recorded(FOUND.name, Usemem)


@pytest.mark.parametrize("params", REPEATED, ids=str)
def test_a_repeated_record_has_the_model_in_its_range(params):
    record = FOUND.recorded(params)
    assert set(record.counters["step"]) == set(range(1, 1 + REPEATS))
    held = FOUND.agree(params, record)
    assert held.verdict != AgreementVerdict.FAILED
    compared = held.table
    assert set(compared["counter"]) >= {"invalidations", "flushes", "splits", "bios"}
    # Which entries are deferred depends on who meets whose pages; the model is one order of many.
    assert compared[compared["counter"] != "deferred"]["agrees"].all()
    assert set(compared[compared["verdict"] == "timing"]["counter"]) <= set(TIMING)
    if params.cpus == 1:
        assert (compared["verdict"] != "timing").all() and compared["agrees"].all()
        assert (compared["least"] == compared["most"]).all()
    written = compared[compared["counter"].isin(["slot_allocations", "bios"])]
    assert (written["least"] == written["most"]).all()


def test_timing_is_shown_and_a_wrong_model_is_still_found(monkeypatch):
    """Four CPUs and single pages: the share of deferred entries is the one that has a range."""
    params = parse(Usemem, {**IN_THE_GUEST, "folio_order": 0})
    record, model = FOUND.recorded(params), FOUND.simulate(params)
    compared = FOUND.agree(params, record).table
    assert compared[compared["verdict"] == "timing"]["counter"].tolist() == ["deferred"]
    assert compared[compared["verdict"] != "timing"]["agrees"].all()
    wrong = model.assign(value=model["value"] + (model["counter"] == "flushes"))
    monkeypatch.setattr(usemem, "simulate", lambda params: wrong)
    held = FOUND.agree(params, record)
    compared = held.table
    assert compared[compared["verdict"] == "failed"]["counter"].tolist() == ["flushes"]
    assert held.verdict == AgreementVerdict.FAILED


def test_a_record_again_passes():
    for params in REPEATED:
        record = FOUND.recorded(params)
        held = FOUND.agree_with_record(params, record, record)
        assert held.verdict != AgreementVerdict.FAILED
        assert held.table["agrees"].all()
        assert set(held.table.loc[held.table["verdict"] == "timing", "counter"]) <= set(TIMING)


def test_one_repeat_says_nothing_of_a_range():
    table = FOUND.simulate(Usemem(**IN_THE_GUEST))
    assert rows.intervals(table, table, "swapped")["agrees"].all()
    changed = table.assign(value=table["value"] + (table["counter"] == "flushes"))
    compared = rows.intervals(changed, table, "swapped")
    known = compared.set_index("counter")["detectable"] < np.inf
    assert not known["flushes"] and known.drop("flushes").all()
    assert agreement.by_interval(compared).verdict == AgreementVerdict.UNDECIDED

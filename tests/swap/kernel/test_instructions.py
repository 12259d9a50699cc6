"""swap/instructions: what was recorded of either kernel, and how boots are put together."""

import pytest

from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.judging import equivalence
from lorelab.lab import records
from lorelab.swap.kernel import instructions
from lorelab.swap.params import Instructions

FOUND = experiment("swap/instructions")
COUNTED = records.recorded(FOUND.name, Instructions)


def test_what_has_no_model_says_so():
    with pytest.raises(BadInput, match="swap/instructions has no model half"):
        FOUND.simulate(Instructions())


def test_switches_that_nobody_turned_can_not_be_measured():
    """Patched against unmodified: no cost, known to 0.15 %."""
    off = [params for params in COUNTED if not params.series]
    assert {params.folio_order for params in off} == {0, 4}
    for params in off:
        patched = params.model_copy(update={"series": True})
        records_ = [FOUND.recorded(p) for p in (params, patched)]
        assert all(record.provenance.boots == instructions.BOOTS for record in records_)
        for counter in ("swapout", "swapin"):
            plain, with_series = (
                r.counters.loc[r.counters["counter"] == counter, "value"].tolist() for r in records_
            )
            _, low, high = equivalence.ratio(plain, with_series)
            assert 0.9985 < low <= 1 <= high < 1.0015


def test_repeats_of_several_boots_follow_one_another():
    [params] = [p for p in COUNTED if p == Instructions()]
    record = FOUND.recorded(params)
    twice = instructions.pooled([record, record])
    repeats = record.counters["step"].max()
    assert twice.provenance.boots == 2
    for counter, found in twice.counters.groupby("counter", sort=False):
        values = record.counters.loc[record.counters["counter"] == counter, "value"].tolist()
        assert found["step"].tolist() == list(range(1, 2 * repeats + 1))
        assert found["value"].tolist() == 2 * values
    assert (twice.counters["counter"].unique() == record.counters["counter"].unique()).all()

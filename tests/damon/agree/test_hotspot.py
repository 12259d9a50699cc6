"""Waits of model and kernel."""

import pandas as pd
import pytest

from lorelab.damon.agree import hotspot as agree_hotspot
from lorelab.damon.agree.runs import guest_speeds
from lorelab.damon.params import ALONE, Hotspot
from lorelab.experiments import experiment
from lorelab.lab import records
from lorelab.lab.records import Record

HOTSPOT = experiment("damon/hotspot")


RECORDED = records.recorded("damon/hotspot", Hotspot)


def made(params, **changes):
    """A record with the counters of a model run, as a kernel would give them."""
    said = HOTSPOT.simulate(params)
    extra = {"access": 10, "check": 1650, "sleep": 5000, "wide": 0, "out_of_reach": 0}
    extra |= {"told": 5, "as_shared": 5, "as_own": 3} | changes
    rows = [said.iloc[:1].assign(counter=name, value=value) for name, value in extra.items()]
    return Record(pd.concat([said, *rows], ignore_index=True), None)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, set()),
        ({"as_shared": 4}, {"as_shared"}),
        ({"wide": 9, "out_of_reach": 1}, {"out_of_reach"}),
    ],
)
def test_a_wrong_kernel_shows(changes, wrong):
    params = Hotspot(hot_kib=4096, runs=10, windows=60)
    table = HOTSPOT.agree(params, made(params, **changes)).table
    assert set(table.loc[~table["agrees"], "counter"]) == wrong


def test_a_slower_kernel_shows():
    params = Hotspot(hot_kib=4096, runs=10, windows=60)
    record = made(params.model_copy(update={"hot_kib": 256}))
    table = HOTSPOT.agree(params, record).table.set_index("counter")
    assert not table.loc["wait", "agrees"] and table.loc["wait", "low"] > 1


@pytest.mark.parametrize("params", RECORDED, ids=lambda p: str(p.model_dump(exclude_defaults=True)))
def test_a_recorded_kernel_draws_and_cuts_as_its_source_says(params):
    record = HOTSPOT.recorded(params)
    assert record.provenance.kernel.patches
    total = record.counters.groupby("counter")["value"].sum()
    assert total["told"] == total["as_shared"] > 0
    assert (total["out_of_reach"] > 0) == (params.rand64 and total["wide"] > 0)
    like = guest_speeds(params, record.counters)
    assert like.tick_us and like.access_ns > ALONE.access_ns
    assert agree_hotspot.compared(params, record)["agrees"].all()

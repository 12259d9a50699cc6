"""`damon/hotspot`: what model and kernel count, and that a wrong kernel shows."""

import numpy as np
import pandas as pd
import pytest

from lorelab.damon import agree, hotspot, kernel_hotspot
from lorelab.damon.params import Hotspot
from lorelab.errors import BadInput
from lorelab.experiments import experiment
from lorelab.lab import records
from lorelab.lab.records import Record

HOTSPOT = experiment("damon/hotspot")
RECORDED = records.recorded("damon/hotspot", Hotspot)
FIRST, OTHER = 70, 71


def row(*windows, **changes):
    """What the guest says of a run; a window: kdamond, time, regions, cuttable, draws, held."""
    said = {"first": FIRST, "ns": 9_000, "worked": 1_000, "sleeps": 2, "checks": 10, "draws": 1}
    return {**said, "wide": [0, 0], "windows": [list(window) for window in windows], **changes}


def test_a_range_is_found_by_the_first_kdamond_alone():
    params = Hotspot(hot_kib=4, windows=9, own=True)
    half = 2048
    said = row(
        (FIRST, 1, 10, 8, 8, 0),
        (OTHER, 2, 11, 8, 8, 4096),
        (FIRST, 3, 12, 8, 16, half - 1),
        (FIRST, 5, 14, 8, 16, half),
        (FIRST, 7, 99, 8, 16, half),
    )
    assert kernel_hotspot.seen(params, said) == hotspot.Seen(3, 12.0, 0.5)
    never = kernel_hotspot.seen(params, row((FIRST, 1, 10, 8, 8, 0)))
    assert never.wait == 0
    counted = hotspot.counted(params, [kernel_hotspot.seen(params, said), never])
    assert counted["wait"][1] == [3, 10]
    assert counted["isolated"][1] == [0, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]


def test_windows_given_up_are_not_looked_at():
    params = Hotspot(hot_kib=4, windows=1, own=True)
    said = row((FIRST, 1, 10, 8, 8, 0), (FIRST, 2, 10, 8, 8, 4096))
    assert kernel_hotspot.seen(params, said).wait == 0


def test_a_cut_follows_from_the_last_count_of_all_or_of_its_own():
    # The other's cut comes between, of another number: two pieces where its own last says three.
    windows = [(FIRST, 1, 10, 8, 8, 0), (OTHER, 2, 11, 8, 8, 0), (FIRST, 3, 10, 8, 8, 0)]
    assert kernel_hotspot.cuts(row(*windows)) == (1, 1, 0)
    alone = [windows[0], (FIRST, 3, 10, 8, 16, 0)]
    assert kernel_hotspot.cuts(row(*alone)) == (1, 1, 1)
    assert kernel_hotspot.cuts(row(*reversed(windows))) == (1, 1, 0)


def test_speeds_are_of_what_is_left_of_the_time():
    assert kernel_hotspot.speeds(row()) == (8_000 / 131_072, 100, 4)


@pytest.mark.parametrize(
    "params",
    [
        Hotspot(),
        Hotspot(own=True, hot_kib=8 << 20, mib=1 << 20),
        Hotspot(own=True, variant="split-2"),
        Hotspot(own=True, hot_kib=1 << 20),
        Hotspot(own=True, check_ns=1),
    ],
)
def test_what_no_kernel_can_follow_is_bad_input(params):
    with pytest.raises(BadInput):
        kernel_hotspot.measured([params])


def test_two_kdamonds_cut_in_three_less_often_than_one():
    alone, two = (
        [
            hotspot.watched(Hotspot(hot_kib=64, windows=100, seed=n, kdamonds=k, own=True))
            for n in range(5)
        ]
        for k in (1, 2)
    )
    assert np.mean([run.in_three for run in two]) < 0.5 * np.mean([run.in_three for run in alone])


def test_a_hot_range_in_huge_pages_is_found_as_fast_as_page_by_page(monkeypatch):
    params = Hotspot(mib=4096, hot_kib=64 << 10, runs=20, windows=50)
    huge = HOTSPOT.simulate(params).query("counter == 'wait'")["value"]
    monkeypatch.setattr(hotspot, "HUGE_KIB", 1 << 30)
    small = HOTSPOT.simulate(params).query("counter == 'wait'")["value"]
    assert huge.median() == pytest.approx(small.median(), rel=0.5)


@pytest.mark.parametrize("hot", [1 << 29, 6 << 30])
def test_the_chance_with_a_truncated_offset_is_that_of_draws(hot):
    chance, region, runs = np.random.default_rng(1), 20 << 30, 4000
    at = chance.uniform(0, region - hot, runs)[:, None]
    drawn = chance.uniform(0, hotspot.REACH, runs)[:, None] * chance.uniform(0, 1, (runs, 20))
    hits = ((drawn >= at) & (drawn < at + hot)).sum(axis=1)
    expected = hotspot.truncated(hot, region, 20, always=True)
    assert (hits > 2).mean() == pytest.approx(expected, abs=0.02)
    assert hotspot.truncated(1 << 20, 1 << 30, 20, True) == hotspot.stand_out(
        1 << 20, 1 << 30, 20, True
    )


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
    table = HOTSPOT.weigh(params, made(params, **changes))
    assert set(table.loc[~table["agrees"], "counter"]) == wrong


def test_a_slower_kernel_shows():
    params = Hotspot(hot_kib=4096, runs=10, windows=60)
    record = made(params.model_copy(update={"hot_kib": 256}))
    table = HOTSPOT.weigh(params, record).set_index("counter")
    assert not table.loc["wait", "agrees"] and table.loc["wait", "low"] > 1


@pytest.mark.parametrize("params", RECORDED, ids=lambda p: str(p.model_dump(exclude_defaults=True)))
def test_a_recorded_kernel_draws_and_cuts_as_its_source_says(params):
    record = HOTSPOT.recorded(params)
    assert record.provenance.kernel.patches
    total = record.counters.groupby("counter")["value"].sum()
    assert total["told"] == total["as_shared"] > 0
    assert (total["out_of_reach"] > 0) == (params.rand64 and total["wide"] > 0)
    like = agree.alike(params, record.counters)
    assert like.tick_us and like.access_ns > params.access_ns
    assert agree.hotspot(params, record)["agrees"].all()

"""Two nodes on the kernel and in the model: each row from its own record and zones."""

import pandas as pd
import pytest

from lorelab.fairzone.model import nodes
from lorelab.fairzone.pages import beside
from lorelab.fairzone.pages.kernel_views import nodes as measured
from lorelab.fairzone.pages.kernel_views import recorded


def first():
    runs = recorded("fairzone/nodes")
    params, record = next(of for of in runs if of[0].disk_mb_s == 20 and of[0].cpu_node == 0)
    wide = record.counters.pivot_table(index="step", columns="counter", values="value")
    return params, wide.loc[1]


def test_the_zones_are_those_of_the_run():
    _, said = first()
    zones = beside.zones_of(said)
    assert zones["node"].tolist() == [0, 0, 1]
    assert zones["high"].tolist() == [309, 3962, 2923]
    assert zones["reserve"].tolist() == [187, 0, 0]
    assert zones["free"].sum() == said.filter(regex="^zone_.*_free$").sum()


def test_the_rule_alone_tells_the_two_models_apart():
    params, said = first()
    one = beside.play(params, said, every_zone=False, rate=5)
    every = beside.play(params, said, every_zone=True, rate=5)
    assert one["share"] > 30 and every["share"] < 5


def test_the_guest_calls_the_reader_s_node_0():
    """Its zones are the same two nodes' in another order; the highest of node 0 comes first."""
    for params, said in beside._read_once(1):
        names, zonelist = beside.LAYOUTS[1]
        zones = beside.zones_of(said, names)
        assert zones["node"].tolist() == [0, 1, 1]
        assert sorted(zonelist, key=lambda z: (zones["node"][z], -zones["free"][z])) == zonelist
        assert len(said.filter(like="_managed")) == 3
        assert 0 < beside.play(params, said, rate=5)["share"] < 56


def test_runs_are_those_after_memory_was_full(monkeypatch):
    params, said = first()
    monkeypatch.setattr(nodes, "read", lambda mm, *_: mm.kswapd["woken"].__iadd__(1))
    with pytest.warns(RuntimeWarning):  # no page is given, so there is no share
        found = beside.play(params, said)
    assert found["runs"] == 2 and found["by naps"] == 0


def test_the_kernels_rows_are_those_of_the_page(monkeypatch):
    monkeypatch.setattr(beside, "RATES", (5,))
    monkeypatch.setattr(beside, "SPREADS", (0,))
    table = beside.beside()
    kernel = table[table["source"] == beside.KERNEL].reset_index(drop=True)
    page = measured()
    for column in ("share", "by naps", "size"):
        pd.testing.assert_series_equal(
            kernel.sort_values(["MB/s", "share"])[column].round(1).reset_index(drop=True),
            page.sort_values(["MB/s", "share"])[column].reset_index(drop=True),
        )
    assert len(table) == 3 * len(kernel)
    assert set(beside.ends(table).index.get_level_values("source")) == set(table["source"])
    assert beside.common("zone_0_dma_managed", 20) == 3840


def test_a_pace_has_every_rule_every_spread_and_uneven_turns(monkeypatch):
    asked = []

    def play(params, _, every_zone, spread, rate, uneven):
        asked.append((params.disk_mb_s, every_zone, rate, spread, uneven))
        return pd.Series({"share": rate + 100 * every_zone, "runs": spread, "by naps": 0})

    monkeypatch.setattr(beside, "play", play)
    found = beside.paces()
    paces = [(disk, rate) for disk, rates in beside.PACES.items() for rate in rates]
    once = {
        (disk, every, rate, spread, True)
        for disk, rate in paces
        for every in (False, True)
        for spread in beside.SPREADS
    }
    assert set(asked) == once
    assert len(asked) == 3 * len(once), "three repeats"
    six, three = (f"model, {name}, pace 4" for name in beside.RULES)
    assert found.loc[132, six].tolist() == [4, 4, 0, 50]
    assert found.loc[132, three].tolist() == [104, 104, 0, 50]
    assert beside.PACES[20] == (4 * 132 / 20,), "the same kswapd"


def test_each_watermark_is_put_beside_either_disk_at_the_fitted_pace(monkeypatch):
    asked = []

    def play(params, said, every_zone, spread, rate, uneven):
        assert params.cpu_node == 1 and uneven and not every_zone
        asked.append((params.min_free_kib, params.disk_mb_s, rate, spread))
        return pd.Series({"share": params.disk_mb_s + spread, "runs": 0, "by naps": 7})

    monkeypatch.setattr(beside, "play", play)
    found = beside.crossed(1)
    disks = [(disk, pace) for disk, [pace] in beside.FITTED.items()]
    expected = {(k, *disk, s) for k in (2896, 19200) for disk in disks for s in beside.SPREADS}
    assert set(asked) == expected
    assert found.index.tolist() == [(k, disk) for k in (2896, 19200) for disk in (20, 132)]
    assert found["share"].loc[(2896, 20)].tolist() == [20, 70]
    assert (found["by naps"] == 7).all(axis=None)

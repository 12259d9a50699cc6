"""What pages show: each table against the records, read here in another way."""

import numpy as np
import pandas as pd
import pytest

from lorelab.experiments import experiment
from lorelab.gso.pages import views
from lorelab.lab import records
from lorelab.params import label, parse, to_cli


def kept(name):
    """Parameters and counters of every recorded run."""
    asked = experiment(name)
    for params in records.recorded(name, asked.Params):
        counted = asked.recorded(params).counters
        yield params, dict(zip(counted["counter"], counted["value"], strict=True))


def run_of(table, **where):
    """The one row of a table that has these values."""
    [(_, row)] = table[(table[list(where)] == list(where.values())).all(axis=1)].iterrows()
    return row


def test_streams():
    table = views.streams()
    assert list(table.columns) == ["clean", "loss", "reorder", "both", "complaints"]
    complaints = dict.fromkeys(table.index, 0)
    for params, value in kept("gso/tcp"):
        ways = {(0, 0): "clean", (1, 0): "loss", (0, 1): "reorder", (1, 1): "both"}
        way = ways[int(params.loss != 0), int(params.reorder != 0)]
        said = {0: "as sent", 1: "wrong bytes"}[min(value["corrupted"], 1)]
        assert table.loc[label(params.variant), way] == said
        complaints[label(params.variant)] += value["complaints"]
    assert table["complaints"].to_dict() == complaints


def test_what_senders_heard():
    table = views.told()
    columns = ["kernel", "run", "copied", "notifications", "told_copied", "told_wrong"]
    assert list(table.columns) == columns
    assert not table.duplicated(["kernel", "run"]).any()
    for params, value in kept("gso/told"):
        row = run_of(table, kernel="6.12.117", run=to_cli(params))
        assert row[columns[2:]].to_dict() == {name: value[name] for name in columns[2:]}


@pytest.mark.parametrize("name", ["gso/told", "gso/unread"])
def test_each_run_with_a_fix_stands_after_the_one_without(name):
    table = views.patched(name)
    assert list(table["patch"]) == ["without", "with"] * (len(table) // 2)
    without, with_it = (table[table["patch"] == one].reset_index() for one in ("without", "with"))
    assert (without[["kernel", "run"]] == with_it[["kernel", "run"]]).all(axis=None)
    for row in with_it.to_dict("records"):
        words = [word for word in row["run"].split(",") if word != "default"]
        params = parse(experiment(name).Params, dict(w.split("=") for w in words) | {"fixed": True})
        found = records.load(name, params, release=row["kernel"]).counters
        assert {c: row[c] for c in found["counter"]} == dict(
            zip(found["counter"], found["value"], strict=True)
        )


def test_what_kasan_says():
    table = views.broken()
    assert list(table[["tap", "variant"]].agg(tuple, axis=1)) == sorted(
        (params.tap, label(params.variant)) for params, _ in kept("gso/broken")
    )
    assert list(table.index) == list(range(len(table)))
    assert (table["model"] == table["kernel"]).all()
    [said] = table.loc[table["kernel"] == 1, "says"]
    assert said == "BUG: KASAN: slab-use-after-free in consume_skb"
    assert (table.loc[table["kernel"] == 0, "says"] == "").all()


def test_layouts():
    table = views.layouts()
    for params, value in kept("gso/layout"):
        row = run_of(table, kernel="6.12.117", struct=params.struct, pointer=params.pointer)
        shown = ["size", "aligned", "holes"]
        assert row[shown].to_dict() == {name: value[name] for name in shown}
        assert row["compared"] == row["same"] == len(value)
    assert (table["verdict"] == "passed").all()
    assert table["kernel"].is_monotonic_increasing
    assert len(table) == len(records.others("gso/layout", experiment("gso/layout").Params)) + len(
        list(kept("gso/layout"))
    )


def test_verdicts():
    table = views.verdicts("gso/broken", "gso/told")
    assert list(table.columns) == ["experiment", "run", "verdict", "compared", "same"]
    runs = [(name, p) for name in ("gso/broken", "gso/told") for p, _ in kept(name)]
    assert list(table["run"]) == [to_cli(params) for _, params in runs]
    assert list(table["experiment"]) == [name for name, _ in runs]
    assert set(table["verdict"]) == {"passed"}
    assert (table["compared"] == table["same"]).all()
    assert set(table.loc[table["experiment"] == "gso/broken", "compared"]) == {1}
    assert set(table.loc[table["experiment"] == "gso/told", "compared"]) == {5}


def test_what_nobody_read_is_in_no_table():
    """Over dummy0 there is no reader: ten counters are compared there, and no segment is right."""
    table = views.recorded("gso/traffic")
    for params, value in kept("gso/traffic"):
        row, read = run_of(table, run=to_cli(params)), params.held or params.received
        assert row["compared"] == row["same"] == len(value) == (11 if read else 10)
        assert pd.isna(row["wrong"]) == ("wrong" not in value) == (not read)
        assert read or row["sent"] == value["sent"]
    tally = views.tally(table).set_index("compared")
    assert tally["runs"].sum() == len(table)
    assert tally["same"].to_dict() == {11: 11, 10: 10}
    assert (views.newer("gso/traffic").set_index("run")["compared"] == 10).sum() == 4
    assert set(views.verdicts("gso/probed")["compared"]) == {26, 27}
    assert (views.wrong(0, 0)["source"] == "model").mean() == 0.5


def test_a_tally_of_runs():
    runs = pd.DataFrame({"compared": [10, 11, 11, 10], "same": [10, 11, 9, 10]})
    rows = views.tally(runs).itertuples(index=False, name=None)
    assert sorted(rows) == [(10, 10, 2), (11, 9, 1), (11, 11, 1)]


def test_the_kernel_s_own_tests():
    table = views.selftests()
    assert set(table["test"]) == {params.test for params, _ in kept("gso/selftest")}
    for params, value in kept("gso/selftest"):
        row = run_of(table, test=params.test)
        assert (row["run"], row["passed"]) == (value["run"], value["passed"])
        assert row["checks"] == value["checks"]
        assert row["kernel"] == "6.12.117"


def test_kernels_that_were_not_built_here():
    table = views.elsewhere("gso/vhost")
    assert list(table["kernel"].str.split(".").str[0]) == ["7"]
    assert (table["copied_bytes"] == 56_000).all()
    assert (table["told"] == 64).all()


@pytest.mark.parametrize(("view", "name"), [(views.instructions, "gso/breakeven")])
def test_instructions_of_a_send(view, name):
    table = view()
    assert table.index.is_monotonic_increasing
    asked = experiment(name)
    for params in records.recorded(name, asked.Params):
        if params.pointer == "none":
            by = asked.recorded(params).counters.set_index(["counter", "step"])["value"]
            way = label(params.variant) if params.zerocopy else "copy"
            each = by["instructions"] / by["sends"]
            assert table.loc[params.length, way] == pd.Series(each).median()


def test_copies_of_vhost():
    """A cell is the record of just these parameters, and there is one for each such record."""
    table, asked = views.vhost_copies(), experiment("gso/vhost")
    cells = table.melt(ignore_index=False).dropna()
    for (receiver, protocol, cpus), (zerocopy, copies) in zip(
        cells.index, cells.to_numpy(), strict=True
    ):
        params = asked.Params(
            unread=receiver == "an unread tap",
            protocol=protocol,
            cpus=cpus,
            zerocopy=zerocopy != "off",
            refcnt=zerocopy.endswith("flag"),
        )
        by = asked.recorded(params).counters.set_index("counter")["value"]
        assert copies == by["copies"]
    usual = {"sends": 64, "length": 56_000, "segment": 1400, "held": False}
    found = records.recorded("gso/vhost", asked.Params)
    assert len(cells) == sum(params.model_dump(include=set(usual)) == usual for params in found)


def test_instructions_of_vhost():
    table = views.vhost_instructions()
    assert list(table.columns) == ["off", "copied", "shared", "saved"]
    assert table.index.is_monotonic_increasing
    asked = experiment("gso/vhost-cost")
    for params in records.recorded("gso/vhost-cost", asked.Params):
        by = asked.recorded(params).counters.set_index(["counter", "step"])["value"]
        each = (by["instructions"] / by["sends"]).median() / params.length
        way = {(True, True): "shared", (False, True): "copied", (False, False): "off"}
        assert table.loc[params.length, way[params.refcnt, params.zerocopy]] == each
    spared = (table["off"] - table["shared"]) / table["off"]
    np.testing.assert_allclose(table["saved"], 100 * spared)


def test_the_shortest_ways_to_the_five_defects():
    table = views.defects()
    assert list(table.columns) == ["parent", "shared-count"]
    assert (table["parent"] > 0).all()
    assert (table["shared-count"] == 0).all()

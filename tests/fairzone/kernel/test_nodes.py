"""Recorded runs on two nodes: where a nap of kswapd decides, one node's pages stay longer."""

import importlib
import sys
import time
from types import SimpleNamespace

import pandas as pd

from lorelab.fairzone.kernel import nodes
from lorelab.fairzone.pages import kernel_views as views
from lorelab.fairzone.params import Nodes
from lorelab.lab import cache
from lorelab.lab.records import Record

RECORDED = views.recorded("fairzone/nodes")


def test_what_a_row_says():
    said = pd.Series(
        {
            "zone_0_dma_free": 100.0,
            "zone_0_dma32_free": 500.0,
            "zone_1_dma32_free": 400.0,
            "zone_0_dma_low": 5.0,
            "zone_0_dma_high": 10.0,
            "zone_0_dma32_low": 50.0,
            "zone_0_dma32_high": 75.0,
            "zone_1_dma32_low": 40.0,
            "zone_1_dma32_high": 60.0,
            "read_pages_of_node0": 900.0,
            "read_pages_of_node1": 300.0,
            "read_kswapd_high_wmark_hit_quickly": 3.0,
            "read_pageoutrun": 4.0,
        }
    )
    expected = {"a nap": 0.5, "size": 40.0, "share": 25.0, "residency": 2.0, "by naps": 75.0}
    assert views._nodes(said, 25) == expected


def test_the_guest_says_how_long_each_phase_took(monkeypatch):
    assert nodes._request([Nodes()]).job.workload == "nodes"
    clock, takes = iter([0, 2.5, 10, 10.25]), [{"phase": "write"}, {"phase": "read"}]
    stream = SimpleNamespace(act=lambda phase, program: None)

    def run(params):
        for number, phase in enumerate(takes):
            stream.act(phase, params)
            yield {"run": number, "changed": {"disk_read": 7}}
        yield {"run": number, "whole": {}}

    stream.run = run
    monkeypatch.syspath_prepend(str(cache.KERNEL_FILES / "fairzone" / "guest"))
    monkeypatch.setitem(sys.modules, "stream", stream)
    monkeypatch.delitem(sys.modules, "nodes", raising=False)
    guest = importlib.import_module("nodes")
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    rows = list(guest.run(None))
    del sys.modules["nodes"]
    assert [row.get("changed", {}).get("ms") for row in rows] == [2500, 250, None]


def test_the_inversion_is_there_where_the_nap_decides():
    table = views.nodes().query("mode == 'unpatched'")
    inside = table["a nap"].between(0.2, 0.65)
    assert inside.sum() >= 3 and (~inside).any()
    assert (table[inside]["residency"] > 1.3).all()
    # That a nap decides means that most runs of kswapd begin at the end of one.
    assert (table[inside]["by naps"] > 50).all()
    assert (table[~inside]["residency"] < 1.1).all() and (table[~inside]["by naps"] < 5).all()


def test_what_was_written_and_read(monkeypatch):
    params = Nodes(mode="v1", workload="write-read", mib=384, turnovers=1)
    pages = 384 * 256
    runs = {
        "zone_0_dma_free": [100, 100],
        "zone_0_dma32_free": [500, 500],
        "zone_1_dma32_free": [400, 400],
        "write_pages_of_node0": [800, 700],
        "write_pages_of_node1": [200, 300],
        "read_pages_of_node0": [500, 900],
        "read_pages_of_node1": [500, 100],
        "read_pageoutrun": [4, 4],
        "read_kswapd_high_wmark_hit_quickly": [1, 3],
        # The kernel reads ahead beyond the end of the data.
        "read_disk_read": [pages // 4, pages + 64],
    }
    counters = pd.DataFrame(
        [(step, name, each[step]) for name, each in runs.items() for step in (0, 1)],
        columns=["step", "counter", "value"],
    )
    record = Record(counters, None)
    read_once = params.model_copy(update={"workload": "read-once"})
    monkeypatch.setattr(views, "recorded", lambda name: [(read_once, record), (params, record)])
    [(mode, row)] = views.written_nodes().iterrows()
    assert mode == "v1" and row["size"] == 40
    found = {name: (row[f"{name}, min"], row[f"{name}, max"]) for name in ("hits", "write", "read")}
    assert found == {"hits": (0, 75), "write": (20, 30), "read": (10, 50)}
    assert (row["by naps, min"], row["by naps, max"]) == (25, 75)


def test_a_reader_on_node_1_is_in_no_table_of_one_on_node_0(monkeypatch):
    record = Record(pd.DataFrame(columns=["step", "counter", "value"]), None)
    runs = [
        (Nodes(workload=workload, cpu_node=1, mode=mode), record)
        for workload, mode in (("read-once", "unpatched"), ("write-read", "v1"))
    ]
    others = [of for of in RECORDED if of[0].cpu_node == 0]
    monkeypatch.setattr(views, "recorded", lambda name: others + runs)
    assert len(views.nodes()) == 6 and len(views.written_nodes()) == 4


def test_batches_over_both_nodes_remove_the_inversion_and_nothing_is_found():
    table = views.written_nodes()
    assert list(table.index) == ["off", "v1", "fixed", "all-nodes"]
    assert table.loc[["off", "v1"], "read, max"].max() < table["size"].min()
    assert table.loc["all-nodes", "read, min"] > table["size"].max()
    assert (table[["hits, min", "hits, max"]] == 0).all(axis=None)

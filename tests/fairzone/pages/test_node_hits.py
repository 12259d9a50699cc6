"""Written and read back on two nodes: every boot has a row, older ones too, and every run a dot."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pandas as pd
import pytest

from lorelab.fairzone.pages import node_hits
from lorelab.fairzone.params import Nodes
from lorelab.lab import records
from lorelab.lab.records import Record

DAY = datetime(2026, 1, 1, tzinfo=UTC)
PAGES = 2 * 384 * 256


def record(day: int, *read: int) -> Record:
    """A boot of a day, that read so many pages from the disk in each of its runs."""
    rows = [
        (step, name, value)
        for step, pages in enumerate(read, start=1)
        for name, value in {
            "read_disk_read": pages,
            "read_pageoutrun": 4,
            "read_kswapd_high_wmark_hit_quickly": 1,
            "zone_0_dma32_free": 300,
            "zone_1_dma32_free": 100,
            "write_pages_of_node0": 50,
            "write_pages_of_node1": 50,
            "read_pages_of_node0": 90,
            "read_pages_of_node1": 10,
        }.items()
    ]
    counters = pd.DataFrame(rows, columns=["step", "counter", "value"])
    return Record(counters, SimpleNamespace(date=DAY + timedelta(days=day)))


@pytest.fixture
def booted(monkeypatch):
    """Two boots of a reader on the node of one zone, a patched one, and one that only read."""
    plain = Nodes(cpu_node=1, workload="write-read", disk_mb_s=20, repeats=2)
    off = plain.model_copy(update={"mode": "off", "cpu_node": 0})
    kept = {
        plain.model_dump_json(): [record(0, PAGES, PAGES // 2), record(3, PAGES // 4, PAGES + 64)],
        off.model_dump_json(): [record(1, PAGES, PAGES)],
    }
    once = Nodes(cpu_node=1)

    def load(name, params, release=None, before=None):
        assert name == node_hits.NAME
        earlier = [
            each
            for each in kept[params.model_dump_json()]
            if before is None or each.provenance.date < before
        ]
        return earlier[-1] if earlier else None

    monkeypatch.setattr(records, "load", load)
    newest = [(each, load(node_hits.NAME, each)) for each in (plain, off)]
    monkeypatch.setattr(node_hits, "recorded", lambda name: [*newest, (once, newest[0][1])])


def test_each_boot_without_the_patch_has_a_row(booted):
    table = node_hits.unpatched()
    alone = node_hits.READERS[1]
    assert table.index.tolist() == [(alone, 20, 2896, 1), (alone, 20, 2896, 2)]
    assert table["hits, max"].tolist() == [50, 75] and table["hits, min"].tolist() == [0, 0]
    assert (table["runs"] == 2).all() and (table["size"] == 25).all()
    assert (table["read, max"] == 10).all() and (table["by naps, min"] == 25).all()


def test_boots_with_other_marks_beside_one_disk_are_apart(monkeypatch):
    runs = [
        (Nodes(workload="write-read", min_free_kib=kept, repeats=1), 1, record(0, read))
        for kept, read in ((2896, PAGES), (19200, PAGES // 2))
    ]
    monkeypatch.setattr(node_hits, "boots", lambda: runs)
    rows = node_hits.unpatched()["hits, max"]
    assert rows.to_dict() == {
        (node_hits.READERS[0], 132, 2896, 1): 0,
        (node_hits.READERS[0], 132, 19200, 1): 50,
    }
    assert node_hits.hits()["run"].nunique() == 2


def test_each_run_has_a_dot(booted):
    table = node_hits.hits()
    assert len(table) == 6
    rows = table.groupby(["reader", "kernel", "run"])["hits"].apply(list).to_dict()
    both, alone = node_hits.READERS
    assert rows == {
        (both, node_hits.PATCHED, "20 MB/s, 3 MiB kept, off"): [0, 0],
        (alone, node_hits.UNPATCHED, "20 MB/s, 3 MiB kept, boot 1"): [0, 50],
        (alone, node_hits.UNPATCHED, "20 MB/s, 3 MiB kept, boot 2"): [0, 75],
    }


def test_every_recorded_boot_is_there_and_only_those_of_one_zone_find_pages():
    table = node_hits.hits()
    kept = list((records.FOLDER / node_hits.NAME).glob("*workload=write-read*.json"))
    assert table.groupby("run")["reader"].nunique().sum() == len(kept)
    slow = table[table["run"].str.startswith("20 MB/s, 19 MiB kept")]
    assert set(slow["reader"]) == set(node_hits.READERS)
    assert (slow[slow["reader"] == node_hits.READERS[0]]["hits"] == 0).all()
    assert (slow[slow["reader"] == node_hits.READERS[1]]["hits"] > 15).all()
    said = node_hits.drawn(table, "see").to_dict()
    [[points]] = [list(said["datasets"].values())]
    assert [point["hits"] for point in points] == table["hits"].round(1).tolist()

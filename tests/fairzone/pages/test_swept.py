"""Points of the disk: which runs they are, and that the pictures have each of them."""

import pandas as pd
import pytest

from lorelab.fairzone.pages import swept
from lorelab.running.sweep import sensitivity


@pytest.fixture
def asked(monkeypatch):
    """What is sampled, without a run: three points of each."""
    calls = []

    def sampled(name, pairs, result, number, folder):
        calls.append((name, pairs, result, number, folder.name))
        return pd.DataFrame(
            {
                "disk_mb_s": [68.91, 132.0, 132.0],
                "threads": [1, 16, 1],
                "seed": [1, 2, 1],
                "mib": [5120, 7973, 10240],
                "result": [0.0, 11.6, 3.0],
            }
        )

    monkeypatch.setattr(sensitivity, "sampled", sampled)
    return calls


def test_disks_are_of_one_machine_with_a_spread_and_two_seeds(asked):
    table = swept.paces()
    assert table.columns.tolist() == ["disk_mb_s", "threads", "seed", "hits"]
    [(name, pairs, result, number, folder)] = asked
    assert (name, number, folder) == ("fairzone/tiobench", 128, "disk")
    assert {"variant=v1", "threads=1,16", "nap_spread=1", "seed=1,2"} < set(pairs)
    assert "touched" in result, "hits are a part of the reads"
    drawn = swept.paces_chart(table, "see").to_dict()
    [points] = drawn["datasets"].values()
    assert [row["threads"] for row in points] == ["1 thread", "16 threads", "1 thread"]


def test_memories_have_the_layout_of_june_and_four_disks(asked):
    table = swept.memories()
    assert table.columns.tolist() == ["gib", "disk", "hits"]
    assert table["disk"].tolist() == ["68.91", "132", "132"] and table["gib"].iloc[0] == 5
    [(_, pairs, _, number, folder)] = asked
    assert (number, folder) == (64, "memory")
    assert {"below_4g_mib=2967", "disk_mb_s=68.91,100.81,120.95,132"} < set(pairs)
    drawn = swept.memories_chart(table, "see").to_dict()
    assert [len(points) for points in drawn["datasets"].values()] == [3]

"""The machines and plans of the chapter, and what becomes of what the guest says."""

import pytest

from lorelab.fairzone.kernel import boot, followed, nodes, reread
from lorelab.fairzone.params import Followed, Nodes, Reread

ZONE = {"node": 0, "zone": "DMA32", "managed": 900, "free": 800, "min": 8, "low": 10, "high": 12}


def phase(name: str, read: int) -> dict:
    changed = {"disk_read": read, "passes": 7, "skips_batch": 2}
    zones = [{**ZONE, "protection": [0, 0, 30]}]
    return {"phase": name, "zoneinfo": zones, "changed": changed, "cached": [3] * 50}


def test_nodes_share_the_memory_out():
    machine = boot.with_nodes(Nodes(cpus=2, mib=600, dma32_mib=200))
    sizes = [word for word in machine.qemu if word.startswith("memory-backend-ram")]
    assert [size.rpartition("=")[2] for size in sizes] == ["400M", "200M"]
    assert "node,nodeid=0,memdev=node0,cpus=0-1" in machine.qemu
    assert "node,nodeid=1,memdev=node1" in machine.qemu


def test_the_reader_can_be_on_node_1():
    [first, other] = (nodes._request([Nodes(cpu_node=n, cpus=2)]).machine.qemu for n in (0, 1))
    assert "node,nodeid=0,memdev=node0" in other
    assert "node,nodeid=1,memdev=node1,cpus=0-1" in other
    sizes = [[word for word in each if "backend-ram" in word] for each in (first, other)]
    assert sizes[0] == sizes[1]


def test_what_is_above_dma32_is_movable():
    params = Followed(layout="movable", mib=640, dma32_mib=256, log_mib=3)
    machine = boot.with_movable(params)
    assert machine.append == ("movablecore=384M",) and machine.memory_mib == 640
    assert not any("max-ram-below-4g" in word for word in machine.qemu)
    fill, log = followed.turns(params)
    assert fill["turns"] == [[640 * 256, 0]] and log["turns"] == [[256, 512]] * 3


def test_allocations_avoid_to_fragment_as_upstream_only_with_a_movable_zone():
    assert boot.switches(Followed(layout="movable", mode="off")) == {}
    assert boot.switches(Followed(mode="off")) == {"fairzone/nofragment": "ignored"}


def test_an_unpatched_kernel_is_asked_for_no_switch():
    assert boot.switches(Nodes()) == {}
    assert boot.switches(Nodes(mode="all-nodes"))["fairzone/mode"] == "all-nodes"


def test_pages_are_read_once_on_two_nodes():
    fill, read = (step["reads"] for step in nodes.plan(Nodes(mib=512, turnovers=3)))
    assert fill == [0, 512 * 256]
    assert read == [512 * 256, 3 * 512 * 256]


@pytest.mark.parametrize("workload", ["write-read", "drop-caches"])
def test_hits_are_pages_that_the_disk_did_not_give(workload):
    params = Reread(mib=400, data_percent=100, workload=workload)
    runs = [[phase("write", 5), phase("read", read)] for read in (102_000, 102_300)]
    said = reread.to_table(params, runs).set_index(["counter", "step"])["value"]
    assert said["read_hits"].tolist() == [400, 100]
    assert said["write_touched", 1] == 102_400
    assert said["read_cached_49", 2] == 3
    assert said["zone_0_dma32_reserve", 1] == 30
    assert not [name for name, _ in said.index if name.endswith("pcp_count")], "nobody said it"
    assert [step["drops"] for step in reread.plan(params)] == [False, workload == "drop-caches"]


def test_each_of_two_files_is_read_five_times():
    steps = reread.plan(Reread(workload="two-files", mib=400, data_percent=220))
    assert [step["reads"] for step in steps] == [[0, 112_640]] * 5 + [[112_640, 112_640]] * 5
    assert steps[0]["name"] == "file1_read1" and steps[-1]["name"] == "file2_read5"

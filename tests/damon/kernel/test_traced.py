"""What the guest reads of a ring buffer, that a loss is refused, and who may ask for it."""

import importlib
import struct
import sys

import numpy as np
import pytest

from lorelab.damon.kernel import boot, follow
from lorelab.damon.params import Masim, Variant
from lorelab.errors import BadInput
from lorelab.lab import cache, run
from lorelab.lab.run import RunOptions

V7_3 = Masim(variant=Variant.V7_3, tlb=264)
OWN = RunOptions(image="somewhere")
FORMAT = """name: check
ID: 1234
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;
\tfield:u64 addr;\toffset:16;\tsize:8;\tsigned:0;
\tfield:bool accessed;\toffset:24;\tsize:1;\tsigned:0;

print fmt: "(%lx)", REC->__probe_ip
"""


@pytest.fixture
def traced(monkeypatch):
    before = set(sys.modules)
    for part in ("common", "damon"):
        monkeypatch.syspath_prepend(str(cache.KERNEL_FILES / part / "guest"))
    yield importlib.import_module("traced")
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def log(traced, tmp_path, monkeypatch):
    """A log whose tracefs is a folder."""
    monkeypatch.setattr(traced, "TRACING", tmp_path)
    monkeypatch.setattr(traced, "INSTANCE", tmp_path)
    found = object.__new__(traced.Log)
    found.cpu = tmp_path
    (tmp_path / "stats").write_text(
        "entries: 7\noverrun: 0\ncommit overrun: 0\ndropped events: 0\n"
    )
    (tmp_path / "kprobe_profile").write_text("  began    1    0\n  check    99    0\n")
    began = [(f"s{n}", 4 * n + 4, 4) for n in range(1, 5)]
    began += [("last_nr_regions", 24, 8), ("rotation", 32, 8)]
    said = [("start", 8, 8), ("end", 16, 8), ("nr_accesses", 24, 4), ("age", 28, 4)]
    found.formats = {
        1: ("began", began),
        1234: ("check", traced.layout(FORMAT)[1]),
        3: ("damon_aggregated", said),
    }
    return found


def event(delta, data):
    data = data.ljust(-(-len(data) // 4) * 4, b"\0")
    return struct.pack("<I", delta << 5 | len(data) // 4) + data


def began(delta):
    return event(delta, struct.pack("<H6xIIIIQQ", 1, 11, 22, 33, 44, 5, 6))


def check(delta, address, accessed):
    return event(delta, struct.pack("<H6xQQ?", 1234, 0xFFFF, address, accessed))


def aggregated(delta, start, end, count, age):
    return event(delta, struct.pack("<H6xQQII", 3, start, end, count, age))


def page(ns, *events, flags=0):
    body = b"".join(events)
    return (struct.pack("<QQ", ns, len(body) | flags) + body).ljust(4096, b"\xee")


def given(log, tmp_path, *pages):
    (tmp_path / "trace_pipe_raw").write_bytes(b"".join(pages))
    return np.frombuffer(log.read(), boot.EVENT).tolist()


def test_the_layout_of_an_event(traced):
    number, fields = traced.layout(FORMAT)
    assert number == 1234
    assert fields == [("__probe_ip", 8, 8), ("addr", 16, 8), ("accessed", 24, 1)]


def test_events_in_order_with_their_time(log, tmp_path):
    extend = struct.pack("<II", 7 << 5 | 30, 2)  # 2 << 27 and 7 ns more
    stamp = struct.pack("<II", 9 << 5 | 31, 1 << 10)
    gone = struct.pack("<II", 1 << 5 | 29, 12) + bytes(8)  # discarded: 4 and 12 bytes
    long = struct.pack("<II", 1000 << 5, 32) + event(0, struct.pack("<H6xQQ?", 1234, 0, 64, 0))[4:]
    found = given(
        log,
        tmp_path,
        page(5_000_000, began(10), check(1_000, 4096, True), extend, check(0, 8192, False)),
        page(300_000_000, gone, long, aggregated(2_000, 4096, 12288, 3, 2), stamp),
        page(1 << 37, check(0, 1 << 40, True)),
    )
    assert log.began == {"state": [11, 22, 33, 44], "last_nr_regions": 5, "rotation": 6}
    us = [5_001, (5_001_010 + (2 << 27) + 7) // 1000, 300_001, 300_003, (1 << 37) // 1000]
    assert found == [
        (4096, 0, 0, 1, 0, boot.CHECK, us[0]),
        (8192, 0, 1, 0, 0, boot.CHECK, us[1]),
        (64, 0, 2, 0, 0, boot.CHECK, us[2]),
        (4096, 12288, 3, 3, 2, boot.AGGREGATED, us[3]),
        (1 << 40, 0, 3, 1, 0, boot.CHECK, us[4]),
    ]


def test_the_rest_of_a_page_may_be_empty(log, tmp_path):
    found = given(log, tmp_path, page(1000, began(0), check(0, 4096, True), bytes([29, 0, 0, 0])))
    assert len(found) == 1


@pytest.mark.parametrize("name", ["overrun", "commit overrun", "dropped events"])
def test_an_event_that_found_no_room_is_refused(log, tmp_path, name):
    stats = (tmp_path / "stats").read_text()
    (tmp_path / "stats").write_text(stats.replace(f"\n{name}: 0", f"\n{name}: 3"))
    with pytest.raises(RuntimeError, match=f"events lost: {name}: 3"):
        given(log, tmp_path, page(1000, began(0)))


def test_a_probe_that_was_missed_is_refused(log, tmp_path):
    (tmp_path / "kprobe_profile").write_text("  began    1    0\n  check    99    2\n")
    with pytest.raises(RuntimeError, match="events lost: missed by check"):
        given(log, tmp_path, page(1000, began(0)))


def test_a_page_that_says_so_is_refused(log, tmp_path):
    with pytest.raises(RuntimeError, match="the ring buffer went round"):
        given(log, tmp_path, page(1000, began(0), flags=1 << 31))


@pytest.mark.parametrize(
    ("events", "says"),
    [((), "no kdamond began"), ((began(0), began(1)), "only one is followed")],
)
def test_one_kdamond_is_followed(log, tmp_path, events, says):
    with pytest.raises(RuntimeError, match=says):
        given(log, tmp_path, page(1000, *events))


@pytest.mark.parametrize(
    ("requested", "options", "says"),
    [
        ([V7_3], RunOptions(), r"variant=v7\.3: the laboratory's kernel is a 6\.12; takes --kern"),
        ([V7_3.model_copy(update={"tlb": 0})], OWN, "damon/flush: only the laboratory's kernel"),
        ([V7_3.model_copy(update={"rand64": True})], OWN, "damon/rand64: only the laboratory's"),
        ([Masim(variant=Variant.TUNED)], OWN, "variant=tuned: the kernel runs damon"),
    ],
)
def test_what_the_kernel_at_hand_can_not_follow_is_bad_input(requested, options, says):
    with pytest.raises(BadInput, match=says):
        follow.measure(requested, options)


def test_a_7_3_is_booted_without_a_kdamond_of_its_own(monkeypatch):
    asked = []

    def measure(request, options):
        asked.append((*request[:3], options))
        raise BadInput("asked")

    monkeypatch.setattr(run, "measure", measure)
    with pytest.raises(BadInput, match="asked"):
        follow.measure([V7_3], OWN)
    [(machine, job, patched, options)] = asked
    assert "damon_stat.enabled=N" in machine.append and machine.icount and machine.cpus == 1
    assert (job.workload, options, patched) == ("traced", OWN, False)
    assert job.params["runs"][0]["switches"] == {}

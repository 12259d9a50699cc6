"""Recordings are read whole, in every format, or refused with one line."""

import json
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelab.damon.recording import recording, trace
from lorelab.errors import BadInput
from tests.damon.recordings import damo, make, perf, write

ADDS = {
    "period": (": damon:damon_", ":          1 damon:damon_"),
    "time since": (": damon:damon_", ": (+12)  damon_"),
    "of 7.2": ("damon:damon_aggregated", "damon:damon_region_aggregated"),
    "weight": ("\n", "               1\n"),
    "cgroup": ("\n", " /user.slice/a b\n"),
    "weight and a cgroup that perf does not know": ("\n", "               0 unknown\n"),
    "cpu alone": ("kdamond.0  4452 [000]", "[000]"),
}
FORMATS = {
    "json": (damo, False),
    "compressed": (damo, True),
    "json without intervals": (lambda r: damo(r, intervals=False), False),
    "plain numbers": (lambda r: damo(r, numbers=int), False),
    "numbers as text": (lambda r: damo(r, numbers=str), True),
    "perf script": (perf, False),
    "trace-cmd": (lambda r: perf(r, "kdamond.0-4452 [005] .....").replace("damon:damon_", "damon_"),
                  False),
}  # fmt: skip


def check_against(found, records, exact_times):
    assert [one.target for one in found] == [record["target"] for record in records]
    for one, record in zip(found, records, strict=True):
        flat = [region for s in record["snapshots"] for region in s["regions"]]
        columns = zip(one.low, one.high, one.nr_accesses, one.age, strict=True)
        wanted = [(a, b, n, -1 if age is None else age) for a, b, n, age in flat]
        assert [tuple(map(int, row)) for row in columns] == wanted
        assert np.diff(one.first).tolist() == [len(s["regions"]) for s in record["snapshots"]]
        off = 0 if exact_times else 2000
        for name in ("start", "end") if exact_times else ("end",):
            times = [s[name] for s in record["snapshots"]]
            assert np.abs(getattr(one, name) - np.array(times)).max() <= off
        if not exact_times:
            assert (one.start[1:] == one.end[:-1]).all()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("targets", [1, 3])
def test_every_format_gives_what_was_recorded(tmp_path, name, targets):
    text, compressed = FORMATS[name]
    records = make(seed=len(name), targets=targets)
    found = recording.read(write(tmp_path / "damon.data", text(records), compressed))
    check_against(found, records, exact_times=text not in (perf, FORMATS["trace-cmd"][0]))


@pytest.mark.parametrize("name", ADDS)
def test_columns_and_events_that_tools_and_kernels_add(tmp_path, name):
    records = make(5, targets=2)
    text = perf(records).replace(*ADDS[name])
    check_against(recording.read(write(tmp_path / "a", text)), records, exact_times=False)


def test_data_attributes_are_passed_over_and_regions_that_come_twice_count_once(tmp_path):
    records = make(6)
    lines = perf(records).splitlines()
    probed = [
        line.replace("_aggregated", "_region_aggregated") + " probe_hits=13 00" for line in lines
    ]
    both = "\n".join(line for pair in zip(lines, probed, strict=True) for line in pair)
    for text in ("\n".join(probed), both):
        check_against(recording.read(write(tmp_path / "a", text)), records, exact_times=False)
    with pytest.raises(BadInput, match="line 3 is cut or garbled"):
        recording.read(write(tmp_path / "a", "\n".join([*probed[:2], probed[2][:-22]])))


def test_text_with_a_byte_order_mark(tmp_path):
    records = make(7)
    for text in (damo(records), perf(records)):
        for encoding in ("utf-8-sig", "utf-16"):  # PowerShell's, where output is redirected
            file = tmp_path / "a"
            file.write_bytes(text.encode(encoding))
            check_against(recording.read(file), records, exact_times=text.startswith("["))


def test_damo_writes_each_of_several_snapshots_as_a_record(tmp_path):
    """`damo record --snapshot 1s 10`: records of one snapshot, of each scheme in turn."""
    made = make(12, snapshots=6)[0]["snapshots"]
    lone = [{"target": None, "snapshots": [one]} for one in made]
    whole = [{"target": -1, "snapshots": made}]
    for compressed in (False, True):
        found = recording.read(write(tmp_path / "a", damo(lone), compressed))
        check_against(found, whole, exact_times=True)
        kv = json.loads(damo([one for one in lone for _ in range(2)]))
        for number, record in enumerate(kv):
            record["scheme_idx"] = number % 2
        found = recording.read(write(tmp_path / "a", json.dumps(kv), compressed))
        check_against(found, whole * 2, exact_times=True)
        assert [one.of for one in found] == ["scheme 0", "scheme 1"]
    kv = json.loads(damo(lone))
    kv[3]["intervals"]["aggr_us"] = "200000"  # tuned meanwhile
    found = recording.read(write(tmp_path / "a", json.dumps(kv)))
    assert [len(one.end) for one in found] == [5, 1]
    assert [one.of for one in found] == ["windows of 100000 us", "windows of 200000 us"]
    found = recording.read(write(tmp_path / "a", damo(lone[:1] * 2 + lone[1:] + lone[:1])))
    assert [len(one.end) for one in found] == [7, 1]


def test_snapshots_of_damo_as_text_have_no_target_and_a_mark_after_each(tmp_path):
    made = make(13, snapshots=4)[0]["snapshots"]
    marked = []
    for one in made:
        mark = {"start": 0, "end": 2 * one["end"] - one["start"], "regions": [(0, 0, -1, -1)]}
        marked += [one, mark]
    text = perf([{"target": None, "snapshots": marked}])
    assert "target_id=None" in text
    (found,) = recording.read(write(tmp_path / "a", text))
    assert found.target == recording.NO_TARGET
    for name in ("start", "end"):
        times = np.array([one[name] for one in made])
        assert np.abs(getattr(found, name) - times).max() <= 3000
    assert np.diff(found.first).tolist() == [len(one["regions"]) for one in made]
    assert len(found.low) == found.first[-1]
    stat = "".join(line.rpartition(" ")[0] + " None\n" for line in WHOLE.splitlines())
    assert set(recording.read(write(tmp_path / "a", stat))[0].age) == {recording.NO_AGE}


def test_a_record_without_regions_beside_one_that_has_some(tmp_path):
    records = make(14, snapshots=3, targets=2)
    for one in records[0]["snapshots"]:
        one["regions"] = []
    found = recording.read(write(tmp_path / "a", damo(records)))
    assert [len(one.low) > 0 for one in found] == [False, True]
    records[0]["snapshots"] = []
    assert [one.target for one in recording.read(write(tmp_path / "a", damo(records)))] == [1]


def test_latency_format_counts_microseconds(tmp_path):
    lines = (
        f"kdamond.-4452      0..... {50 * n:4d}us{mark}: damon_aggregated: target_id=0 "
        "nr_regions=1 4096-8192: 3 4\n"
        for n, mark in enumerate(" $@*#!+", 1)
    )
    (found,) = recording.read(write(tmp_path / "a", "".join(lines)))
    assert found.end.tolist() == [50_000 * n for n in range(1, 8)]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    ],
    ids=["carriage returns and newlines", "carriage returns alone", "a mail"],
)
def test_lines_of_other_systems_and_of_mails(tmp_path, change):
    records = make(8)
    for text in (damo(records), perf(records)):
        found = recording.read(write(tmp_path / "a", change(text)))
        check_against(found, records, exact_times=text.startswith("["))
    with pytest.raises(BadInput, match="line 1 says that events were lost"):
        recording.read(write(tmp_path / "a", change("CPU:0 [EVENTS DROPPED]\n" + perf(records))))


def test_a_file_that_trace_cmd_names_before_each_line(tmp_path):
    records = make(9)
    text = perf(records).replace("kdamond.0  4452 [000]", "a.dat:        kdamond.0-4452  [000]")
    check_against(recording.read(write(tmp_path / "a", text)), records, exact_times=False)


def test_kernels_without_age(tmp_path):
    records = make(1, aged=False)
    for text in (perf(records), damo(records)):
        check_against(recording.read(write(tmp_path / "a", text)), records, text.startswith("["))


def test_targets_may_interleave_in_a_trace(tmp_path):
    records = make(3, snapshots=6, targets=2)
    one, other = (perf([record]).splitlines() for record in records)
    mixed = [line for pair in zip(one, other, strict=False) for line in pair]
    mixed += one[len(other) :] + other[len(one) :]
    found = recording.read(write(tmp_path / "a", "\n".join(mixed)))
    check_against(found, records, exact_times=False)


def test_damo_s_mark_for_a_single_snapshot(tmp_path):
    records = make(4, snapshots=1)
    snapshot = records[0]["snapshots"][0]
    length = snapshot["end"] - snapshot["start"]
    mark = {"start": 0, "end": snapshot["end"] + length, "regions": [(0, 0, -1, -1)]}
    marked = [{"target": 0, "snapshots": [snapshot, mark]}]
    (found,) = recording.read(write(tmp_path / "a", perf(marked)))
    assert len(found.end) == 1
    assert abs(int(found.end[0] - found.start[0]) - length) < 2000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", 1234),
        ("0", 0),
        (" 12 ", 12),
        (7, 7),
        (7.0, 7),
        ("4.000 KiB", 4096),
        ("2M", 2 << 20),
        ("1 B", 1),
        ("18,446,744,073,709,551,615", 2**64 - 1),
    ],
)
def test_numbers_as_damo_writes_them(text, value):
    assert recording.integer(text) == value


@pytest.mark.parametrize("text", ["", "x", "1.5", "1 QiB", "--1", "1 iB", "0x10", "1 K K"])
def test_other_text_is_no_number(text):
    with pytest.raises(ValueError, match="is no number"):
        recording.integer(text)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1,200", 1, 1200),
        ("100 ms", 1000, 10**8),
        ("100000", 1000, 10**8),
        ("2 m 3.5 s", 1, 123_500_000_000),
        ("22 h 1 m 17.315 s", 1, 79_277_315_000_000),
        ("-5 ms", 1, -5_000_000),
        ("200 d 3 h 1 m 1 s 1 ms 1 us 1 ns", 1, 17_290_861_001_001_001),
        ("9,007,199,254,740,993 ns", 1000, 9_007_199_254_740_993),
        ("-1 s 5 ms", 1, -1_005_000_000),
        ("-0.0", 1000, 0),
        (1.5, 1000, 1500),
    ],
)
def test_times_as_damo_writes_them(text, unit, value):
    assert recording.nanoseconds(text, unit) == value


@pytest.mark.parametrize("times", [(b"9120.500100123", 9120_500100123), (b"12.5", 12_500000000)])
def test_times_of_a_trace_are_whole_nanoseconds(times):
    assert trace._stamp(times[0]) == times[1]


@pytest.mark.parametrize("text", ["", "soon", "5 parsecs", "1.2.3 s", ". s", "1 234", "5 ms -3 us"])
def test_other_text_is_no_time(text):
    with pytest.raises(ValueError, match="is no time"):
        recording.nanoseconds(text)


def edited(**changes) -> str:
    """JSON of a small recording with changes made to its first record."""
    kv = json.loads(damo(make(1, snapshots=3)))
    for name, value in changes.items():
        place, _, field = name.rpartition("__")
        where = {"": kv[0], "snapshot": kv[0]["snapshots"][1]}.get(place)
        if where is None:
            where = kv[0]["snapshots"][1]["regions"][0]
            where = where if place == "region" else where[place]
        if value is KeyError:
            del where[field]
        else:
            where[field] = value
    return json.dumps(kv)


WHOLE = perf(make(1, snapshots=3))

TRACE_CMD = WHOLE.replace("kdamond.0  4452 [000]", "kdamond.0-4452  [000]")

LINES = WHOLE.splitlines(keepends=True)


TINY = "".join(
    f"kdamond.0 7 [001] {time}.5: damon:damon_aggregated: target_id=0 nr_regions=1 4096-8192: 3 4\n"
    for time in (1, 2, 3)
)


BAD = {
    "empty": ("", "is empty"),
    "blank": ("  \n", "neither damo's JSON"),
    "other text": ("hello\n", "neither damo's JSON"),
    "perf.data": ("PERFILE2xxxxxxxx", "perf script"),
    "cut JSON": (damo(make(1))[:5000], "not whole JSON"),
    "no list": ('{"a": 1}', "not the list of records"),
    "kdamonds": ('[{"state": "on", "contexts": []}]', "list of kdamonds"),
    "footprints": ('[{"time": 1.5, "footprints": []}]', "list of memory footprints"),
    "vmas": ('[{"time": 1.5, "procvmas": []}]', "list of mappings"),
    "stats": ('[{"time": 1.5, "proc_stats": []}]', "list of processes' times"),
    "tried": (WHOLE.replace("damon_aggregated", "damos_before_apply"), "that schemes tried"),
    "counter": (TINY.replace(".5:", ":"), "line 1 has a time that is no seconds"),
    "a field that is no column": (TINY.replace(": 3 4", ": 3 4 0"), "has fields that perf script"),
    "no record": ("[]", "has no regions"),
    "not a record": ('["x"]', "not laid out"),
    "a number": ("[1]", "is neither damo's JSON"),
    "deep": ("[" * 100_000, "nested too deep"),
    "NaN": ('[{"target_id": NaN}]', "NaN is no number"),
    "no target": (edited(target_id=KeyError), "record 0 has no target_id"),
    "no snapshots": (edited(snapshots=[]), "has no regions"),
    "no start": (edited(snapshot__start_time=KeyError), "snapshot 1 has no start_time"),
    "time travel": (edited(snapshot__end_time="1"), "order of time"),
    "far future": (edited(snapshot__end_time=2**63), "more than 64 bits"),
    "wide address": (edited(region__end=2**64), "more than 64 bits"),
    "negative address": (edited(region__start="-4,096"), "a number below 0 or of more than"),
    "infinite": (edited(region__end=float("inf")), "Infinity is no number"),
    "too large": (edited(region__end=0).replace('"end": 0', '"end": 1e999'), "not laid out"),
    "inside out": (edited(region__end="4096"), "ends before it starts"),
    "overlap": (edited(region__end="140,000,000,000,000"), "overlap"),
    "words": (edited(region__start="here"), "'here' is no number"),
    "switch": (edited(region__start=True), "not laid out"),
    "no age": (edited(region__age=KeyError), "has no age"),
    "some ages": (edited(age__aggr_intervals=None), "with and without an age"),
    "long age": (edited(age__aggr_intervals=str(2**40)), "unsigned int"),
    "no count": (edited(nr_accesses__samples=None), "not laid out"),
    "intervals": (edited(intervals={"sample_us": "10", "aggr_us": "5"}), "sample interval 10 us"),
    "two kinds": (
        json.dumps(json.loads(damo(make(1))) + json.loads(damo(make(2), intervals=False))),
        "with and without intervals",
    ),
    "cut line": (WHOLE[:-30], "is cut or garbled"),
    "cut snapshot": ("".join(LINES[:-1]), "misses regions"),
    "lost event": ("".join(LINES[:2] + LINES[3:]), "misses regions"),
    "lost snapshots": ("".join([*LINES[:2], "CPU:1 [LOST 9 EVENTS]\n", *LINES[2:]]), "line 3 says"),
    "dropped": ("CPU:0 [EVENTS DROPPED]\n" + WHOLE, "line 1 says that events were lost"),
    "perf's warning": (WHOLE + "Processed 70 events and lost 2 chunks!\n", "events were lost"),
    "zero regions": (TINY.replace("nr_regions=1", "nr_regions=0"), "misses regions"),
    "too few": (TINY.replace("nr_regions=1", "nr_regions=2"), "misses regions"),
    "backwards": ("".join(reversed(TINY.splitlines(keepends=True))), "order of time"),
    "too often": (
        edited(nr_accesses__samples=500),
        r"a count of 500, where a window has 20 samples",
    ),
    "two files": (
        f"a.dat:  {TRACE_CMD}".replace("\n", "\nb.dat:  ", 1),
        "several files or buffers",
    ),
    "two kernels": (WHOLE + perf(make(2, snapshots=2, aged=False)), "with and without an age"),
    "wide trace": (TINY.replace("-8192", f"-{2**64}"), "more than 64 bits"),
    "no colon": (TINY.replace("damon_aggregated:", "damon_aggregated"), "neither damo.s JSON"),
    "far too few": (TINY.replace("nr_regions=1", f"nr_regions={2**62}"), "misses regions"),
    "far too few, later": (
        f"nr_regions={2**62}".join(TINY.rsplit("nr_regions=1", 1)),
        "misses regions",
    ),
    "endless address": (TINY.replace("-8192", "-" + "9" * 5000), "is cut or garbled"),
    "endless target": (TINY.replace("target_id=0", "target_id=" + "9" * 5000), "cut or garbled"),
    "endless time": (TINY.replace(" 1.5:", f" {'1' * 400}.5:"), "line 1 is cut or garbled"),
    "negative count": (TINY.replace(": 3 4", ": -3 4"), "unsigned int"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_recordings_are_refused_in_one_line(tmp_path, name):
    text, says = BAD[name]
    path = write(tmp_path / "damon.data", text)
    with pytest.raises(BadInput, match=says) as refused:
        recording.read(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < len(str(path)) + 160


def test_compressed_text_that_is_cut_or_edited(tmp_path):
    data = zlib.compress(damo(make(1)).encode())
    for broken, says in ((data[:-100], "cut short"), (data[:50] + b"x" + data[51:], "decompress")):
        path = tmp_path / "damon.data"
        path.write_bytes(broken)
        with pytest.raises(BadInput, match=says):
            recording.read(path)


def test_a_bomb_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "LARGEST", 10_000)
    with pytest.raises(BadInput, match="larger than"):
        recording.read(write(tmp_path / "a", "[" + " " * 10**6 + "]", compressed=True))


def test_no_file(tmp_path):
    with pytest.raises(BadInput, match=r"cannot read .*nothing: No such file"):
        recording.read(tmp_path / "nothing")


def read_or_refuse(path) -> None:
    """Either a consistent recording, or one line; never another exception."""
    try:
        found = recording.read(path)
    except BadInput as refused:
        assert "\n" not in str(refused)
        return
    for one in found:
        assert one.first[0] == 0
        assert one.first[-1] == len(one.low) == len(one.high) == len(one.nr_accesses)
        assert len(one.first) == len(one.end) + 1 == len(one.start) + 1 == len(one.aggr_us) + 1
        assert (one.low < one.high).all()


SOUND = [damo(make(1, snapshots=2)), damo(make(2, snapshots=2), tuned=True), TINY, WHOLE]


@settings(max_examples=150)
@given(st.data())
def test_edited_bytes_never_get_through_unseen(tmp_path_factory, data):
    sound = bytearray(data.draw(st.sampled_from(SOUND)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(sound) - 1))
        if data.draw(st.booleans()):
            sound[at] = data.draw(st.integers(0, 255))
        else:
            del sound[at : at + data.draw(st.integers(1, 200))]
            sound += b" "
    path = tmp_path_factory.mktemp("fuzz") / "damon.data"
    path.write_bytes(zlib.compress(sound) if data.draw(st.booleans()) else sound)
    read_or_refuse(path)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


@settings(max_examples=150)
@given(value=values, steps=st.lists(st.integers(0, 6), max_size=9))
def test_any_value_in_any_place_of_the_json(tmp_path_factory, value, steps):
    root = kv = json.loads(SOUND[1])
    for step in steps:
        keys = list(kv) if isinstance(kv, dict) else range(len(kv))
        key = keys[step % len(keys)]
        if not isinstance(kv[key], (dict, list)) or not kv[key]:
            break
        kv = kv[key]
    keys = list(kv) if isinstance(kv, dict) else range(len(kv))
    kv[keys[0]] = value
    path = tmp_path_factory.mktemp("fuzz") / "damon.data"
    path.write_text(json.dumps(root))
    read_or_refuse(path)

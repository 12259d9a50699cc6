"""Recordings of DAMON: damo's JSON, plain or compressed, and `perf script` text, of any kernel.

What is read is checked in full, so that a recording is either whole and consistent or refused.
"""

import json
import math
import re
import zlib
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lorelab import user_text
from lorelab.damon.recording.quantities import integer, nanoseconds
from lorelab.errors import BadInput

LARGEST = 2**31
"""Bytes of text at most, also after decompression: a hostile file does not fill the memory."""
LATEST = 2**62
"""Nanoseconds; leaves room to reckon with the times of a hostile file."""
UINT_MAX = 2**32 - 1
SAME = ("kdamond_idx", "context_idx", "intervals", "scheme_idx", "target_id")
"""What records of one target have in common (damo: DamonRecord.can_merge)."""
NO_TARGET = -1
"""Of regions that a scheme tried, whichever target they are of: snapshots since Linux 6.14."""
NO_AGE = -1
"""Age of a region that the recording has none for: kernels before 5.16 do not trace it."""

EVENT = re.compile(
    rb" (\d{1,10}\.\d{1,9}|\d{1,12}us[ $@*#!+]): +(?:\d+ +|\([+-]\d+\) +)?(?:damon:)?"
    rb"damon_(?:region_)?aggregated: +target_id=(\d{1,20}|None) nr_regions=(\d{1,20}) "
    rb"(\d{1,20})-(\d{1,20}): (-?\d{1,20})(?: (-?\d{1,20}|None))?(?: probe_hits=[0-9a-f ]*)? *$",
    re.MULTILINE,
)
"""A line of damon:damon_aggregated, or of damon_region_aggregated since Linux 7.2, as perf script,
trace-cmd and ftrace print it, or damo of its snapshots, which have no target or no age; 64 bits
have 20 digits at most."""
COUNTED = re.compile(rb"\S\s+\d+: +(?:damon:)?damon_")
"""A time of a clock that counts."""
COUNTS = "record with a clock in ns, not trace_clock counter or x86-tsc"
LOST = re.compile(user_text.LOST.encode(), re.MULTILINE)
FILE = re.compile(rb"^ *(?:(\S[^\n]*?): +)?kdamond\.\d+-\d+ ", re.MULTILINE)
"""What trace-cmd report names first, where it prints several files or buffers."""
AGGREGATED, REGION_AGGREGATED = b"damon_aggregated:", b"damon_region_aggregated:"
TRIED = b"damos_before_apply:"
BESIDE = {
    "contexts": "kdamonds",
    "footprints": "memory footprints",
    "procvmas": "mappings",
    "proc_stats": "processes' times",
}
"""What else damo records, in a file beside, by a name in its entries."""
LARGEST_FOLIO = 16 << 30
"""Bytes. Filters count whole folios, so more may pass than a region has (mm/damon/paddr.c)."""
TICK_US = 10_000
"""A jiffy at most, by which older kernels end a window late, with more samples."""
STAT = -1
"""Number of the kdamond in what damo reads from DAMON_STAT."""


class Intervals(NamedTuple):
    """Monitoring intervals, in microseconds."""

    sample_us: float
    aggr_us: float
    tuned: bool
    """The kernel tunes them to a goal; `Recording.aggr_us` has each window's own."""


class Recording(NamedTuple):
    """What DAMON saw of one target: n snapshots, one a window, of m regions in all."""

    target: int
    intervals: Intervals | None
    """None where the file does not say: perf script text, and files of old versions of damo."""
    start: np.ndarray
    """(n,) int64: begin of each window, ns on the kernel's clock."""
    end: np.ndarray
    """(n,) int64: end of each window, ns."""
    aggr_us: np.ndarray
    """(n,) float64: aggregation interval of each window; not a number without `intervals`."""
    first: np.ndarray
    """(n + 1,) int64: regions `first[i]` to `first[i + 1]` are those of snapshot i."""
    low: np.ndarray
    """(m,) uint64: first address of each region; ascending in a snapshot."""
    high: np.ndarray
    """(m,) uint64: first address after it."""
    nr_accesses: np.ndarray
    """(m,) int64: samples of the window that found the region accessed."""
    age: np.ndarray
    """(m,) int64: windows for which the count has been about the same, or `NO_AGE`."""
    percent: np.ndarray
    """(m,) float64: share of the samples that found it accessed, as damo rounds it down; not a
    number without `intervals`."""
    age_us: np.ndarray
    """(m,) float64: age in microseconds; not a number without `intervals`."""
    passed: np.ndarray
    """(m,) uint64: bytes that passed the filters of the scheme; none without a scheme."""


def read(path: Path | str) -> list[Recording]:
    """Read a recording, whichever of the formats it is in.

    Returns
    -------
    list of Recording
        One a target, in the order of the file.

    Raises
    ------
    BadInput
        Says what is wrong with the file, where, and what to do.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    try:
        return _read(data)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def _read(data: bytes) -> list[Recording]:
    if not data:
        raise BadInput("is empty; record again with `damo record`")
    if why := user_text.other(data):
        raise BadInput(why)
    if data[:1] == b"\x78" and len(data) > 1 and int.from_bytes(data[:2]) % 31 == 0:
        data = _decompress(data)
    if len(data) > LARGEST:
        raise BadInput(f"is larger than {LARGEST >> 30} GiB of text; record a shorter time")
    data = user_text.plain(data)
    if data.lstrip()[:1] in (b"[", b"{"):
        found = _read_json(data)
    elif AGGREGATED in data:
        found = _read_trace(data, AGGREGATED)
    elif REGION_AGGREGATED in data:
        found = _read_trace(data, REGION_AGGREGATED)
    elif TRIED in data:
        raise BadInput(
            "has the regions that schemes tried, not whole snapshots; omit --schemes_target_regions"
        )
    else:
        raise BadInput("is neither damo's JSON nor perf script text with damon:damon_aggregated")
    found = [one for one in found if len(one.end)]
    if not any(len(one.low) for one in found):
        raise BadInput(
            "has no regions; record for longer than one aggregation interval, or with a scheme and "
            "filters that some match"
        )
    for one in found:
        _verify(one)
    if len({one.intervals is None for one in found}) > 1:
        raise BadInput("mixes records with and without intervals; give each its own file")
    if len({bool(one.age[0] == NO_AGE) for one in found if len(one.age)}) > 1:
        raise BadInput("mixes records with and without ages; give each its own file")
    return found


def _decompress(data: bytes) -> bytes:
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(data, LARGEST + 1)
    except zlib.error as error:
        raise BadInput(f"does not decompress ({error}); record again") from None
    if not inflate.eof and len(text) <= LARGEST:
        raise BadInput("is cut short in its compressed text; record again")
    return text


def _read_json(data: bytes) -> list[Recording]:
    try:
        records = json.loads(data, parse_constant=_refuse)
    except RecursionError:
        raise BadInput("is JSON nested too deep for a recording") from None
    except ValueError as error:
        raise BadInput(f"is not whole JSON ({error}); record again") from None
    if not isinstance(records, list):
        raise BadInput("is JSON, but not the list of records that damo writes")
    head = records[0] if records and isinstance(records[0], dict) else {}
    if of := next((name for name in BESIDE if name in head), None):
        raise BadInput(f"is damo's list of {BESIDE[of]}; give the damon.data beside it")
    found: dict[str, Recording] = {}
    for number, kv in enumerate(records):
        one = _record(number, kv)
        key = repr([kv.get(name) for name in SAME])
        if key in found and not follows(one, found[key]):
            key += f" {number}"
        found[key] = _joined(found[key], one) if key in found else one
    return list(found.values())


def follows(one: Recording, before: Recording) -> bool:
    """Whether the snapshots of a record continue another's."""
    return not len(before.end) or not len(one.end) or before.end[-1] <= one.end[0]


def _joined(before: Recording, one: Recording) -> Recording:
    """Two records of one target as one: damo writes each of several snapshots as a record."""
    rows = {
        name: np.concatenate([getattr(before, name), getattr(one, name)])
        for name in Recording._fields[2:]
        if name != "first"
    }
    first = np.concatenate([before.first, before.first[-1] + one.first[1:]])
    return before._replace(first=first, **rows)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _record(number: int, kv: dict) -> Recording:
    """One record of the file; what is wrong in it is said with its number and the snapshot's."""
    where = f"record {number}"
    try:
        intervals = _intervals(kv.get("intervals"))
        target = NO_TARGET if kv["target_id"] is None else integer(kv["target_id"])
        snapshots = kv["snapshots"]
        start, end, own, counts = [], [], [], []
        low, high, nr_accesses, percent, age, age_us, passed = [], [], [], [], [], [], []
        for index, snapshot in enumerate(snapshots):
            where = f"record {number}, snapshot {index}"
            start.append(nanoseconds(snapshot["start_time"]))
            end.append(nanoseconds(snapshot["end_time"]))
            own.append(snapshot.get("sample_interval_us"))
            regions = snapshot["regions"]
            counts.append(len(regions))
            for region in regions:
                low.append(integer(region["start"]))
                high.append(integer(region["end"]))
                samples, share = _accesses(region["nr_accesses"], intervals)
                nr_accesses.append(samples)
                percent.append(share)
                # DAMON_STAT gives idle times, negative where memory is accessed.
                signed = kv.get("kdamond_idx") == STAT
                windows, microseconds = _age(region["age"], intervals, signed)
                age.append(windows)
                age_us.append(microseconds)
                passed.append(integer(region.get("sz_filter_passed") or 0))
        recording = Recording(
            target,
            intervals,
            np.array(start, np.int64),
            np.array(end, np.int64),
            np.empty(0),
            np.array([0, *accumulate(counts)], np.int64),
            np.array(low, np.uint64),
            np.array(high, np.uint64),
            np.array(nr_accesses, np.int64),
            np.array(age, np.int64),
            np.array(percent, np.float64),
            np.array(age_us, np.float64),
            np.array(passed, np.uint64),
        )
        samples = [np.nan if one is None else nanoseconds(one, 1000) / 1000 for one in own]
        return recording._replace(aggr_us=_aggr_us(recording, np.array(samples, np.float64)))
    except KeyError as error:
        raise BadInput(f"{where} has no {error.args[0]}; record again") from None
    except OverflowError:
        raise BadInput(f"{where} has a number below 0 or of more than 64 bits") from None
    except (TypeError, AttributeError):
        raise BadInput(f"{where} is not laid out as damo does") from None
    except ValueError as error:
        raise BadInput(f"{where}: {error}") from None


def _intervals(kv: dict | None) -> Intervals | None:
    if kv is None:
        return None
    sample, aggr = (nanoseconds(kv[name], 1000) / 1000 for name in ("sample_us", "aggr_us"))
    if not 0 < sample <= aggr < UINT_MAX:
        raise ValueError(f"sample interval {sample:g} us, aggregation interval {aggr:g} us")
    goal = kv.get("intervals_goal") or {}
    return Intervals(sample, aggr, integer(goal.get("aggrs", 0)) != 0)


def _accesses(kv: dict, intervals: Intervals | None) -> tuple[int, float]:
    """Samples that found a region accessed, and their share in per cent (damo: add_unset_unit)."""
    samples, percent = kv.get("samples"), kv.get("percent")
    if percent is not None and type(percent) not in (int, float):
        raise TypeError(percent)
    if intervals is None:
        return integer(samples), math.nan if percent is None else percent
    most = intervals.aggr_us / intervals.sample_us
    if samples is None and percent is not None:
        return int(percent * most / 100), percent
    samples = integer(samples)
    return samples, int(samples * 100.0 / most) if percent is None else percent


def _age(kv: dict, intervals: Intervals | None, signed: bool) -> tuple[int, float]:
    """Age of a region in windows and in microseconds, as far as the file or `intervals` say."""
    windows, usec = kv["aggr_intervals"], kv.get("usec")
    if usec is not None:
        usec = nanoseconds(usec, 1000) / 1000
        usec = abs(usec) if signed else usec  # before it is counted: -1 marks no age
    if windows is not None:
        windows = abs(integer(windows)) if signed else integer(windows)
        if usec is None:
            usec = math.nan if intervals is None else windows * intervals.aggr_us
        return windows, usec
    if usec is None or intervals is None:
        return NO_AGE, math.nan
    return int(usec / intervals.aggr_us), usec


def _aggr_us(recording: Recording, samples: np.ndarray) -> np.ndarray:
    """Aggregation interval of each window: the record's, or what tuning had made of it."""
    if recording.intervals is None:
        return np.full(len(recording.end), np.nan)
    sample_us, aggr_us, tuned = recording.intervals
    if not tuned:
        return np.full(len(recording.end), aggr_us)
    seen = (recording.end - recording.start) / 1000
    seen = np.where(np.abs(seen - aggr_us) / aggr_us < 0.1, aggr_us, seen)
    return np.where(np.isnan(samples), seen, samples * (aggr_us / sample_us))


def _read_trace(data: bytes, event: bytes) -> list[Recording]:
    if gap := LOST.search(data):
        number = data.count(b"\n", 0, gap.start()) + 1
        raise BadInput(
            f"line {number} says that events were lost, so snapshots may be missing; record again "
            "with a larger buffer, or remove that line"
        )
    if len(set(FILE.findall(data))) > 1:
        raise BadInput("has events of several files or buffers; give trace-cmd report of one")
    if event == AGGREGATED and REGION_AGGREGATED in data:  # the same regions twice
        data = b"\n".join(line for line in data.split(b"\n") if REGION_AGGREGATED not in line)
    rows = EVENT.findall(data)
    if len(rows) != data.count(event):
        raise BadInput(_first_bad_line(data, event))
    seconds, ids, nr, low, high, accesses, age = zip(*rows, strict=True)
    if len({text == b"" for text in age}) > 1:
        raise BadInput("mixes lines with and without an age; give each kernel its own file")
    time = np.fromiter(map(_stamp, seconds), np.int64)
    columns = [nr, low, high, accesses]
    try:
        nr, low, high, accesses = (
            np.fromiter(map(int, column), kind)
            for column, kind in zip(columns, [np.int64, "u8", "u8", np.int64], strict=True)
        )
        age = np.fromiter((NO_AGE if a in (b"", b"None") else int(a) for a in age), np.int64)
    except OverflowError:
        raise BadInput("has a number of more than 64 bits") from None
    ids = np.array(ids)
    return [
        _trace(
            NO_TARGET if target == b"None" else int(target),
            *(column[ids == target] for column in (time, nr, low, high, accesses, age)),
        )
        for target in dict.fromkeys(ids)
    ]


def _stamp(seconds: bytes) -> int:
    """Nanoseconds of a trace's time: up to nine digits after the point, or latency-format's us."""
    if b"us" in seconds:
        return int(seconds.partition(b"us")[0]) * 1000
    whole, _, part = seconds.partition(b".")
    return int(whole) * 10**9 + int(part.ljust(9, b"0"))


def _first_bad_line(data: bytes, event: bytes) -> str:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.count(event) != len(EVENT.findall(line)):
            if COUNTED.search(line):
                return f"line {number} has a time that is no seconds; {COUNTS}"
            return (
                f"line {number} is cut or garbled, or has fields that perf script prints if it is "
                "asked (-F); record again, or remove its snapshot"
            )
    return "has garbled lines; record again"


def _trace(target: int, time, nr, low, high, accesses, age) -> Recording:
    """Cut the regions of one target into snapshots of `nr_regions` each."""
    total = len(nr)
    # One too many is as wrong as 2^62 too many, and cheaper.
    first, hops = [0], np.clip(nr, 1, total + 1).tolist()
    while first[-1] < total:
        first.append(first[-1] + hops[first[-1]])
    first = np.array(first)
    heads = first[:-1]
    whole = np.repeat(nr[heads], np.diff(first))[:total] == nr
    bad = np.flatnonzero(~whole)
    if first[-1] > total or len(bad) or (nr < 1).any():
        at = time[bad[0]] if len(bad) else time[heads[-1]]
        raise BadInput(
            f"target {target} misses regions at {at / 1e9:.6f} s: the file is cut, or perf lost "
            "events; record again"
        )
    # damo's mark after a lone snapshot, which would have no begin otherwise.
    mark = (nr == 1) & (low == 0) & (high == 0) & (accesses == -1)
    whole, real = time[heads], ~mark[heads]
    end = whole[real]
    start = np.concatenate([end[:1], end[:-1]])
    if len(end) > 1:
        start[0] = int(end[0] - float(end[-1] - end[0]) / (len(end) - 1))
    lone = np.flatnonzero(real[:-1] & ~real[1:])
    start[np.cumsum(real)[lone] - 1] = 2 * whole[lone] - whole[lone + 1]
    first = np.concatenate([[0], np.cumsum(np.diff(first)[real])])
    none, nones = np.full(len(end), np.nan), np.full(first[-1], np.nan)
    seen = (column[~mark] for column in (low, high, accesses, age))
    nothing = np.zeros(first[-1], np.uint64)
    return Recording(target, None, start, end, none, first, *seen, nones, nones, nothing)


def _verify(one: Recording) -> None:
    """Refuse what no DAMON can have seen."""
    where = f"target {one.target}"
    if (np.abs([one.start, one.end]) > LATEST).any():
        raise BadInput(f"{where}: a time beyond the year 2116; record again")
    if (one.start > one.end).any() or (np.diff(one.end) < 0).any():
        raise BadInput(f"{where}: snapshots are not in the order of time; record again")
    if (one.low >= one.high).any():
        raise BadInput(f"{where}: a region ends before it starts; record again")
    same = np.ones(len(one.low), bool)
    same[one.first[:-1][one.first[:-1] < len(one.low)]] = False
    if (same[1:] & (one.low[1:] < one.high[:-1])).any():
        raise BadInput(f"{where}: regions of a snapshot overlap; record again")
    # damo writes 4,095 MiB as "3.999 GiB", and so loses up to a thousandth either way.
    if (one.passed > (one.high - one.low) * 1.001 + LARGEST_FOLIO).any():
        raise BadInput(f"{where}: more of a region passed the filters than there is; record again")
    counts = (one.nr_accesses < 0) | (one.nr_accesses > UINT_MAX)
    if (counts | (one.age < NO_AGE) | (one.age > UINT_MAX)).any():
        raise BadInput(f"{where}: a count or an age that is no unsigned int; record again")
    sample_us, aggr_us, _ = one.intervals or (1, UINT_MAX, False)
    if (count := one.nr_accesses.max(initial=0)) > math.ceil((aggr_us + TICK_US) / sample_us):
        raise BadInput(
            f"{where}: a count of {count}, where a window has {aggr_us / sample_us:g} samples; "
            "record again, with intervals that stay"
        )
    if len(set((one.age == NO_AGE).tolist())) > 1:
        raise BadInput(f"{where} mixes regions with and without an age; record again")

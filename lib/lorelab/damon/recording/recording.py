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
from lorelab.damon.recording import trace
from lorelab.damon.recording.quantities import integer, nanoseconds
from lorelab.damon.recording.trace import NO_AGE, NO_TARGET
from lorelab.errors import BadInput

LARGEST = 2**31
"""Bytes of text at most, also after decompression: a hostile file does not fill the memory."""
LATEST = 2**62
"""Nanoseconds; leaves room to reckon with the times of a hostile file."""
UINT_MAX = 2**32 - 1
SAME = ("kdamond_idx", "context_idx", "intervals", "scheme_idx", "target_id")
"""What records of one target have in common (damo: DamonRecord.can_merge)."""
JSON = re.compile(rb"\s*(?:\{|\[\s*(?:[\[{\]\"]|\Z))")
"""No CPU of perf script -F cpu, nor time of the kernel's log, in brackets."""
WHOSE = {"kdamond_idx": "kdamond", "context_idx": "context", "scheme_idx": "scheme"}
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
    of: str = ""
    """Kdamond, context, scheme and windows, as far as those of one file differ in them."""


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
    if JSON.match(data):
        recordings = _read_json(data)
    elif trace.AGGREGATED in data:
        recordings = [_traced(one) for one in trace.read(data, trace.AGGREGATED)]
    elif trace.REGION_AGGREGATED in data:
        recordings = [_traced(one) for one in trace.read(data, trace.REGION_AGGREGATED)]
    elif trace.TRIED in data:
        raise BadInput(
            "has the regions that schemes tried, not whole snapshots; omit --schemes_target_regions"
        )
    else:
        raise BadInput("is neither damo's JSON nor perf script text with damon:damon_aggregated")
    recordings = [one for one in recordings if len(one.end)]
    if not any(len(one.low) for one in recordings):
        raise BadInput(
            "has no regions; record for longer than one aggregation interval, or with a scheme and "
            "filters that some match"
        )
    for one in recordings:
        _verify(one)
    if len({one.intervals is None for one in recordings}) > 1:
        raise BadInput("mixes records with and without intervals; give each its own file")
    if len({bool(one.age[0] == NO_AGE) for one in recordings if len(one.age)}) > 1:
        raise BadInput("mixes records with and without ages; give each its own file")
    return recordings


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
    recordings: dict[str, Recording] = {}
    read = [_record(number, kv) for number, kv in enumerate(records)]
    for number, (one, kv) in enumerate(zip(_told_apart(read, records), records, strict=True)):
        key = repr([kv.get(name) for name in SAME])
        if key in recordings and not follows(one, recordings[key]):
            key += f" {number}"
        recordings[key] = _joined(recordings[key], one) if key in recordings else one
    return list(recordings.values())


def _told_apart(recordings: list[Recording], records: list[dict]) -> list[Recording]:
    """The same, each with the words for what its record and another's differ in."""
    rows = [
        {word: f"{word} {kv.get(name)}" for name, word in WHOSE.items()}
        | {"windows": f"windows of {one.intervals.aggr_us:g} us" if one.intervals else ""}
        for one, kv in zip(recordings, records, strict=True)
    ]
    differ = [word for word in (*WHOSE.values(), "windows") if len({row[word] for row in rows}) > 1]
    return [
        one._replace(of=", ".join(row[word] for word in differ))
        for one, row in zip(recordings, rows, strict=True)
    ]


def _traced(one: trace.Target) -> Recording:
    windows, regions = np.full(len(one.end), np.nan), np.full(len(one.low), np.nan)
    columns = (one.low, one.high, one.nr_accesses, one.age, regions, regions)
    times = (one.start, one.end, windows, one.first)
    nothing = np.zeros(len(one.low), np.uint64)
    return Recording(one.target, None, *times, *columns, nothing, one.kdamond)


def follows(one: Recording, before: Recording) -> bool:
    """Whether the snapshots of a record continue another's."""
    return not len(before.end) or not len(one.end) or before.end[-1] <= one.end[0]


def _joined(before: Recording, one: Recording) -> Recording:
    """Two records of one target as one: damo writes each of several snapshots as a record."""
    rows = {
        name: np.concatenate([getattr(before, name), getattr(one, name)])
        for name in Recording._fields[2:]
        if name not in ("first", "of")
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
    measured_us = (recording.end - recording.start) / 1000
    measured_us = np.where(np.abs(measured_us - aggr_us) / aggr_us < 0.1, aggr_us, measured_us)
    return np.where(np.isnan(samples), measured_us, samples * (aggr_us / sample_us))


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

"""Events of DAMON as text of perf script, trace-cmd and ftrace, or of damo: cut into snapshots."""

import re
from typing import NamedTuple

import numpy as np

from lorelab import user_text
from lorelab.errors import BadInput

NO_TARGET = -1
"""Of regions that a scheme tried, whichever target they are of: snapshots since Linux 6.14."""
NO_AGE = -1
"""Age of a region that the recording has none for: kernels before 5.16 do not trace it."""

EVENT = re.compile(
    rb" (\d{1,10}\.\d{1,9}|\d{1,12}us[ $@*#!+]): +(?:\d+ +|\([+-]\d+\) +)?(?:damon:)?"
    rb"damon_(?:region_)?aggregated: +target_id=(\d{1,20}|None) nr_regions=(\d{1,20}) "
    rb"(\d{1,20})-(\d{1,20}): (-?\d{1,20})(?: (-?\d{1,20}|None))?(?: probe_hits=[0-9a-f ]*)?"
    rb"(?: {2,}[0-9a-f]+| /[^\n]*| unknown)* *$",
    re.MULTILINE,
)
"""A line of damon:damon_aggregated, or of damon_region_aggregated since Linux 7.2, as perf script,
trace-cmd and ftrace print it, or damo of its snapshots, which have no target or no age; 64 bits
have 20 digits at most. Behind it stand what perf script -F adds: columns 16 wide, a cgroup."""
KDAMOND = re.compile(
    rb"^[^\n]*?\b(kdamond\.\d+)\b[^\n]*damon_(?:region_)?aggregated:[^\n]*$", re.MULTILINE
)
SECOND = 10**9
"""Nothing is recorded so soon after the boot [ns]."""
COUNTED = re.compile(rb"\S\s+\d+: +(?:damon:)?damon_")
"""A time of a clock that counts."""
COUNTS = "record with a clock in ns, not trace_clock counter or x86-tsc"
LOST = re.compile(user_text.LOST.encode(), re.MULTILINE)
FILE = re.compile(rb"^ *(?:(\S[^\n]*?): +)?kdamond\.\d+-\d+ ", re.MULTILINE)
"""What trace-cmd report names first, where it prints several files or buffers."""
AGGREGATED, REGION_AGGREGATED = b"damon_aggregated:", b"damon_region_aggregated:"
TRIED = b"damos_before_apply:"


class Target(NamedTuple):
    """What one kdamond saw of one target; arrays as in `recording.Recording`."""

    kdamond: str
    """Name of the thread; empty where the file has but one."""
    target: int
    start: np.ndarray
    end: np.ndarray
    first: np.ndarray
    low: np.ndarray
    high: np.ndarray
    nr_accesses: np.ndarray
    age: np.ndarray


def read(data: bytes, event: bytes) -> list[Target]:
    """Snapshots of each target of each kdamond, whose targets are all numbered from 0.

    Parameters
    ----------
    data : bytes
        Text with such events.
    event : bytes
        `AGGREGATED` or `REGION_AGGREGATED`.

    Raises
    ------
    BadInput
        Says what is wrong, and in which line.
    """
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
    if len({row[-1] == b"" for row in rows}) > 1:
        raise BadInput("mixes lines with and without an age; give each kernel its own file")
    time = np.array([_stamp(row[0]) for row in rows])
    if time.min() < SECOND and (np.diff(time) < 0).any():
        raise BadInput("has times since the event before; omit perf script's --deltatime")
    names = dict.fromkeys(KDAMOND.findall(data))
    if len(names) < 2:
        return _targets("", rows)
    of: dict[bytes, list[bytes]] = {name: [] for name in (*names, b"")}
    for line in data.split(b"\n"):
        of[matched[1] if (matched := KDAMOND.match(line)) else b""].append(line)
    return [
        one for name in of for one in _targets(name.decode(), EVENT.findall(b"\n".join(of[name])))
    ]


def _targets(kdamond: str, rows: list[tuple[bytes, ...]]) -> list[Target]:
    if not rows:
        return []
    seconds, ids, nr, low, high, accesses, age = zip(*rows, strict=True)
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
        _target(
            kdamond,
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


def _target(kdamond: str, target: int, time, nr, low, high, accesses, age) -> Target:
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
    seen = (column[~mark] for column in (low, high, accesses, age))
    return Target(kdamond, target, start, end, first, *seen)

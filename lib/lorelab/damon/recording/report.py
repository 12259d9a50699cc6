"""What `damo report` says of a recording, with its numbers: working set, regions, heat map."""

from typing import NamedTuple

import numba
import numpy as np
import pandas as pd

from lorelab.damon.recording import access
from lorelab.damon.recording.recording import NO_TARGET, Recording
from lorelab.errors import BadInput

SKIPPED = 20
"""Snapshots that damo leaves out at the start, while regions still adapt (damo_wss.py)."""


def snapshots(recording: Recording) -> pd.DataFrame:
    """Every region of every snapshot.

    Returns
    -------
    DataFrame
        Columns `snapshot` (from 0), `start` and `end` (ns), `low` and `high` (addresses),
        `nr_accesses` (samples), `age` (windows; -1 where the recording has none).
    """
    count = np.diff(recording.first)
    return pd.DataFrame(
        {
            "snapshot": np.repeat(np.arange(len(count)), count),
            "start": np.repeat(recording.start, count),
            "end": np.repeat(recording.end, count),
            "low": recording.low,
            "high": recording.high,
            "nr_accesses": recording.nr_accesses,
            "age": recording.age,
        }
    )


def working_set(recording: Recording, accesses: int = 1, smallest: int = 1) -> np.ndarray:
    """Working set of each snapshot, in bytes.

    Parameters
    ----------
    accesses : int
        Least count that makes a region part of it, in samples.
    smallest : int
        Least size that does, in bytes.

    Returns
    -------
    ndarray
        (n,) uint64.
    """
    size = recording.high - recording.low
    part = (recording.nr_accesses >= accesses) & (size >= smallest)
    upto = np.concatenate([[np.uint64(0)], np.cumsum(np.where(part, size, 0), dtype=np.uint64)])
    return upto[recording.first[1:]] - upto[recording.first[:-1]]


def nr_regions(recording: Recording) -> np.ndarray:
    """Number of regions of each snapshot; (n,) int64."""
    return np.diff(recording.first)


def percentiles(values: np.ndarray, at: list[int]) -> list:
    """Percentiles as damo takes them: sorted, the value at `int(p / 100 * n)`, not interpolated."""
    if not len(values):
        raise BadInput(f"no snapshot after the first {SKIPPED}: record for longer")
    ordered = np.sort(values)
    return [ordered[min(int(p / 100 * len(ordered)), len(ordered) - 1)].item() for p in at]


def contiguous(recording: Recording) -> list[tuple[int, int]]:
    """Address ranges that some snapshot covers, gaps that none covers between them."""
    if not len(recording.low):
        return []
    order = np.argsort(recording.low, kind="stable")
    low, high = recording.low[order], np.maximum.accumulate(recording.high[order])
    cut = np.flatnonzero(low[1:] > high[:-1])
    first = np.concatenate([[0], cut + 1])
    last = np.concatenate([cut, [len(low) - 1]])
    return [(int(a), int(b)) for a, b in zip(low[first], high[last], strict=True)]


def hottest(recording: Recording) -> tuple[int, int]:
    """The contiguous range with the most accesses a byte."""

    def heat(span: tuple[int, int]) -> float:
        inside = (recording.low >= span[0]) & (recording.high <= span[1])
        size = (recording.high - recording.low)[inside].astype(float)
        return float((size * recording.nr_accesses[inside]).sum()) / (span[1] - span[0])

    return max(contiguous(recording), key=heat)


class HeatMap(NamedTuple):
    """Heat on a grid of time and address."""

    times: np.ndarray
    """(rows,) int64: begin of each row, ns."""
    addresses: np.ndarray
    """(columns,) uint64: first address of each column."""
    heat: np.ndarray
    """(rows, columns) float64; not a number where nothing was monitored."""
    unit: str
    """`Hz` where the intervals are known, else `samples`."""


def span(recording: Recording) -> tuple[int, int]:
    """Time that the recording tells of, in ns: ages reach back before its first window."""
    begin, aged = int(recording.start[0]), recording.age[: recording.first[1]]
    if recording.intervals is not None and len(aged):
        begin -= max(0, int(aged.max())) * int(recording.intervals.aggr_us * 1000)
    return begin, int(recording.end[-1])


def heatmap(
    recording: Recording,
    shape: tuple[int, int] = (40, 80),
    times: tuple[int, int] | None = None,
    addresses: tuple[int, int] | None = None,
) -> HeatMap:
    """Heat map with damo's pixels: rate x overlap in time x overlap in bytes / area of the pixel.

    The rate is the count over its aggregation interval where the file has the interval, else
    the count itself. A region is taken to have been as hot for the windows of its age, back to
    the snapshot before, as damo has it.

    Parameters
    ----------
    shape : (int, int)
        Rows (time) and columns (address).
    times : (int, int), optional
        First and last time, ns; by default all that the recording tells of (see `span`).
    addresses : (int, int), optional
        First address and the one after the last; by default the hottest range.

    Raises
    ------
    BadInput
        The grid is finer than a nanosecond or a byte.
    """
    t0, t1 = times or span(recording)
    a0, a1 = addresses or hottest(recording)
    rows, columns = shape
    time_unit, address_unit = (t1 - t0) // rows, (a1 - a0) // columns
    if time_unit < 1 or address_unit < 1:
        raise BadInput(
            f"{t1 - t0} ns by {a1 - a0} bytes are too little for a heat map "
            f"of {rows} by {columns} pixels; record for longer"
        )
    known = recording.intervals is not None
    count = np.diff(recording.first)
    rate = recording.nr_accesses.astype(float)
    back = np.zeros(len(rate))
    if known:
        rate /= np.repeat(recording.aggr_us, count) / 1e6
        back = np.maximum(recording.age, 0) * (recording.intervals.aggr_us * 1000)
    # Times and addresses count from the corner of the map, which keeps floats exact.
    end = (recording.end - t0).astype(float)
    before = np.concatenate([[-np.inf], end[:-1]])
    begin = np.repeat((recording.start - t0).astype(float), count) - back
    heat = _paint(
        np.maximum(begin, np.repeat(before, count)),
        np.repeat(end, count),
        _offset(recording.low, a0),
        _offset(recording.high, a0),
        rate,
        float(time_unit),
        float(address_unit),
        np.full(shape, np.nan),
    )
    return HeatMap(
        t0 + np.arange(rows) * time_unit,
        np.uint64(a0) + np.arange(columns, dtype=np.uint64) * np.uint64(address_unit),
        heat,
        "Hz" if known else "samples",
    )


def _offset(address: np.ndarray, base: int) -> np.ndarray:
    """`address` - `base` as floats, below zero where it is."""
    base = np.uint64(base)
    return np.where(address >= base, address - base, 0) - np.where(
        address < base, base - address, 0
    ).astype(np.float64)


@numba.njit(cache=True)
def _paint(begin, end, low, high, rate, time_unit, address_unit, heat):
    """Add each rectangle of time and address to the pixels that it touches."""
    rows, columns = heat.shape
    area = time_unit * address_unit
    for r in range(len(rate)):
        if high[r] < 0 or address_unit * columns < low[r]:
            continue
        # Clipped while still a float, for int64 is too small for what a hostile file holds.
        top = max(np.trunc(begin[r] / time_unit), 0.0)
        bottom = min(np.trunc(end[r] / time_unit), rows - 1.0)
        left = max(np.trunc(low[r] / address_unit), 0.0)
        right = min(np.trunc(high[r] / address_unit), columns - 1.0)
        for i in range(int(top), int(bottom) + 1):
            time = min(end[r], (i + 1) * time_unit) - max(begin[r], i * time_unit)
            for j in range(int(left), int(right) + 1):
                size = min(high[r], (j + 1) * address_unit) - max(low[r], j * address_unit)
                if np.isnan(heat[i, j]):
                    heat[i, j] = 0.0
                heat[i, j] += rate[r] * time * size / area
    return heat


QUARTERS = [0, 25, 50, 75, 100]


def windows(recording: Recording) -> pd.DataFrame:
    """One row a snapshot.

    Returns
    -------
    DataFrame
        Columns `snapshot` (from 0), `time` (s, end of the window from the begin of the first),
        `working_set` (bytes), `regions`.
    """
    return pd.DataFrame(
        {
            "snapshot": np.arange(len(recording.end)),
            "time": (recording.end - recording.start[0]) / 1e9,
            "working_set": working_set(recording),
            "regions": nr_regions(recording),
        }
    )


def summary(recordings: list[Recording]) -> pd.DataFrame:
    """What there is to say of each target in a few figures.

    Returns
    -------
    DataFrame
        Columns target, quantity, percentile (empty for a single figure), unit, value; before them
        `of`, if the file has records of several kdamonds, contexts, schemes or windows. The
        distributions leave out the first `SKIPPED` snapshots, as damo does, and are missing
        where the recording is no longer than that. Of regions that a scheme tried, those of the
        last snapshot are told as `damo report access` does.
    """
    rows = []
    whose = []
    for one in recordings:
        begin, end = int(one.start[0]), int(one.end[-1])
        rows.append((one.target, "snapshots", "", "snapshots", len(one.end)))
        rows.append((one.target, "recorded time", "", "s", (end - begin) / 1e9))
        for number, (low, high) in enumerate(contiguous(one)):
            rows.append((one.target, f"range {number} start", "", "address", low))
            rows.append((one.target, f"range {number} size", "", "bytes", high - low))
        if one.target == NO_TARGET:
            rows += _last(one)
        for name, unit, values in (
            ("working set", "bytes", working_set(one)[SKIPPED:]),
            ("regions", "regions", nr_regions(one)[SKIPPED:]),
        ):
            if len(values):
                taken = zip(QUARTERS, percentiles(values, QUARTERS), strict=True)
                rows += [(one.target, name, at, unit, value) for at, value in taken]
        whose += [one.of] * (len(rows) - len(whose))
    columns = ["target", "quantity", "percentile", "unit", "value"]
    table = pd.DataFrame(rows, columns=columns, dtype=object)
    if any(whose):
        table.insert(0, "of", whose)
    return table


def _last(one: Recording) -> list[tuple]:
    """Rows of `summary` for the last snapshot of tried regions."""
    last = len(one.end) - 1
    rows = [(one.target, "passed filters", "", "bytes", int(access.passed(one)[last]))]
    for row in access.percentiles(one).query("snapshot == @last").itertuples():
        name = f"{row.quantity}, {row.over} bytes"
        rows.append((one.target, name, row.percentile, row.unit, row.value))
    return rows

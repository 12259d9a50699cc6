"""What `damo report access` says of each snapshot: how long memory is idle, how hot it is.

Its names and its arithmetic are damo's (damo_report_access.py of 3.4.3). A *temperature* is 100 for
each per cent of the samples that found a region accessed and 100 for each microsecond of its age,
negative where none did. An *idle time* is zero where one did, else the age and one more window.
Both are distributed over bytes: over all, or over those that passed the filters of the scheme.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from lorelab.damon.recording.recording import Recording

PERCENTILES = (0, 1, 25, 50, 75, 99, 100)
"""What damo prints (get_percentiles_to_show)."""
BINS = 10
WEIGHT = 100
"""Of accesses and of age in a temperature (--temperature_weights 0 100 100)."""
UNITS = {"idle time": "us", "temperature": ""}
COLUMNS = ["snapshot", "quantity", "over", "unit"]


def percentiles(recording: Recording) -> pd.DataFrame:
    """Idle times and temperatures of each snapshot, at damo's percentiles of bytes.

    Returns
    -------
    DataFrame
        Columns `snapshot` (from 0), `quantity` (idle time or temperature), `over` (all bytes, or
        those that passed the filters), `unit`, `percentile`, `value`.
    """
    rows = [
        (*key, percentile, value)
        for key, metric, size in _each(recording)
        for percentile, value in at_percentiles(metric, size)
    ]
    return pd.DataFrame(rows, columns=[*COLUMNS, "percentile", "value"])


def histograms(recording: Recording) -> pd.DataFrame:
    """Bytes by idle time and by temperature of each snapshot, in damo's ten ranges.

    Returns
    -------
    DataFrame
        Columns `snapshot`, `quantity`, `over` and `unit` as `percentiles`, `low` and `high` (of a
        range, without its end), `bytes`.
    """
    rows = [
        (*key, low, high, bytes_)
        for key, metric, size in _each(recording)
        for low, high, bytes_ in histogram(metric, size)
    ]
    return pd.DataFrame(rows, columns=[*COLUMNS, "low", "high", "bytes"])


def at_percentiles(metric: list[float], size: list[int]) -> list[tuple[int, float]]:
    """damo's get_percentile_values: the metric of the region in which a share of bytes is reached.

    Shares are added up as floats, region by region, as damo adds them; so the last may miss 100.
    """
    order = sorted(range(len(metric)), key=metric.__getitem__)
    total, reached, left = sum(size), 0.0, list(PERCENTILES)
    values = []
    for region in order:
        reached += size[region] * 100 / total
        while left and left[0] <= reached:
            values.append((left.pop(0), metric[region]))
        if reached >= 100.0:
            break
    if 100 in left:
        values.append((100, metric[region]))
    return values


def histogram(metric: list[float], size: list[int]) -> list[tuple[float, float, int]]:
    """damo's get_linearscale_hist_ranges: ten ranges of one whole width from the smallest on."""
    smallest = min(metric)
    width = max(math.ceil((max(metric) + 1 - smallest) / BINS), 1)
    sums = [0] * BINS
    for at, bytes_ in zip(metric, size, strict=True):
        sums[int((at - smallest) // width)] += bytes_
    return [(smallest + width * n, smallest + width * (n + 1), sums[n]) for n in range(BINS)]


def passed(recording: Recording) -> np.ndarray:
    """Bytes that passed the filters in each snapshot; (n,) uint64."""
    return np.array([sum(one) for _, _, one in _snapshots(recording)], np.uint64)


def _each(recording: Recording) -> Iterator[tuple[tuple, list[float], list[int]]]:
    """Each distribution that there is: its key, the metric of each region, and its bytes."""
    if recording.intervals is None:
        return  # neither shares nor times are known
    for number, (metrics, every, those) in enumerate(_snapshots(recording)):
        over = {"all": every} | ({"passed": those} if any(those) else {})
        for quantity, metric in metrics.items():
            for name, size in over.items():
                if metric:
                    yield (number, quantity, name, UNITS[quantity]), metric, size


def _snapshots(
    recording: Recording,
) -> Iterator[tuple[dict[str, list[float]], list[int], list[int]]]:
    """Metrics, bytes and bytes passed of the regions of each snapshot, as Python's own numbers."""
    hot = recording.percent > 0
    window = np.repeat(recording.aggr_us, np.diff(recording.first))
    score = (recording.percent + recording.age_us) * WEIGHT
    columns = {
        "idle time": np.where(hot, 0, recording.age_us + window),
        "temperature": np.where(hot, score, 0.0 - score),  # -score is -0.0 of a new region
    }
    size = (recording.high - recording.low).tolist()
    those = recording.passed.tolist()
    lists = {name: values.tolist() for name, values in columns.items()}
    for a, b in zip(recording.first[:-1].tolist(), recording.first[1:].tolist(), strict=True):
        yield {name: values[a:b] for name, values in lists.items()}, size[a:b], those[a:b]

"""Probes: bcc programs of lib/kernel/*/probes, and what they say as tables.

A probe counts in a kernel that need not be patched. `guest/probe.py` loads it; here it is found,
and its counters and event streams become the tables that everything else has.
"""

import re
from pathlib import Path
from typing import Any

import pandas as pd

from lorelab.counters import COLUMNS
from lorelab.errors import BadInput, RunFailed
from lorelab.lab import cache


def source(name: str, design: str | None) -> Path:
    """The file of a probe that all designs have or one, or BadInput with the names there are."""
    known = {file.stem: file for file in cache.files(design, "probes/*.c")}
    if name not in known:
        raise BadInput(
            f"unknown probe {name}: takes one of {', '.join(sorted(known))} (lib/kernel/*/probes)"
        )
    return known[name]


def streams(file: Path) -> list[str]:
    """The event streams of a probe."""
    return re.findall(r"^BPF_RINGBUF_OUTPUT\((\w+)", file.read_text(), re.MULTILINE)


def counters(name: str, variant: str, frames: list[dict[str, Any]]) -> pd.DataFrame:
    """Lay out what probes counted as one tidy table (see `lorelab.counters`).

    Parameters
    ----------
    name : str
        Experiment as `design/experiment`.
    variant : str
        Label of the variant that ran.
    frames : list of dict
        `Outcome.probes` or `Measured.probes`.

    Returns
    -------
    DataFrame
        Counter `PROBE.MAP`, or `PROBE.MAP_KEY` where the map has several; `step` is 0, or the
        lowest value of a histogram's bucket, which holds the values below twice that. Counts of 0
        are left out. `PROBE.lost` is always there: events and calls that the probe missed.

    Examples
    --------
    >>> frame = {"probe": "slots", "counters": [("taken", 0, "slots", 5)], "lost": 0}
    >>> counters("swap/tiny", "v6.12", [frame])[["counter", "step", "unit", "value"]]
           counter  step    unit  value
    0   slots.lost     0  events      0
    1  slots.taken     0   slots      5
    """
    design, experiment = name.split("/")
    rows = []
    for frame in frames:
        for counter, step, unit, value in frame.get("counters", ()):
            rows.append((f"{frame['probe']}.{counter}", step, unit, value))
        if "lost" in frame:
            rows.append((f"{frame['probe']}.lost", 0, "events", frame["lost"]))
    rows.sort()
    return pd.DataFrame(
        [
            (design, experiment, variant, "kernel", step, counter, unit, value)
            for counter, step, unit, value in rows
        ],
        columns=COLUMNS,
    )


def counted(values: pd.Series, counter: str) -> int | None:
    """What a probe counted of a record: 0 where it ran and saw none, None where it did not run.

    Parameters
    ----------
    values : Series
        Values by counter, of a record that has what `counters` gives.
    counter : str
        As `PROBE.MAP`.

    Examples
    --------
    >>> values = pd.Series({"slots.lost": 0, "slots.taken": 5})
    >>> [counted(values, name) for name in ("slots.taken", "slots.freed", "zones.slow")]
    [5, 0, None]
    """
    ran = f"{counter.partition('.')[0]}.lost" in values.index
    return int(values.get(counter, 0)) if ran else None


def events(frames: list[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """Event streams by `PROBE.STREAM`, one row an event in the order they happened.

    Examples
    --------
    >>> frame = {"probe": "slots", "stream": "taken", "fields": ["cpu", "slot"], "rows": [[0, 5]]}
    >>> events([frame, frame])["slots.taken"]
       cpu  slot
    0    0     5
    1    0     5
    """
    streams: dict[str, list[pd.DataFrame]] = {}
    for frame in frames:
        if "stream" in frame:
            part = pd.DataFrame(frame["rows"], columns=frame["fields"])
            streams.setdefault(f"{frame['probe']}.{frame['stream']}", []).append(part)
    return {name: pd.concat(parts, ignore_index=True) for name, parts in streams.items()}


def lost(frames: list[dict[str, Any]]) -> dict[str, int]:
    """What each probe missed, where it missed anything.

    Examples
    --------
    >>> lost([{"probe": "slots", "lost": 3}, {"probe": "folios", "lost": 0}])
    {'slots': 3}
    """
    return {frame["probe"]: frame["lost"] for frame in frames if frame.get("lost")}


def check_whole(name: str, frames: list[dict[str, Any]]) -> None:
    """Raise RunFailed where a probe of an experiment missed something: its counts are too low."""
    if missed := lost(frames):
        raise RunFailed(f"{name}: probes missed events, so that nothing is whole: {missed}")

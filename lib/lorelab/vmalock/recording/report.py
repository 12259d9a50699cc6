"""Who waited for whom at mmap_lock, how long, and who held it."""

from typing import NamedTuple

import pandas as pd

from lorelab.vmalock.recording.recording import (
    DROPS,
    HAS,
    LOST,
    LOST_SOMEWHERE,
    STARTS,
    UNKNOWN,
    Event,
)

SHORT = 1000
"""A wait below that is the lock's own work and the tracepoints', not a wait [ns]."""
WAITS = ["comm", "tid", "call", "kind", "wait", "got", "holder", "holder_call", "holder_kind"]
KEYS = ["comm", "call", "kind", "holder", "holder_call", "holder_kind"]
FIGURES = ["taken", "waits", "total", "median", "p99", "most"]
LACKS = {
    STARTS: "no wait is known",
    HAS: "no wait and no hold is known",
    DROPS: "no hold is known, and holders are left blank",
}

LARGER = "record with larger buffers (perf record -m 16M)"


class Held(NamedTuple):
    """Who has an mm's lock."""

    since: int
    write: bool
    comm: str
    call: str


def waits(events: list[Event]) -> pd.DataFrame:
    """Every time that a thread took mmap_lock.

    Left out is a wait across lost events: among them may be its end, and the begin of another.

    Returns
    -------
    DataFrame
        Columns `comm`, `tid`, `call`, `kind` (read or write), `wait` (ns), `got` (False for a
        trylock that failed), and of who held it as the wait began, a writer before readers,
        `holder`, `holder_call` and `holder_kind`; empty where nobody was seen to, and in a
        recording that does not say who let go.
    """
    releases = any(event.what == DROPS for event in events)
    begun: dict[tuple[int, str], tuple[Event, Held | None]] = {}
    held: dict[str, dict[int, Held]] = {}
    rows = []
    for event in events:
        if event.what == LOST:
            begun.clear()
            held.clear()
        if event.what not in (STARTS, HAS, DROPS):
            continue
        holders = held.setdefault(event.mm, {})
        key = (event.tid, event.mm)
        if event.what == STARTS:
            holders.pop(event.tid, None)  # what it still seemed to hold, another thread let go of
            before = min(holders.values(), key=lambda one: (not one.write, one.since), default=None)
            begun[key] = event, before if releases else None
        elif event.what == HAS:
            start, before = begun.pop(key, (None, None))
            if event.success:
                _admit(holders, event)
            if start is None:
                continue  # it was recorded from the middle, or a writer became a reader
            rows.append(
                {
                    "comm": event.comm,
                    "tid": event.tid,
                    "call": start.call or event.call,
                    "kind": "write" if event.write else "read",
                    "wait": event.ns - start.ns,
                    "got": event.success,
                    "holder": before.comm if before else "",
                    "holder_call": before.call if before else "",
                    "holder_kind": ("write" if before.write else "read") if before else "",
                }
            )
        elif event.what == DROPS:
            holders.pop(event.tid, None)
    return pd.DataFrame(rows, columns=WAITS)


def _admit(holders: dict[int, Held], event: Event) -> None:
    """Make a thread a holder: a writer is alone, and no writer is beside a reader."""
    for tid in [tid for tid, one in holders.items() if event.write or one.write]:
        del holders[tid]
    holders[event.tid] = Held(event.ns, event.write, event.comm, event.call)


def holds(events: list[Event]) -> pd.DataFrame:
    """Every time that mmap_lock was held; a writer that becomes a reader holds it twice.

    Returns
    -------
    DataFrame
        Columns `comm`, `tid`, `call`, `kind` and `held` (ns); empty where the recording does not
        say who let go.
    """
    held: dict[tuple[int, str], Held] = {}
    rows = []
    releases = any(event.what == DROPS for event in events)
    for event in events if releases else []:
        key = (event.tid, event.mm)
        if event.what == LOST:
            held.clear()
        if event.what not in (STARTS, HAS, DROPS):
            continue
        if event.what == STARTS:
            held.pop(key, None)  # another thread let go of it, unseen
            continue
        if not event.success:
            continue
        if before := held.pop(key, None):
            kind = "write" if before.write else "read"
            rows.append((before.comm, event.tid, before.call, kind, event.ns - before.since))
        if event.what == HAS:
            held[key] = Held(event.ns, event.write, event.comm, event.call)
    return pd.DataFrame(rows, columns=["comm", "tid", "call", "kind", "held"])


def summary(events: list[Event]) -> pd.DataFrame:
    """Waits of `SHORT` and more, by who waited and for whom.

    Returns
    -------
    DataFrame
        Columns `comm`, `call`, `kind`, `holder`, `holder_call`, `holder_kind`, then `taken`, the
        times that the lock was taken so, `waits`, and of these `total`, `median`, `p99` and `most`
        (ns); the longest total first.
    """
    rows = []
    for names, group in waits(events).groupby(KEYS, sort=True):
        long = group.loc[group["wait"] >= SHORT, "wait"]
        figures = {
            "taken": len(group),
            "waits": len(long),
            "total": int(long.sum()),
            "median": int(long.quantile(0.5, interpolation="lower")) if len(long) else 0,
            "p99": int(long.quantile(0.99, interpolation="lower")) if len(long) else 0,
            "most": int(long.max()) if len(long) else 0,
        }
        rows.append(dict(zip(KEYS, names, strict=True)) | figures)
    table = pd.DataFrame(rows, columns=[*KEYS, *FIGURES])
    return table.sort_values(["total", *KEYS], ascending=[False, *[True] * 6], ignore_index=True)


def gaps(events: list[Event]) -> list[str]:
    """What the recording leaves out, and what is not known for that reason; a sentence each."""
    recorded = {event.what for event in events}
    sentences = [
        f"mmap_lock_{what} was not recorded: {lack}"
        for what, lack in LACKS.items()
        if what not in recorded
    ]
    if losses := sum(event.what == LOST for event in events):
        places = f"{losses} place{'s' * (losses > 1)}"
        sentences.append(
            f"events were lost in {places}: holders are left blank from there until the next event "
            f"shows one, and waits that had begun there are left out ({_across(events)}); {LARGER}"
        )
    if any(event.what == LOST_SOMEWHERE for event in events):
        sentences.append(
            "events were lost, and the file does not say where: any of these waits and holders may "
            f"be wrong; {LARGER}, and print with perf script --show-lost-events"
        )
    if unknown := sum(event.what == UNKNOWN for event in events):
        sentences.append(
            f"events of threads 0 and -1 are left out ({unknown}), as perf writes for threads of "
            "another PID namespace and for ended ones: their waits are not known, and where they "
            "held the lock the holder is blank; record in the host's namespace"
        )
    return sentences


def _across(events: list[Event]) -> int:
    """Waits that had begun, and not ended, where events were lost."""
    begun: set[tuple[int, str]] = set()
    number = 0
    for event in events:
        if event.what == LOST:
            number += len(begun)
            begun.clear()
        elif event.what == STARTS:
            begun.add((event.tid, event.mm))
        elif event.what == HAS:
            begun.discard((event.tid, event.mm))
    return number


def histogram(times: pd.Series) -> pd.DataFrame:
    """Times by powers of two: `from` (ns, 0 for less than 1) and `times`; empty ones left out."""
    octaves = times.map(lambda ns: 1 << int(ns).bit_length() >> 1)
    return octaves.value_counts().sort_index().rename_axis("from").reset_index(name="times")

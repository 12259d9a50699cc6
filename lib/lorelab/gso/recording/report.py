"""What a recording says: how many packets were copied after all, and where."""

from collections import Counter

import pandas as pd

from lorelab.gso.recording.recording import SENDERS, Event, Recording

UNKNOWN = "(no stack)"
CONTEXTS = 3
"""A task's call that a soft interrupt interrupts, and that an interrupt."""


def summary(recording: Recording) -> pd.DataFrame:
    """Packets and copies.

    Returns
    -------
    DataFrame
        `what`, `where`, `value`, `unit`: for each kind of sender the packets that were completed,
        how many of them were copied, and the calls that completed them; then by the function that
        called skb_copy_ubufs() its calls, and the bytes they copied.
    """
    rows = []
    for kind, sender in SENDERS.items():
        if kind not in recording.watched:
            continue
        events = [event for event in recording.events if event.what in (kind, f"{kind}_end")]
        done = finished(events)
        events = [event for event in events if event.what == kind]
        rows += [
            ("completed", sender, len(done), "packets"),
            ("copied after all", sender, sum(done), "packets"),
            ("completions", sender, len(events), "calls"),
            ("completions that say copied", sender, sum(not e.fields["sent"] for e in events),
             "calls"),
        ]  # fmt: skip
    copies = [event for event in recording.events if event.what == "copied"]
    calls = Counter(_where(event) for event in copies)
    sizes: Counter[str] = Counter()
    for event in copies:
        sizes[_where(event)] += event.fields.get("bytes", 0)
    for where, number in calls.most_common():
        rows.append(("copies", where, number, "calls"))
        if all("bytes" in event.fields for event in copies):
            rows.append(("copied", where, sizes[where], "bytes"))
    return pd.DataFrame(rows, columns=["what", "where", "value", "unit"])


def finished(events: list[Event]) -> list[bool]:
    """For each packet whose last completion is there: whether any of it was copied.

    A completion's `left` is read before it gives its reference back, so that two CPUs at once may
    read the same. It is counted down here instead: it is believed where it is more than the count
    by more than the calls that have not returned yet, for then references were taken meanwhile.

    Of MSG_ZEROCOPY the kernel's own bit counts too, which has what came before the recording, and
    packets that send() copied itself. Those of an aborted send, of which nobody is told, are left
    out.

    Parameters
    ----------
    events : list of Event
        Completions of one kind of sender, and their returns where those were recorded.
    """
    returns = any(event.what.endswith("_end") for event in events)
    packets: dict[int, tuple[int, bool]] = {}
    running: dict[tuple[str, str], list[int]] = {}
    done = []
    for event in events:
        runner = _runner(event)
        if event.what.endswith("_end"):
            if running.get(runner):
                running[runner].pop()
            continue
        fields = event.fields
        packet, left = fields["packet"], fields["left"]
        count, copied = packets.get(packet, (left, False))
        others = sum(calls.count(packet) for calls in running.values())
        if not count < left <= count + others:
            count = left
        if returns:
            running[runner] = [*running.get(runner, [])[1 - CONTEXTS :], packet]
        copied = copied or not fields["sent"]
        packets[packet] = count - 1, copied
        if count > 1:
            continue
        del packets[packet]
        if fields.get("sends", 1):
            done.append(copied or not fields.get("zerocopy", 1) & 1)
    return done


def _runner(event: Event) -> tuple[str, str]:
    """What a call and its return have in common: a task may move, and each CPU has an idle one."""
    task, cpu = event.runner
    return task, cpu if task == "0" else ""


def _where(event: Event) -> str:
    return event.stack[0] if event.stack else UNKNOWN

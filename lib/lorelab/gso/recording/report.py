"""What a recording says: how many packets were copied after all, and where."""

from collections import Counter

import pandas as pd

from lorelab.gso.recording.recording import Event, Recording

UNKNOWN = "(no stack)"
SENDERS = {"done": "MSG_ZEROCOPY", "vhost": "vhost-net"}


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
        events = [event for event in recording.events if event.what == kind]
        done = finished(events)
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

    Of MSG_ZEROCOPY the kernel's own bit counts too, which has what came before the recording, and
    packets that send() copied itself. Those of an aborted send, of which nobody is told, are left
    out.
    """
    copied: dict[int, bool] = {}
    done = []
    for event in events:
        said = event.fields
        packet = said["packet"]
        copied[packet] = copied.get(packet, False) or not said["sent"]
        if said["left"] != 1:
            continue
        any_copy = copied.pop(packet) or not said.get("zerocopy", 1) & 1
        if said.get("sends", 1):
            done.append(any_copy)
    return done


def _where(event: Event) -> str:
    return event.stack[0] if event.stack else UNKNOWN

"""Read what `record.sh` records: the kernel's own trace of zero-copy packets.

    lorelab gso --script > record.sh; sh record.sh 10 > FILE

A line is a call of skb_copy_ubufs(), with the functions it was called from below it, or of the
function that completes a packet, or its return: for MSG_ZEROCOPY one call for each segment and one
for the packet they were cut from. A packet is known by the address of its ubuf_info, up to the
completion that leaves no reference; then the address may come again.
"""

import re
from pathlib import Path
from typing import NamedTuple

from lorelab import user_text
from lorelab.errors import BadInput

SCRIPT = Path(__file__).with_name("record.sh")
THREAD = r"^.*-(?P<task>\d+) +(?:(?:\([ \d-]+\) +)?\[(?P<cpu>\d+)\]|(?P<cpu_>\d+)[\w.#]{4,}) "
"""With the column of the option record-tgid, or without; or as the option latency-format has it.
A name may be of blanks, or end its line."""
TIME = r"\d+(?:\.\d{6}|us[ !+#*@$]?)?: +"
"""Of a clock in seconds, of one that counts, or of latency-format with its mark of a delay."""
SENDERS = {
    "done": "MSG_ZEROCOPY",
    "vhost": "vhost-net",
    "uring": "io_uring",
    "packet": "AF_PACKET's ring",
}
"""Completions, and whose."""
WHAT = f"copied|(?:{'|'.join(SENDERS)})(?:_end)?"
PLACE = r"[\w.]+\+0x[0-9a-f]+(?:/0x[0-9a-f]+)?(?: \[\w+\])?(?: <- [\w.]+(?: \[\w+\])?)?"
EVENT = re.compile(rf"{THREAD}.*?{TIME}(?P<what>{WHAT}): \({PLACE}\)(?P<fields>(?: \w+=\w+)*)$")
OURS = re.compile(rf": +(?:{WHAT}): ")
STACK = re.compile(THREAD + r".*: <stack trace>$")
FRAME = re.compile(r"^ => (?P<function>[\w.]+)")
RELEASE = re.compile(r"^# (?P<release>(?P<major>\d+)\.(?P<minor>\d+)\S*), ")
SINCE = (6, 1)
"""Before it struct ubuf_info had other offsets (e7d2b510165f, "net: shrink struct ubuf_info")."""
LOST = re.compile(r"^CPU:\d+ \[LOST (?:(?P<events>\d+) )?EVENTS\]")
COMPLETION = ("packet", "sent", "left")
FIELDS = {kind: COMPLETION for kind in SENDERS} | {"done": (*COMPLETION, "sends", "zerocopy")}
COPY = "skb_copy_ubufs"
END = "# end"
MARGIN = re.compile(r"[\s|]+")
HOW = "make one as root with: lorelab gso --script > record.sh; sh record.sh 10 > FILE"


class Event(NamedTuple):
    """One call, or the return of one."""

    what: str
    """`copied`, a completion as in `SENDERS`, or its return, `..._end`."""
    fields: dict[str, int]
    runner: tuple[str, str] = ("", "")
    """Task and CPU."""
    stack: tuple[str, ...] = ()
    """Of a copy: functions that called skb_copy_ubufs(), the innermost first."""


class Recording(NamedTuple):
    """A whole recording."""

    events: list[Event]
    watched: frozenset[str]
    """Events that the kernel could be asked for."""
    lost: int
    """Events that the kernel had no room for, at least."""


def read(file: Path) -> Recording:
    """The events of a recording, in its order; other events of the kernel are passed over.

    Raises
    ------
    BadInput
        The file can't be read, is no such recording, or was cut off.
    """
    text = user_text.read(file, HOW).rstrip()
    lines = _flush(_up_to_the_end([line.rstrip() for line in text.split("\n")]))
    watched = frozenset(line.removeprefix("# watches ") for line in lines if "# watches " in line)
    if "copied" not in watched:
        raise BadInput(f"{file} is no recording of zero-copy packets; {HOW}")
    if lines[-1] != END:
        raise BadInput(f"{file} was cut off: its last line is not `{END}`; record it again")
    if (number := max(lines.count(END), lines.count("# watches copied"))) > 1:
        raise BadInput(f"{file} has {number} recordings; give each its own file")
    _check_release(lines, file)
    events: list[Event] = []
    lost = 0
    below = False
    for number, line in enumerate(lines, 1):
        if matched := EVENT.match(line):
            runner = matched["task"], matched["cpu"] or matched["cpu_"]
            events.append(Event(matched["what"], _fields(matched, file, number), runner))
            below = False
        elif OURS.search(line):
            raise BadInput(f"{file}, line {number}: no event as record.sh records it")
        elif STACK.match(line):
            below = bool(events) and events[-1].what == "copied" and not events[-1].stack
        elif (frame := FRAME.match(line)) and below:
            events[-1] = events[-1]._replace(stack=(*events[-1].stack, frame["function"]))
        elif more := LOST.match(line):
            lost += int(more["events"] or 1)
    return Recording([_callers(event) for event in events], watched, lost)


def _up_to_the_end(lines: list[str]) -> list[str]:
    """The lines without what stands below the last `END`, as of a report that they were put into.

    All of them, if that is a part of another recording.
    """
    last = max((n for n, line in enumerate(lines) if line.endswith(END)), default=-1)
    below = lines[last + 1 :]
    return lines if last < 0 or any(map(OURS.search, below)) else lines[: last + 1]


def _flush(lines: list[str]) -> list[str]:
    """The lines without what a mail or an editor put before each, as it did before the last."""
    margin = lines[-1].removesuffix(END)
    return [line.removeprefix(margin) for line in lines] if MARGIN.fullmatch(margin) else lines


def _check_release(lines: list[str], file: Path) -> None:
    """Refuse a recording of a kernel whose offsets are not those that record.sh reads at."""
    of = next(filter(None, map(RELEASE.match, lines)), None)
    if of and (int(of["major"]), int(of["minor"])) < SINCE:
        raise BadInput(
            f"{file} was recorded on {of['release']}, whose struct ubuf_info has other offsets; "
            "takes 6.1 or later"
        )


def _fields(matched: re.Match[str], file: Path, number: int) -> dict[str, int]:
    what = matched["what"]
    fields = {}
    for pair in matched["fields"].split():
        name, _, value = pair.partition("=")
        try:
            fields[name] = int(value, 0)
        except ValueError:
            raise BadInput(f"{file}, line {number}: {pair} is no number") from None
    missing = [name for name in FIELDS.get(what, ()) if name not in fields]
    if missing:
        raise BadInput(f"{file}, line {number}: {what} lacks {', '.join(missing)}")
    return fields


def _callers(event: Event) -> Event:
    """Leave out of a stack what traced the call, and the call itself."""
    stack = event.stack
    if COPY in stack:
        stack = stack[stack.index(COPY) + 1 :]
    return event._replace(stack=stack)

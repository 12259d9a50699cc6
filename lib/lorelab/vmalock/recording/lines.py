"""Lines of a trace as `perf script`, `trace-cmd report` and ftrace print them.

An event begins with the thread, the CPU and the time. What stands between them depends on the tool
and its options, and a thread's name may hold blanks, digits and colons. So the time is searched for
first, and what precedes it is read from its end.
"""

import re
from typing import NamedTuple

from lorelab import user_text

TIME = re.compile(
    r"^(?P<thread>.*?)\s(?:(?P<seconds>\d+)\.(?P<fraction>\d{6,9})|(?P<us>\d+)us[ $@*#!+]):\s+"
    r"(?:\d+\s+|\([+-]\d+\)\s+)?(?P<event>\D.*)$"
)
"""Seconds, or microseconds since the trace began (ftrace's latency-format); then the period (perf
script -F period) or the time since the last event (trace-cmd report --ts-diff)."""
COUNT = re.compile(r"\S\s+\d+:\s+(?:mmap_lock:)?mmap_lock_\w+:\s")
"""A time of a clock that counts, or one that trace-cmd left as it was."""
LONGEST_NAME = 15
"""Characters at most of a thread's name, which has so many bytes (TASK_COMM_LEN)."""
WIDTHS = {2: 16, 3: 8}
"""Bytes of a name in a line of the patterns that `trace-cmd report` prints, without and with -l."""
THREADS = [
    # perf script, of a thread that has ended.
    re.compile(r"^\s*(?P<comm>(?::-1\s+)?)(?:-1/)?(?P<tid>-1)(?:\s+\[\d+\])?(?:\s+[A-Za-z?]+)?$"),
    # perf script; the last number but for the CPU is the thread, whatever the name ends in.
    re.compile(r"^\s*(?P<comm>.*?)\s+(?:\d+/)?(?P<tid>\d+)\s+\[\d+\](?:\s+[A-Za-z?]+)?$"),
    # ftrace and trace-cmd, with the columns of the options record-tgid and irq-info.
    re.compile(r"^\s*(?P<comm>.*)-(?P<tid>\d+)\s+(?:\([\s\d-]+\)\s+)?\[\d+\](?:\s+\S{4,7})?$"),
    # The same with latency-format, and trace-cmd report -l: the flags follow the CPU at once.
    re.compile(r"^\s*(?P<comm>.*)-(?P<tid>\d+)\s+\d+[.a-zA-Z]\S{3,6}$"),
    # perf script -L: names are cut to 8 bytes, and the CPU has no brackets.
    re.compile(r"^(?P<comm>(?=.{0,7}\S).{8}) +(?:\d+/)?(?P<tid>\d+) +\d+$"),
    # perf script -F without cpu.
    re.compile(r"^\s*(?P<comm>.*?)\s*(?<!\S)(?:\d+/)?(?P<tid>\d+)(?:\s+[A-Za-z?]+)?$"),
    re.compile(r"^\s*(?P<comm>.*)-(?P<tid>\d+)$"),
]
TIME_OF_DAY = re.compile(r"\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+$")
FRAME = re.compile(r"^(?:\s*=> +|\s+[0-9a-f]+ )(?P<symbol>(?!0x|\[unknown\])[^\s+(<]+)")
LOST, LOST_HERE = re.compile(user_text.LOST), re.compile(user_text.LOST_HERE)
OF_A_BUFFER = re.compile(r"^ *(?P<file>\S.*?): +CPU:\d+ \[")
"""trace-cmd: a file is named before what is said of its buffer, and not before the event below."""
ENTRIES = re.compile(r"^# (?:entries-in-buffer/entries-written: |latency: .*?#)(\d+)/(\d+)\b")
"""ftrace: events that are left in the buffers, and all that there were. Each CPU's buffer has its
own oldest event."""
STACK = re.compile(r"^(?:kernel_stack:\s|<stack trace>)")
"""Of trace-cmd and of ftrace; functions follow."""


class Head(NamedTuple):
    """What each event begins with."""

    ns: int
    comm: str
    tid: int
    event: str
    """The rest of the line: the event's name and its fields."""
    file: str = ""
    """File or buffer, where `trace-cmd report` printed several, or one beside the main buffer."""


def head(line: str) -> Head | None:
    """An event's thread and time; None where the line has none."""
    if (time := TIME.match(line)) is None:
        return None
    thread = TIME_OF_DAY.sub("", time["thread"].rstrip())
    match = next(
        ((n, it) for n, pattern in enumerate(THREADS) if (it := pattern.match(thread))), None
    )
    if match is None:
        return None
    number, matched = match
    file, comm = _file(matched["comm"], WIDTHS.get(number, 0))
    if time["us"]:
        ns = int(time["us"]) * 1000
    else:
        ns = int(time["seconds"]) * 10**9 + int(time["fraction"].ljust(9, "0"))
    return Head(ns, comm.strip(), int(matched["tid"]), time["event"], file)


def _file(field: str, width: int) -> tuple[str, str]:
    """What stands before a thread's name, `FILE: `, and the name, filled up to `width` bytes."""
    for colon in re.finditer(": ", field):
        file, comm = field[: colon.start()].strip(), field[colon.end() :]
        if file and len(comm) <= width <= len(comm.encode()):
            return file, comm
    return "", field


def lost(line: str) -> str:
    """Whether a line says that events are missing: `here`, `somewhere` or, empty, not."""
    if LOST_HERE.search(line):
        return "here"
    if LOST.search(line):
        return "somewhere"
    entries = ENTRIES.match(line)
    return "somewhere" if entries is not None and entries[1] != entries[2] else ""

"""Read traces of the mmap_lock tracepoints, as text of perf script, trace-cmd report or ftrace.

    perf record -e 'mmap_lock:*' -ag -- sleep 10; perf script > FILE
    trace-cmd record -e mmap_lock -T sleep 10; trace-cmd report > FILE

An event is one line, with its callchain below it if one was recorded. A thread says when it starts
to take an mm's mmap_lock, when it has it or has given up, and when it drops it; a writer that
becomes a reader says that it has it for reading.
"""

import re
from pathlib import Path
from typing import NamedTuple

from lorelab import user_text
from lorelab.errors import BadInput
from lorelab.vmalock.recording import lines
from lorelab.vmalock.recording.lines import Head

EVENT = re.compile(
    r"^(?:mmap_lock:)?mmap_lock_(?P<what>\w+):\s+mm=(?P<mm>\S+) (?:.* )?"
    r"write=(?P<write>true|false|[01])(?: success=(?P<success>true|false|[01]))?(?!\S)"
)
OURS = re.compile(r"(?:^|\s)(?:mmap_lock:mmap_lock_\w+:|mmap_lock_\w+:\s+mm=)")
NAMED = re.compile(r"\bmmap_lock_(?:start_locking|acquire_returned|released)\b")
"""In any form: of perf trace, bpftrace, perf data convert --to-json."""
SYSCALL = re.compile(
    r"^\.?(?:__(?:x64|x32|ia32|arm64|riscv|s390x?|se|do)_)?(?:compat_)?(?:sys|SyS)_(?P<name>\w+)"
)
"""Powerpc and kernels before 4.17 have no wrapper of an architecture's own."""
FAULTS = {
    "lock_mm_and_find_vma",  # most architectures, since 6.5
    "do_page_fault",
    "__do_page_fault",
    "___do_page_fault",  # powerpc
    "handle_page_fault",  # riscv
    "exc_page_fault",
    "asm_exc_page_fault",
    "do_user_addr_fault",  # x86
    "do_mem_abort",
    "el0_da",
    "el0_ia",  # arm64
    "do_exception",
    "do_dat_exception",  # s390
}
STARTS, HAS, DROPS = "start_locking", "acquire_returned", "released"
LOST, LOST_SOMEWHERE, UNKNOWN = "lost", "lost somewhere", "unknown"
SECOND = 10**9
"""Nothing is recorded so soon after the boot [ns]."""
WHOLE = (
    "print it with perf script -F comm,tid,cpu,time,event,trace or with trace-cmd report, or from "
    "ftrace without its options verbose, fields and raw"
)
COUNTED = (
    "a time that is no seconds; record with a clock in ns (trace_clock local, global or mono, not "
    "counter or x86-tsc), and print without trace-cmd report --raw-ts"
)


class Event(NamedTuple):
    """One event, or (`UNKNOWN`) one whose thread has no number here, or what lacks.

    Of these `LOST` is the place, and `LOST_SOMEWHERE` says that there is one.
    """

    ns: int
    comm: str
    """Its name; of perf script without comm `:TID`, as perf itself has it where it knows none."""
    tid: int
    mm: str
    what: str
    write: bool
    success: bool
    call: str
    """Syscall that the thread is in, or `page fault`; empty without a callchain."""


def read(file: Path) -> list[Event]:
    """The mmap_lock events of a recording, by time; other events are passed over.

    Raises
    ------
    BadInput
        The file can't be read, or is no text with such events.
    """
    text = user_text.read(file, "give what `perf script` or `trace-cmd report` prints of it")
    events: list[Event] = []
    last: dict[int, int] = {}
    frames: list[str] = []
    below = -1
    sources: set[str] = set()
    of_next = ""
    for number, line in enumerate(text.split("\n"), 1):
        if buffer := lines.OF_A_BUFFER.match(line):
            of_next = buffer["file"]
        if place := lines.lost(line):
            what = LOST if place == "here" else LOST_SOMEWHERE
            events.append(Event(events[-1].ns if events else 0, "", -1, "", what, False, False, ""))
        elif head := lines.head(line):
            source, of_next = head.file or of_next, ""
            _name(events, below, frames)
            frames = []
            if lines.STACK.match(head.event):
                below = last.get(head.tid, -1)
            elif event := _event(head, file, number):
                sources.add(source)
                if event.tid < 1:
                    below = -1
                    events += _of_no_thread(event)
                    continue
                below = last[event.tid] = len(events)
                events.append(event)
            else:
                below = -1
                last.pop(head.tid, None)
        elif OURS.search(line):
            why = COUNTED if lines.COUNT.search(line) else f"no thread and time before it; {WHOLE}"
            raise BadInput(f"{file}, line {number}: an event with {why}")
        elif frame := lines.FRAME.match(line):
            frames.append(frame["symbol"])
    _name(events, below, frames)
    if len(sources) > 1:
        names = ", ".join(sorted(name or "one without a name" for name in sources))
        raise BadInput(
            f"{file} has events of several files or buffers ({names}), whose threads and mms may "
            "be those of other machines, or the same twice; give trace-cmd report of one"
        )
    if not sources:
        if NAMED.search(text):
            raise BadInput(
                f"{file} names events of mmap_lock, and no line has a whole one; {WHOLE}"
            )
        raise BadInput(
            f"{file} has no event of mmap_lock; record with: perf record -e 'mmap_lock:*' -ag"
        )
    if not any(event.mm for event in events):
        raise BadInput(
            f"{file} has no thread's number: perf writes 0 for threads of another PID namespace, "
            "and -1 for ended ones; record in the host's namespace"
        )
    return _by_time(events, file)


def _of_no_thread(event: Event) -> list[Event]:
    """What is kept of an event of thread 0 or -1: of a release nothing, for an interrupt may do it.

    Such threads can't be told apart, so their waits and holds are not known.
    """
    return [] if event.what == DROPS else [event._replace(mm="", what=UNKNOWN)]


def _event(head: Head, file: Path, number: int) -> Event | None:
    """The event of a line; None for another tracepoint's."""
    if not OURS.search(head.event):
        return None
    matched = EVENT.match(head.event)
    if matched is None or (matched["what"] == HAS) != (matched["success"] is not None):
        raise BadInput(f"{file}, line {number}: no mmap_lock event, or not all of it; {WHOLE}")
    if len(head.comm) > lines.LONGEST_NAME:
        raise BadInput(
            f"{file}, line {number}: {head.comm!r} is longer than the {lines.LONGEST_NAME} bytes "
            "of a thread's name; give the lines as the tool printed them, with nothing before"
        )
    if matched["mm"].startswith("("):
        raise BadInput(
            f"{file}, line {number}: mm={matched['mm']} stands for any mm: the kernel had no "
            "random number yet to hide addresses with; record later, or boot with no_hash_pointers"
        )
    what = matched["what"]
    if what not in (STARTS, HAS, DROPS):
        raise BadInput(f"{file}, line {number}: mmap_lock has no event mmap_lock_{what}")
    return Event(
        head.ns,
        head.comm or f":{head.tid}",
        head.tid,
        matched["mm"],
        what,
        matched["write"] in ("true", "1"),
        matched["success"] in (None, "true", "1"),
        "",
    )


def _by_time(events: list[Event], file: Path) -> list[Event]:
    """Events in order: a reader of ftrace's pipe may get those of two CPUs out of it."""
    ordered = sorted(events, key=lambda event: event.ns)
    if ordered != events and min(event.ns for event in events if event.mm) < SECOND:
        raise BadInput(f"{file} has times since the event before; omit perf script's --deltatime")
    return ordered


def _name(events: list[Event], at: int, frames: list[str]) -> None:
    if at >= 0 and frames:
        events[at] = events[at]._replace(call=call(frames))


def call(frames: list[str]) -> str:
    """What a thread was doing, by its callchain from the innermost function on."""
    for symbol in frames:
        if matched := SYSCALL.match(symbol):
            return matched["name"]
    if FAULTS & set(frames):
        return "page fault"
    return frames[-1]

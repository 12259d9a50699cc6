"""Read `perf script` text of the mmap_lock tracepoints.

    perf record -e 'mmap_lock:*' -ag -- sleep 10; perf script > FILE

An event is one line, with a blank line and its callchain below it if `-g` was given. A thread says
when it starts to take an mm's mmap_lock, when it has it or has given up, and when it drops it; a
writer that becomes a reader says that it has it for reading.
"""

import re
from pathlib import Path
from typing import NamedTuple

from lorelab.errors import BadInput

EVENT = re.compile(
    r"^\s*(?P<comm>\S.*?)\s+(?:\d+/)?(?P<tid>\d+)\s+(?:\[(?P<cpu>\d+)\]\s+)?(?:\S{4,5}\s+)?"
    r"(?P<seconds>\d+)\.(?P<fraction>\d{6,9}):\s+mmap_lock:mmap_lock_(?P<what>\w+):\s+"
    r"mm=(?P<mm>\S+) memcg_path=(?P<memcg>.*?) ?write=(?P<write>\w+)(?: success=(?P<success>\w+))?"
)
FRAME = re.compile(r"^\s+[0-9a-f]+ (?P<symbol>[^\s+]+)")
OTHER = re.compile(r"^\s*\S.*\s\d+\.\d{6,9}:\s+\S+:")
SYSCALL = re.compile(r"^__(?:x64|ia32|arm64|riscv|se|do)_sys_(?P<name>\w+)")
FAULTS = {"exc_page_fault", "asm_exc_page_fault", "do_user_addr_fault", "do_page_fault", "el0_da"}
STARTS, HAS, DROPS = "start_locking", "acquire_returned", "released"


class Event(NamedTuple):
    """One line of the recording."""

    ns: int
    comm: str
    tid: int
    mm: str
    what: str
    write: bool
    success: bool
    call: str
    """Syscall that the thread is in, or `page fault`; empty without a callchain."""


def read(file: Path) -> list[Event]:
    """The mmap_lock events of a recording, in its order; other events are passed over.

    Raises
    ------
    BadInput
        The file can't be read, or is not `perf script` text with such events.
    """
    try:
        text = file.read_text()
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not text; give what `perf script` prints of it") from None
    found: list[Event] = []
    frames: list[str] = []
    open_chain = False
    for number, line in enumerate(text.splitlines(), 1):
        if matched := EVENT.match(line):
            _name(found, frames if open_chain else [])
            found.append(_event(matched, file, number))
            frames, open_chain = [], True
        elif frame := FRAME.match(line):
            frames.append(frame["symbol"])
        elif "mmap_lock:mmap_lock_" in line:
            raise BadInput(f"{file}, line {number}: no mmap_lock event as perf script prints it")
        elif OTHER.match(line):
            _name(found, frames if open_chain else [])
            frames, open_chain = [], False
    _name(found, frames if open_chain else [])
    if not found:
        raise BadInput(
            f"{file} has no event of mmap_lock; record with: perf record -e 'mmap_lock:*' -ag"
        )
    return found


def _event(matched: re.Match[str], file: Path, number: int) -> Event:
    what = matched["what"]
    if what not in (STARTS, HAS, DROPS):
        raise BadInput(f"{file}, line {number}: mmap_lock has no event mmap_lock_{what}")
    return Event(
        int(matched["seconds"]) * 10**9 + int(matched["fraction"].ljust(9, "0")),
        matched["comm"],
        int(matched["tid"]),
        matched["mm"],
        what,
        matched["write"] in ("true", "1"),
        matched["success"] in (None, "true", "1"),
        "",
    )


def _name(found: list[Event], frames: list[str]) -> None:
    if found and frames:
        found[-1] = found[-1]._replace(call=call(frames))


def call(frames: list[str]) -> str:
    """What a thread was doing, by its callchain from the innermost function on."""
    for symbol in frames:
        if matched := SYSCALL.match(symbol):
            return matched["name"]
    if FAULTS & set(frames):
        return "page fault"
    return frames[-1]

"""Programs watched by DAMON, with what kdamond does logged by tracefs: kprobes and a tracepoint.

For a kernel that bcc can't compile for, as Debian's without its headers, and whose damon_rand() is
inlined, as 7.3's is. There each context has a generator of its own, so its state as monitoring
begins says every number that is drawn; and damon_update_region_access_rate() is called with the
address that was sampled, which must be what the number says, and with what the check found.

Entries of the log are those of log.py, of kinds 2, without the time in jiffies, and 3. What
monitoring begins with is a row: the generator's `state`, and the static variables
`last_nr_regions` and `rotation` (mm/damon/core.c).
"""

import os
import re
import struct
import subprocess
from pathlib import Path

import masim

TRACING = Path("/sys/kernel/tracing")
INSTANCE = TRACING / "instances" / "lorelab"
KIB = 128 << 10
STATICS = ("last_nr_regions", "rotation")
EVENT = struct.Struct("<QQQIIII")
CHECK, AGGREGATED = 2, 3
MISSED = 1 << 31
"""RB_MISSED_EVENTS of kernel/trace/ring_buffer.c."""
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
"""Types of include/linux/ring_buffer.h; below them it is an event's length in words."""


def run(params):
    """Yield what became of each of `params["runs"]`, as masim.py does."""
    # Most of a large program's memory is never touched.
    Path("/proc/sys/vm/overcommit_memory").write_text("1")
    log = Log()
    for number, wanted in enumerate(params["runs"]):
        if wanted["switches"]:
            raise NotImplementedError(f"switches: {', '.join(wanted['switches'])}")
        for row in masim.one(wanted, log):
            yield {"run": number, **row}
        yield {"run": number, "began": log.began}


class Log:
    """The ring buffer of one CPU, which is read once monitoring is over."""

    def __init__(self):
        if not TRACING.is_mount():
            subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
        seeds = " ".join(f"s{n}=ctx->rnd_state.s{n}" for n in range(1, 5))
        statics = " ".join(f"{name}=@{symbol(name)}:u64" for name in STATICS)
        points = [
            f"p:lorelab/began damon_va_init {seeds} {statics}",
            "p:lorelab/check damon_update_region_access_rate addr=r->sampling_addr accessed",
        ]
        (TRACING / "kprobe_events").write_text("\n".join(points) + "\n")
        INSTANCE.mkdir()
        [self.cpu] = (INSTANCE / "per_cpu").iterdir()
        (INSTANCE / "trace_clock").write_text("mono")
        (INSTANCE / "options" / "overwrite").write_text("0")
        (INSTANCE / "buffer_size_kb").write_text(str(KIB))
        self.formats = {}
        for event in ("lorelab/began", "lorelab/check", "damon/damon_aggregated"):
            number, fields = layout((INSTANCE / "events" / event / "format").read_text())
            self.formats[number] = event.partition("/")[2], fields
            (INSTANCE / "events" / event / "enable").write_text("1")
        self.began = None

    def start_anew(self):
        (INSTANCE / "tracing_on").write_text("0")
        (INSTANCE / "trace").write_text("")
        (INSTANCE / "tracing_on").write_text("1")

    def applying(self):
        """Schemes are not watched."""
        return 0

    def read(self):
        """All entries, as bytes."""
        (INSTANCE / "tracing_on").write_text("0")
        self.whole()
        entries, checks, self.began = [], 0, None
        for event, ns, said in self.events():
            us = ns // 1000 % 2**32
            if event == "began":
                if self.began:
                    raise RuntimeError("two kdamonds began, and only one is followed")
                seeds = [said[f"s{n}"] for n in range(1, 5)]
                self.began = {"state": seeds, **{name: said[name] for name in STATICS}}
            elif event == "check":
                entries.append(EVENT.pack(said["addr"], 0, checks, said["accessed"], 0, CHECK, us))
                checks += 1
            else:
                x, y, n, age = (said[name] for name in ("start", "end", "nr_accesses", "age"))
                entries.append(EVENT.pack(x, y, checks, n, age, AGGREGATED, us))
        if not self.began:
            raise RuntimeError("no kdamond began")
        return b"".join(entries)

    def whole(self):
        """Raise RuntimeError where an event was lost."""
        for line in (self.cpu / "stats").read_text().splitlines():
            name, _, number = line.partition(":")
            if name in ("overrun", "commit overrun", "dropped events") and int(number):
                raise RuntimeError(f"events lost: {line}; the log holds {KIB} KiB")
        for line in (TRACING / "kprobe_profile").read_text().splitlines():
            if int(line.split()[2]):
                raise RuntimeError(f"events lost: missed by {line.strip()}")

    def events(self):
        """Name, time in ns and fields of each event, in order."""
        pages = os.open(self.cpu / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while page := os.read(pages, 4096):
                yield from self.on(page)
        except BlockingIOError:  # that was all
            pass
        finally:
            os.close(pages)

    def on(self, page):
        """Those of one page, which include/linux/ring_buffer.h says how to read."""
        ns, commit = struct.unpack_from("<QQ", page)
        if commit & MISSED:
            raise RuntimeError("events lost: the ring buffer went round")
        at, end = 16, 16 + (commit & 0xFFFFF)
        while at < end:
            head, first = struct.unpack_from("<II", page.ljust(at + 8, b"\0"), at)
            kind, delta = head & 31, head >> 5
            if kind == PADDING:
                if not delta:
                    return
                at += 4 + first
            elif kind == TIME_EXTEND:
                ns += (first << 27) + delta
                at += 8
            elif kind == TIME_STAMP:
                ns = ns >> 59 << 59 | (first << 27) + delta
                at += 8
            else:
                ns += delta
                start, size = (at + 4, 4 * kind) if kind else (at + 8, first - 4)
                yield self.event(ns, page[start : start + size])
                at = start + size

    def event(self, ns, said):
        name, fields = self.formats[int.from_bytes(said[:2], "little")]
        values = {
            field: int.from_bytes(said[place : place + length], "little")
            for field, place, length in fields
        }
        return name, ns, values


def symbol(name):
    """The one symbol of a static variable of a function."""
    found = re.findall(
        rf"^\w+ [bBdD] ({name}\.\d+)$", Path("/proc/kallsyms").read_text(), re.MULTILINE
    )
    if len(found) != 1:
        raise NotImplementedError(f"{len(found)} static variables {name}")
    return found[0]


def layout(text):
    """Number of an event, and name, place and length of its fields, out of its format file."""
    number = int(re.search(r"^ID: (\d+)$", text, re.MULTILINE)[1])
    fields = re.findall(r"field:[^;]*?(\w+);\s*offset:(\d+);\s*size:(\d+);", text)
    return number, [
        (name, int(place), int(length))
        for name, place, length in fields
        if not name.startswith("common_")
    ]

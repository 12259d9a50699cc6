"""As much of perf as `damo record` needs, for a guest without it: events through tracefs.

perf record -e EVENT -- COMMAND       tries out whether recording works: it does
perf record -a -e EVENT -o FILE       until SIGINT; FILE is then what `perf script` would print
"""

import re
import signal
import subprocess
import sys
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
BUFFER_KIB = 65536
LINE = re.compile(r"^ *(\S+)-(\d+) +\[(\d+)\] \S+ +([\d.]+): (damon_\w+): (.*)$")
"""TASK-PID [CPU] FLAGS TIME: EVENT: its fields."""


def main(arguments):
    if arguments[0] != "record":
        sys.exit(f"perf: no {arguments[0]} here")
    if "-o" not in arguments:
        return
    event = arguments[arguments.index("-e") + 1]
    file = Path(arguments[arguments.index("-o") + 1])
    if not (TRACING / "trace").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    (TRACING / "buffer_size_kb").write_text(str(BUFFER_KIB))
    (TRACING / "trace").write_text("")
    # Blocked, so that it waits for sigwait() however early it comes.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    enable = TRACING / "events" / event.replace(":", "/") / "enable"
    enable.write_text("1")
    signal.sigwait({signal.SIGINT})
    enable.write_text("0")
    if lost := re.search(r"entries-in-buffer/entries-written: (\d+)/(?!\1)", text := trace()):
        sys.exit(f"perf: lost events: {lost[0]}")
    file.write_text("".join(script(text)))


def trace():
    return (TRACING / "trace").read_text()


def script(text):
    """Lines as `perf script` prints them."""
    for line in text.splitlines():
        if found := LINE.match(line):
            task, pid, cpu, time, event, fields = found.groups()
            yield f"{task} {pid:>5} [{cpu}] {time}: damon:{event}: {fields}\n"


if __name__ == "__main__":
    main(sys.argv[1:])

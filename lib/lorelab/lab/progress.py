"""Progress of long commands on stderr: a spinner on a terminal, else a line now and then."""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from lorelab.errors import RunFailed

EVERY = 30.0
"""Seconds between two lines of progress when stderr is not a terminal."""


def follow(what: str, command: list[str], log: Path, **options: object) -> None:
    """Run `command`, keep all it says in `log`, show how far it is.

    Raises
    ------
    RunFailed
        The command failed; its last line of complaint, and where the log is.
    """
    last: deque[str] = deque(maxlen=200)
    console = Console(stderr=True)
    started = said = time.monotonic()
    with (
        log.open("a") as file,
        console.status(what) as status,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            **options,
        ) as child,
    ):
        try:
            for count, line in enumerate(child.stdout, 1):
                file.write(line)
                last.append(line.rstrip())
                elapsed = time.monotonic() - started
                state = f"{what}: {count} steps, {elapsed:.0f} s"
                status.update(f"{state}: {line.strip()[:60]}")
                if not console.is_terminal and time.monotonic() - said > EVERY:
                    said = time.monotonic()
                    print(state, file=sys.stderr, flush=True)
        except BaseException:
            stop(child)
            raise
    if child.returncode:
        complaint = next((text for text in last if "rror" in text or "***" in text), "")
        raise RunFailed(
            f"{what} failed: {complaint or ''.join(last)[-200:]}; all of it is in {log}"
        )


def stop(child: subprocess.Popen) -> None:
    """End a child that leads its own session, and all it started, by its own group id."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()

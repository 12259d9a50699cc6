"""Commands of the machine: none runs without an end, none outlives what asked for it."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from rich.console import Console

from lorelab.errors import RunFailed

SECONDS = 120.0
"""Longest that a short command may take."""
SILENT_SECONDS = 900.0
"""Longest that a long command may say nothing; the kernel's link with type information is silent
for a minute or two on an idle machine."""
EVERY = 30.0
"""Seconds between two lines of progress when stderr is not a terminal."""

COMPLAINTS = ("No space left on device", "rror", "***")
"""What the line has that says why a command failed, the most telling first."""


def check_output(*command: str, seconds: float = SECONDS, **options: object) -> str:
    """What a short command prints.

    Raises
    ------
    RunFailed
        It failed, with its last words, or was not done after `seconds`.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        **options,
    ) as child:
        try:
            out, complaint = child.communicate(timeout=seconds)
        except BaseException as error:
            stop(child)
            if isinstance(error, subprocess.TimeoutExpired):
                raise RunFailed(f"{command[0]} hung: not done after {seconds:.0f} s") from None
            raise
    if child.returncode:
        raise RunFailed(f"{command[0]} failed: {complaint.strip()[-300:]}")
    return out.strip()


def run_logged(
    what: str, command: list[str], log: Path, silent: float = SILENT_SECONDS, **options: object
) -> None:
    """Run a long `command`, keep all it says in `log`, show how far it is.

    A spinner on a terminal, else a line now and then.

    Raises
    ------
    RunFailed
        The command failed, or said nothing for `silent` seconds; its last line of complaint, and
        where the log is.
    """
    last: deque[str] = deque(maxlen=200)
    console = Console(stderr=True)
    started = reported = time.monotonic()
    count, rest = 0, b""
    with (
        log.open("ab", buffering=0) as file,
        console.status(what) as status,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            close_fds=False,  # it holds the lock of the folder that it works in
            **options,
        ) as child,
        selectors.DefaultSelector() as ready,
    ):
        try:
            ready.register(child.stdout, selectors.EVENT_READ)
            while ready.select(silent):
                data = os.read(child.stdout.fileno(), 1 << 16)
                if not data:
                    break
                _log(file, data)
                *lines, rest = (rest + data).split(b"\n")
                last.extend(line.decode(errors="replace").rstrip() for line in lines)
                count += len(lines)
                state = f"{what}: {count} steps, {time.monotonic() - started:.0f} s"
                status.update(f"{state}: {last[-1].strip()[:60] if last else ''}")
                if not console.is_terminal and time.monotonic() - reported > EVERY:
                    reported = time.monotonic()
                    print(state, file=sys.stderr, flush=True)
            else:
                raise RunFailed(f"{what} hung: it said nothing for {silent:.0f} s; see {log}")
        except BaseException:
            stop(child)
            raise
    if child.returncode:
        last.append(rest.decode(errors="replace"))
        complaints = (text for sign in COMPLAINTS for text in last if sign in text)
        complaint = next(complaints, "")
        raise RunFailed(
            f"{what} failed: {complaint or ' '.join(last)[-200:]}; all of it is in {log}"
        )


def _log(file: BinaryIO, data: bytes) -> None:
    try:
        file.write(data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, file.name) from None


def stop(child: subprocess.Popen) -> None:
    """End a child that leads its own session, and all it started, by its own group id."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()

"""A process that simulates points, each in a fork of its own: a line in, a line out.

    python -m tests.ranges SECONDS < points

A point is `["design/experiment", {"name": value, ...}]`. Its line is a JSON list: what came of it,
a digest of its counters, and the fields that were read. What came of it is `ran`; `went on`, after
so many seconds of CPU; `refused: ` and why; or `crashed: ` and how.

NUMBA_BOUNDSCHECK=1 makes an index out of bounds an error, where it would read other memory.
"""

import hashlib
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lorelab.errors import BadInput, RunFailed
from lorelab.experiments import Experiment, experiment
from lorelab.params import parse
from tests.points import SMALL, choices, recording

MEMORY = 8 << 30
"""Bytes of address space that a run may take; one that needs more has to be refused."""


def main(seconds: float) -> None:
    """Answer each line of stdin."""
    ready: set[str] = set()
    for line in sys.stdin:
        name, given = json.loads(line)
        found = experiment(name)
        if name not in ready:
            ready.add(name)
            _compile(found)
        print(_forked(lambda f=found, g=given: answer(f, g), seconds), flush=True)


def _compile(found: Experiment) -> None:
    """Run each choice once, so that forks have the code of all; what fails here fails there."""
    base = SMALL.get(found.name, {})
    fields = found.Params.model_fields.items()
    points = [base] + [{**base, name: value} for name, one in fields for value in choices(one)]
    for given in points:
        print(found.name, given, file=sys.stderr, flush=True)  # the last one, should it crash
        with suppress(Exception):
            found.simulate(parse(found.Params, given))


def answer(found: Experiment, given: dict[str, Any]) -> list[Any]:
    """Simulate a point; what came of it, a digest of the counters, and what was read."""
    read: set[str] = set()
    model, digest = recording(found.Params, read), ""
    try:
        params = parse(model, given)
        read.clear()  # what checks of the parameters read is not what a run reads
        counters = found.simulate(params)
        said, digest = "ran", hashlib.sha256(counters.to_csv().encode()).hexdigest()
    except (BadInput, RunFailed) as error:
        lines = str(error).splitlines()
        said = f"refused: {error}" if len(lines) == 1 else f"crashed: {len(lines)} lines: {error!r}"
    except BaseException as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"crashed: {type(error).__name__}: {error} at {at.filename}:{at.lineno}"
    return [said, digest, sorted(read)]


def _forked(run: Callable[[], list[Any]], seconds: float) -> str:
    read, write = os.pipe()
    if not (child := os.fork()):
        # The signal's default action, as compiled code runs no handler of Python's.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(write, json.dumps(run()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        stopped = signal.Signals(os.WTERMSIG(status))
        went_on = stopped == signal.SIGVTALRM
        return json.dumps(["went on" if went_on else f"crashed: {stopped.name}", "", []])
    return said or json.dumps([f"crashed: exit status {os.waitstatus_to_exitcode(status)}", "", []])


if __name__ == "__main__":
    main(float(sys.argv[1]))

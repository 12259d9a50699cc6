"""Many runs, on as many guests at once as the machine has CPUs for."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import groupby
from multiprocessing import get_context
from typing import NamedTuple, Protocol

from lorelab.errors import BadInput, RunFailed
from lorelab.lab.records import Record
from lorelab.params import Params, only

FEWEST = 8
"""Runs that are worth a boot of their own; one that is repeated counts as many times."""


class Measurable(Protocol):
    """What can be run on a kernel, under its name."""

    name: str

    def measure(self, requests: list[Params]) -> list[Record]: ...


class Part(NamedTuple):
    """Runs that are measured one after the other."""

    several: bool
    """Their guests have several CPUs."""
    of: int
    """Parts that such runs of the experiment are dealt to."""
    experiment: Measurable
    runs: list[Params]


def measured(
    requests: list[tuple[Measurable, list[Params]]],
) -> Iterator[tuple[Measurable, Params, Record]]:
    """Measure all of `requests`, part by part (see `parts`).

    The next part starts when one is through, whichever experiment it is of, but guests of several
    CPUs never at the same time; stderr says how long each took. One that fails, or whose kernel is
    not built, is raised when the others are done.
    """
    cpus = len(os.sched_getaffinity(0))
    left = parts(requests, cpus)
    if len(left) == 1 or cpus == 1:
        for part in left:
            for params, record in zip(part.runs, part.experiment.measure(part.runs), strict=True):
                yield part.experiment, params, record
        return
    running, failed = {}, None
    # Processes, so that Ctrl-C reaches each, and its QEMU ends with it; no part waits in the pool,
    # where it would start after that.
    with ProcessPoolExecutor(cpus, get_context("spawn"), _end_with_parent) as pool:
        while left or running:
            while len(running) < cpus and (part := _next(left, running.values())):
                left.remove(part)
                running[pool.submit(part.experiment.measure, part.runs)] = part, time.monotonic()
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                part, began = running.pop(done)
                try:
                    records = done.result()
                except (BadInput, RunFailed) as failure:
                    print(f"{part.experiment.name}: failed; the others go on", file=sys.stderr)
                    failed = failed or failure
                    continue
                took = f"{len(records)} runs in {time.monotonic() - began:.0f} s"
                print(f"{part.experiment.name}: {took}", file=sys.stderr)
                for params, record in zip(part.runs, records, strict=True):
                    yield part.experiment, params, record
    if failed is not None:
        raise failed


def parts(requests: list[tuple[Measurable, list[Params]]], cpus: int) -> list[Part]:
    """What is measured at once on a machine of `cpus` CPUs, in the order to begin with.

    Runs of one CPU are dealt to as many guests as there are CPUs, eight at least to each. Those of
    several come first, and then what can't be parted, so that neither is what all wait for at the
    end.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from lorelab.params import param
    >>> class Tiny(Params):
    ...     seed: int = param(1, "of what is drawn")
    >>> tiny = SimpleNamespace(name="swap/tiny")
    >>> dealt = parts([(tiny, [Tiny(seed=n) for n in range(20)])], cpus=2)
    >>> [(part.of, len(part.runs)) for part in dealt]
    [(2, 10), (2, 10)]
    """
    dealt = []
    for experiment, runs in requests:
        for several, group in groupby(sorted(runs, key=_several), key=_several):
            alike = list(group)
            of = 1 if several else max(1, min(cpus, len(alike), _times(alike) // FEWEST))
            dealt += [Part(several, of, experiment, some) for some in _deal(alike, of)]
    return sorted(dealt, key=lambda part: (not part.several, part.of))


def _deal(runs: list[Params], of: int) -> list[list[Params]]:
    # The longest first, each to the part that has least: else all that are long could come to one
    # guest, and the others stand idle at the end.
    dealt: list[list[Params]] = [[] for _ in range(of)]
    for params in sorted(runs, key=lambda params: _times([params]), reverse=True):
        min(dealt, key=_times).append(params)
    return dealt


def _times(runs: list[Params]) -> int:
    return sum(getattr(params, "repeats", 1) for params in runs)


def _several(params: Params) -> bool:
    return "cpus" not in only(type(params), "model") and getattr(params, "cpus", 1) > 1


def _next(left: list[Part], running: Iterable[tuple[Part, float]]) -> Part | None:
    # A CPU of a guest waits for another of its own in a loop, and where that one is not running,
    # its turn is lost. One such guest has at least a CPU of this machine to turn to.
    busy = any(part.several for part, _ in running)
    return next((part for part in left if not (part.several and busy)), None)


def _end_with_parent() -> None:
    """Let the kernel kill this process when lorelab is killed, as its QEMU is then too."""
    pr_set_pdeathsig = 1  # include/uapi/linux/prctl.h
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)

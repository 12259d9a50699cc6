"""Models at the ends of their ranges and anywhere between: a result, or one line of refusal.

Each point runs in a fork of a process with NUMBA_BOUNDSCHECK=1 (`tests.ranges`). What takes longer
than `SECONDS` of CPU is stopped and counts as a run: an end that would take hours is only begun.

To compile every model with checks of bounds takes minutes, so a plain run tries those of `QUICK`.
LORELAB_RANGES=all, as `make test-all` has it once a week, tries all, and
LORELAB_RANGES=swap,damon/masim those of a design or of a name;
LORELAB_POINTS=N draws N points of each, not a handful.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from lorelab.experiments import Experiment, experiments
from lorelab.params import only
from tests.points import SMALL, anywhere, one_at_a_time

SECONDS = 0.25
POINTS = int(os.environ.get("LORELAB_POINTS", "6"))
QUICK = "gso/flag,gso/told"
WANTED = os.environ.get("LORELAB_RANGES", QUICK).split(",")
MODELS = [
    one
    for one in experiments().values()
    if "model" in one.backends and not {"all", one.design, one.name}.isdisjoint(WANTED)
]
SAME: dict[str, dict[str, str]] = {
    "gso/traffic": {"held": "whether segments wait or not, no design that is flawless errs"},
}
"""Fields of an experiment that make no difference where nothing is wrong, and why."""


class Child:
    """The process of a design."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, name: str, point: dict[str, Any]) -> tuple[str, str, list[str]]:
        """What came of a point; a process that died is begun anew by the next."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.ranges", str(SECONDS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "NUMBA_BOUNDSCHECK": "1"},
            )
        try:
            self.process.stdin.write(json.dumps([name, point]) + "\n")
            self.process.stdin.flush()
            return tuple(json.loads(self.process.stdout.readline()))
        except (BrokenPipeError, ValueError):
            status, self.process = self.process.wait(), None
            return f"crashed: the process of all points ended with {status}", "", []


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    found = Child()
    yield found
    if found.process:
        found.process.stdin.close()
        found.process.wait()


@pytest.mark.parametrize("found", MODELS, ids=lambda one: one.name)
def test_every_end_of_a_range_runs_or_is_refused_and_every_field_is_read(child, found):
    small = child.ask(found.name, SMALL.get(found.name, {}))
    # Of one that takes longer no result is known, and only what is read tells that a field counts.
    assert small[0] in {"ran", "went on"}
    wrong, ignored = [], []
    points = groupby(one_at_a_time(found.name, found.Params), key=lambda pair: pair[0])
    read = set(small[2])
    differs = set()
    for field, alike in points:
        for _, point in alike:
            said, digest, seen = child.ask(found.name, point)
            read |= set(seen)
            if said.startswith("crashed"):
                wrong.append(f"{field}={point[field]}: {said}")
            elif said != "ran" or digest != small[1]:
                differs.add(field)
    known = only(found.Params, "kernel") | SAME.get(found.name, {}).keys()
    ignored = set(found.Params.model_fields) - read - differs - known
    assert not wrong, "\n".join(wrong)
    assert not ignored, f'declare only="kernel", or read: {", ".join(sorted(ignored))}'


@pytest.mark.parametrize("found", MODELS, ids=lambda one: one.name)
def test_any_point_runs_or_is_refused(child, found: Experiment):
    @settings(
        max_examples=POINTS,
        database=None,
        derandomize="LORELAB_POINTS" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    @given(anywhere(found.name, found.Params))
    def check(point):
        said = child.ask(found.name, point)[0]
        assert not said.startswith("crashed"), said

    check()

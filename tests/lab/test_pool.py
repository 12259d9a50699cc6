"""Which runs are measured at once, and in what order."""

import os
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelab.errors import BadInput, RunFailed
from lorelab.lab import pool
from lorelab.lab.pool import parts
from lorelab.lab.run import DEFAULTS
from lorelab.params import Params, param
from tests.lab.test_doors import Fake, record


class Wide(Params):
    cpus: int = param(1, "CPUs", "CPUs")
    seed: int = param(1, "seed")


class Repeated(Params):
    repeats: int = param(1, "times")
    seed: int = param(1, "seed")


class Imagined(Params):
    cpus: int = param(2, "CPUs of the model", "CPUs", only="model")


def runs(*cpus):
    return [Wide(cpus=taken, seed=n) for n, taken in enumerate(cpus)]


@given(
    st.lists(
        st.tuples(st.integers(0, 5 * pool.FEWEST), st.lists(st.integers(2, 5), max_size=3)),
        max_size=4,
    ),
    st.integers(1, 4),
)
def test_every_run_is_in_one_part(wanted, cpus):
    asked = [
        (Fake(name=f"f/{n}"), runs(*several, *[1] * alone))
        for n, (alone, several) in enumerate(wanted)
    ]
    found = parts(asked, cpus)
    for fake, given_ in asked:
        mine = [run for part in found if part.experiment is fake for run in part.runs]
        assert sorted(mine, key=lambda run: run.seed) == given_
    for part in found:
        assert {run.cpus > 1 for run in part.runs} == {part.several}


def test_runs_of_one_cpu_are_dealt_and_come_after_what_cannot_be_parted():
    many, few = Fake(name="f/many"), Fake(name="f/few")
    found = parts([(many, runs(*[1] * 17, 4, 2)), (few, runs(1, 1))], 2)
    assert [(part.experiment.name, len(part.runs)) for part in found] == [
        ("f/many", 2),
        ("f/few", 2),
        ("f/many", 9),
        ("f/many", 8),
    ]


def test_a_run_that_is_repeated_counts_as_many_times():
    slow = [Repeated(repeats=pool.FEWEST, seed=n) for n in range(3)]
    assert [len(part.runs) for part in parts([(Fake(), slow)], 2)] == [2, 1]
    assert [len(part.runs) for part in parts([(Fake(), slow[:1])], 2)] == [1]


def test_what_is_repeated_most_is_not_all_in_one_part():
    wanted = [Repeated(repeats=times, seed=times) for times in (4, 16, 4, 12, 4, 8)]
    found = parts([(Fake(), wanted)], 2)
    assert [[run.repeats for run in part.runs] for part in found] == [[16, 4, 4], [12, 8, 4]]


def test_cpus_that_only_the_model_has_take_none():
    [part] = parts([(Fake(), [Imagined(), Imagined()])], 2)
    assert not part.several


@dataclass
class Timed(Fake):
    """Leaves when a part began and ended; one of several CPUs waits for one of a single CPU."""

    folder: Path = Path()

    def measure(self, requested, options=DEFAULTS):
        began = time.monotonic_ns()
        several = requested[0].cpus > 1
        (self.folder / f"{several:d}.{began}").touch()
        while several and not list(self.folder.glob("0.*")):
            assert time.monotonic_ns() < began + 300 * 10**9, "the others wait for it"
            time.sleep(0.01)
        time.sleep(0.2)
        (self.folder / f"{several:d}.{began}.{time.monotonic_ns()}").touch()
        return [record(params, [1, 1]) for params in requested]


def test_two_guests_of_several_cpus_never_run_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(3)))
    wanted = [(Timed(name=f"f/{n}", folder=tmp_path), runs(*[1] * 16, 2, 4)) for n in range(3)]
    assert len(list(pool.measured(wanted))) == 54
    files = tmp_path.glob("*.*.*")
    spans = [[int(word) for word in file.name.split(".")] for file in files]
    several = sorted((began, ended) for many, began, ended in spans if many)
    assert len(several) == 3 and len(spans) == 9
    for (_, ended), (began, _) in pairwise(several):
        assert ended < began
    assert capsys.readouterr().err.count(" runs in ") == len(spans)


@dataclass
class Failing(Fake):
    error: type[Exception] = RunFailed

    def measure(self, requested, options=DEFAULTS):
        raise self.error("no such kernel")


@pytest.mark.parametrize("error", [BadInput, RunFailed])
def test_the_others_go_on_where_one_fails_or_its_kernel_is_not_built(error, monkeypatch, capsys):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    measured = pool.measured([(Failing(name="f/0", error=error), runs(1)), (Fake(), runs(1, 1))])
    assert next(measured) and next(measured)
    with pytest.raises(error, match="no such kernel"):
        next(measured)
    assert "f/0: failed; the others go on" in capsys.readouterr().err
